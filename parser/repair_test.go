package parser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// TestRepairs checks that a syntax error does not hide other errors (D7), and that its repair causes none.
func TestRepairs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		wants []string // line:column code
	}{
		"quote":      {"variables:\n  a: \"b\n  c: ${d\n", []string{"2:6 Y101", "3:6 Y108"}},
		"bracket":    {"variables:\n  a: [b\n  c: ${d\n", []string{"2:6 Y101", "3:6 Y108"}},
		"two colons": {"variables:\n  a: b: c\n  c: ${d\n", []string{"2:7 Y101", "3:6 Y108"}},
		"two faults": {"variables:\n  a: @b\n  c: d\n  e: [f]]\n  g: ${h\n",
			[]string{"2:6 Y101", "4:9 Y101", "5:6 Y108"}},
		"colon of a key":   {"resources:\n  res\n    type: a:B\n    propertees: {}\n", []string{"2:3 Y101", "4:5 Y105"}},
		"tab":              {"variables:\n\ta: b\n  c: ${d\n", []string{"2:1 Y101", "3:6 Y108"}},
		"type of resource": {"resources:\n  r:\n    type: \"a:B\n    propertees: {}\n", []string{"3:11 Y101", "4:5 Y105"}},
		"list item":        {"variables:\n  a:\n    - 'b\n    - ${d\n", []string{"3:7 Y101", "4:7 Y108"}},
		"boolean": {"resources:\n  r:\n    type: a:B\n    options:\n      protect: @\n      protct: true\n",
			[]string{"5:16 Y101", "6:7 Y105"}},
		"JSON in one line": {`{"variables": {"a": "b}}`, []string{"1:21 Y101"}},
		"beyond repair":    {"variables:\n  v:\n" + strings.Repeat("    - @b\n#\n#\n", 30), []string{"3:7 Y101"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, diags := Parse(diag.NewSource("x", []byte(c.text)), Options{})
			require.NotNil(t, file)
			var got []string
			for _, d := range diags.Sorted() {
				if d.Severity == diag.Error {
					pos := d.Subject.StartPosition()
					got = append(got, fmt.Sprintf("%d:%d %s", pos.Line, pos.Column, d.Code))
				}
			}
			require.Equal(t, c.wants, got)
		})
	}
}

// TestRepairsAreNotRead checks that an overwritten value becomes an ast.Bad, that a key keeps its name if a repair has
// added its colon, and that File.Lost contains the keys of blanked lines.
func TestRepairsAreNotRead(t *testing.T) {
	t.Parallel()
	file, _ := Parse(diag.NewSource("x", []byte("variables:\n  a: \"b\n  c: d\n")), Options{})
	require.Len(t, file.Variables, 2)
	require.IsType(t, &ast.Bad{}, file.Variables[0].Value)
	require.Equal(t, `"b`, file.Variables[0].Value.Range().Text())
	require.IsType(t, &ast.String{}, file.Variables[1].Value)

	file, diags := Parse(diag.NewSource("x", []byte("resources:\n  res\n    type: a:B\n")), Options{})
	require.Len(t, file.Resources, 1, "%v", diags)
	require.Equal(t, "res", file.Resources[0].Name.Value)
	require.Equal(t, "res", file.Resources[0].Name.Range.Text())
	require.Equal(t, "a:B", file.Resources[0].Type.Text())

	file, _ = Parse(diag.NewSource("x", []byte("variables:\n  a: b\n\tc: d\n  e: f\n")), Options{})
	require.Equal(t, []string{"c"}, file.Lost)
	require.Len(t, file.Variables, 2)
}
