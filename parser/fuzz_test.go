package parser

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/parser/ast/asttest"
)

// seeds adds the archives of the corpus, and texts that are awkward to scan.
func seeds(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	require.NoError(f, err)
	for _, path := range archives {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data)
	}
	for _, text := range corpus.Awkward {
		f.Add([]byte(text))
	}
	f.Add(corpus.Resources(3))
}

// FuzzParse checks that no text makes the parser panic, and that every range is inside of the text.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		src := diag.NewSource("Main.yaml", text)
		file, diags := Parse(src, Options{Declared: []string{"b", "x"}})
		require.NotNil(t, file)
		for _, d := range diags {
			inside(t, text, d.Subject)
			require.NotContains(t, d.Summary, "\n")
			for _, r := range d.Related {
				inside(t, text, r.Range)
			}
		}
		eachExpr(file, func(e ast.Expr) {
			ast.Walk(e, func(e ast.Expr) bool {
				require.NotNil(t, e)
				inside(t, text, e.Range())
				return true
			})
		})
		var dump bytes.Buffer
		require.NoError(t, asttest.Dump(&dump, file))
	})
}

func inside(t *testing.T, text []byte, r diag.Range) {
	t.Helper()
	require.NotNil(t, r.Source)
	require.LessOrEqual(t, int32(0), r.Start)
	require.LessOrEqual(t, r.Start, r.End)
	require.LessOrEqual(t, int(r.End), len(text))
}

// eachExpr calls fn for every top-level expression of a file and its components.
func eachExpr(file *ast.File, fn func(ast.Expr)) {
	file.Exprs(fn)
	for _, c := range file.Components {
		if c.RequiredVersion != nil {
			fn(c.RequiredVersion)
		}
		c.Exprs(fn)
	}
}

// FuzzInterpolation parses a text as a quoted scalar. The ranges of accesses must cover their source text, and a text
// without interpolations must be unchanged except for `$$`.
func FuzzInterpolation(f *testing.F) {
	for _, text := range []string{"${a}", "x${a.b[0]}y", "$$${a}", "$", "${", "${a", "${a..b}", "${[\"a b\"].c}",
		"${a[\"q\\\"q\"]}",
		"${ a . b }", "$${x}", "${a[x]}", "${}", "${[0].x}", "${a ? b : c}", "${max([1, 2]...)}", "${\"${a}\"}", "${a}${b}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || !yamlnode.Printable([]byte(string(r))) && r >= 0x7F || r == '\'' }) ||
			strings.ToValidUTF8(text, "") != text || breakIn(text) {
			return
		}
		src := diag.NewSource("Main.yaml", []byte("variables: {v: '"+text+"'}"))
		file, diags := Parse(src, Options{Declared: []string{"a"}})
		require.Len(t, file.Variables, 1, "%v", diags)
		value := file.Variables[0].Value
		bad := false
		ast.Walk(value, func(e ast.Expr) bool {
			switch e := e.(type) {
			case *ast.Bad:
				bad = true
			case *ast.Access:
				accessCovers(t, e)
			}
			return true
		})
		require.Equal(t, diags.HasErrors(), bad)
		if !strings.Contains(text, "${") {
			require.Equal(t, strings.ReplaceAll(text, "$$", "$"), value.(*ast.String).Value)
		}
	})
}

func breakIn(text string) bool {
	return strings.ContainsAny(text, "\u0085\u2028\u2029")
}

// accessCovers checks that the ranges of an access and its steps cover their names in the source text.
func accessCovers(t *testing.T, a *ast.Access) {
	t.Helper()
	require.Contains(t, a.Range().Text(), a.Root.Range.Text())
	if root := a.Root.Range.Text(); !strings.HasPrefix(root, "[") {
		require.Equal(t, a.Root.Value, root)
	}
	for _, step := range a.Steps {
		text := step.Range.Text()
		require.Contains(t, a.Range().Text(), text)
		if !step.IsIndex && !step.Quoted {
			require.Equal(t, step.Name, strings.TrimLeft(strings.TrimPrefix(text, "."), " \t\r\n"))
		}
	}
}

// FuzzExpression parses a text as an expression in HCL's grammar.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{"a + 1", "!a && b", "a ? b : c", "[for i, x in a : \"${i}-${x}\" if x != null]",
		"{for k, v in a : k => v...}", "a[*].b", "a.*.b", "f(1, [2]...)", "{b = 1, \"c\" = 2, (a) = 3}", "a[b.c].d", "-1",
		"(a)[0]",
		"\"%{if a}x%{else}y%{endif}\"", "\"%{for x in a}${x}%{endfor}\"", "\"é\\u00e9 $${x}\"", "1.5e3", "a.0.1",
		"fn::sha1(a)",
		"!!!!a", "((((a))))", "a[\"x\"]", "[[[[1]]]]", "<<E\nx\nE\n", "a /* c */ + 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := &yamlnode.Node{Kind: yamlnode.Scalar, Value: "${" + text + "}", Style: yamlnode.DoubleQuotedStyle}
		source := []byte("\"" + n.Value + "\"")
		n.End = len(source)
		y := newText(diag.NewSource("Main.yaml", source))
		x := newExprReader(newNodeReader(&y.tree.Text, &y.report, &y.tree.Repairs),
			newScope(map[string]bool{"a": true}, nil, []*yamlnode.Node{n}))
		expr := x.texts.interpolated(n, x.text.Span(n))
		ast.Walk(expr, func(e ast.Expr) bool {
			require.NotNil(t, e)
			inside(t, source, e.Range())
			if b, ok := e.(*ast.Binary); ok && mapsPlainly(text) {
				require.Equal(t, b.Op, b.OpRange.Text())
			}
			return true
		})
	})
}

// mapsPlainly reports whether a text needs no escapes in a double-quoted scalar, and contains no blanks or comments.
func mapsPlainly(text string) bool {
	return !strings.ContainsAny(text, "\"\\\n\r\t ") && !breakIn(text) && !strings.Contains(text, "/*")
}
