package parser_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// TestData parses texts that are data, not programs (L10.C4).
func TestData(t *testing.T) {
	t.Parallel()
	read := func(text string) (ast.Expr, diag.Diagnostics) {
		return parser.Data(diag.NewSource("text", []byte(text)))
	}
	for name, text := range map[string]string{"nothing": "", "a comment": "# x\n", "null": "~"} {
		expr, diags := read(text)
		require.Empty(t, diags, name)
		require.IsType(t, &ast.Null{}, expr, name)
	}
	expr, diags := read("a: &x ['${b}', 12]\nc: {fn::upper: x}\nd: *x\n")
	require.False(t, diags.HasErrors())
	m, ok := expr.(*ast.Map)
	require.True(t, ok)
	require.Len(t, m.Entries, 3)
	for _, i := range []int{0, 2} {
		items := m.Entries[i].Value.(*ast.List).Items
		require.Equal(t, "${b}", items[0].(*ast.String).Value, "nothing is interpolated")
		require.Equal(t, 12.0, items[1].(*ast.Number).Value)
	}
	require.IsType(t, &ast.Map{}, m.Entries[1].Value, "nothing is called")
	expr, diags = read("just text")
	require.Empty(t, diags)
	require.Equal(t, "just text", expr.(*ast.String).Value)
	for name, text := range map[string]string{"syntax": "a: [", "documents": "a\n---\nb\n", "an alias of nothing": "a: *x",
		"twice": "a: 1\na: 2\n"} {
		_, diags := read(text)
		require.True(t, diags.HasErrors(), name)
	}
}

// FuzzData looks for texts for which Data panics or returns ranges outside of the text.
func FuzzData(f *testing.F) {
	for _, text := range []string{"", "a: [1, *x]", "&a [*a]", "{a: {b: !!binary x}}", "- |\n  x\n- >-\n  y\n",
		"<<: {a: 1}", "a\n---\nb", "\xff", "? [a]\n: b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		expr, diags := parser.Data(diag.NewSource("text", []byte(text)))
		require.NotNil(t, expr)
		for _, d := range diags {
			require.LessOrEqual(t, int(d.Subject.End), len(text))
		}
	})
}
