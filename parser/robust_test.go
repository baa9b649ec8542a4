package parser

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

func parse(text string) (*ast.File, diag.Diagnostics) {
	return Parse(diag.NewSource("Main.yaml", []byte(text)), Options{})
}

// TestHostile parses malicious texts. Each must soon result in an error with the expected code.
func TestHostile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for _, name := range "bcdefghi" {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", name, name, strings.Repeat(fmt.Sprintf("*%c, ", name-1), 9)+"x")
	}
	merges := "variables:\n  m0: &m0 {k: v}\n"
	for i := 1; i < 40; i++ {
		merges += fmt.Sprintf("  m%d: &m%d {<<: [*m%d, *m%d], k%d: v}\n", i, i, i-1, i-1, i)
	}
	deepAlias := "variables:\n  v0: &v0 [x]\n"
	for i := 1; i < 3000; i++ {
		deepAlias += fmt.Sprintf("  v%d: &v%d [*v%d]\n", i, i, i-1)
	}
	for name, c := range map[string]struct {
		text string
		code diag.Code
	}{
		"flow lists 10,000 deep": {"variables: {a: " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}",
			diag.RunawayInput},
		"flow maps 10,000 deep": {"variables: " + strings.Repeat("{a: ", 10_000) + strings.Repeat("}", 10_000),
			diag.RunawayInput},
		"open brackets":               {"variables: " + strings.Repeat("[", 100_000), diag.RunawayInput},
		"block maps 10,000 deep":      {blockDeep(10_000), diag.RunawayInput},
		"block lists in a line":       {"variables:\n  a:\n    " + strings.Repeat("- ", 10_000) + "x\n", diag.RunawayInput},
		"question marks":              {strings.Repeat("? ", 10_000) + "x", diag.RunawayInput},
		"alias bomb (L1.28)":          {"variables:\n  v: *i\n" + bomb, diag.Syntax}, // the anchor comes later
		"alias bomb in place (L1.28)": {bomb + "variables:\n  v: *i\n", diag.AliasLimit},
		"merge bomb (L1.28)":          {merges, diag.AliasLimit},
		"aliases 3,000 deep":          {deepAlias, diag.AliasLimit},
		"alias to itself (L1.28)":     {"variables:\n  a: &a [*a]\n", diag.AliasLimit},
		"merge of itself (L1.28)":     {"variables:\n  a: &a {<<: *a, b: c}\n", diag.AliasLimit},
		"alias to the root":           {"&a\nvariables: *a\n", diag.AliasLimit},
		"UTF-16":                      {"\xff\xfea\x00:\x00", diag.RunawayInput},
		"not UTF-8":                   {"variables: {a: \xc3\x28}", diag.RunawayInput},
		"NUL":                         {"variables: {a: \x00}", diag.RunawayInput},
		"binary":                      {"\x7fELF\x02\x01\x01\x00\x00", diag.RunawayInput},
		"control character":           {"variables: {a: \x1b[31m}", diag.RunawayInput},
		"unclosed in a long scalar":   {"variables: {a: \"" + strings.Repeat("${", 1<<19) + "\"}", diag.BadInterpolation},
		"many faults in a long scalar": {"variables: {a: '" + strings.Repeat("${a[\"} ", 1<<17) + "'}",
			diag.BadInterpolation},
		"unclosed calls": {"variables: {a: '" + strings.Repeat("${a(} ", 1<<17) + "'}", diag.BadInterpolation},
		"quotes":         {"variables: {a: '" + strings.Repeat("${\"", 1<<17) + "'}", diag.BadInterpolation},
		"parentheses":    {"variables: {a: '${" + strings.Repeat("(", 1<<20) + "}'}", diag.BadInterpolation},
		"closed parentheses": {"variables: {a: '${" + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) +
			"}'}", diag.BadInterpolation},
		"negations": {"variables: {a: '${" + strings.Repeat("!", 60_000) + "a}'}", diag.BadInterpolation},
		"conditions": {"variables: {a: '${" + strings.Repeat("a ? b : ", 8000) + "c}'}",
			diag.BadInterpolation},
		"sum": {"variables: {a: '${1" + strings.Repeat(" + 1", 16_000) + "}'}",
			diag.BadInterpolation},
		"long expression":              {"variables: {a: '${1 + " + long + "}'}", diag.BadInterpolation},
		"long name":                    {"variables: {a: '${" + long + "}', a: b}", diag.Duplicate},
		"long key":                     {"? " + long + "\n: b\nvariables: 1\n", diag.WrongKind},
		"long quoted scalar, unclosed": {"variables: {a: \"" + long, diag.Syntax},
		"long number":                  {"variables: {a: 1" + strings.Repeat("0", 1<<20) + ", a: b}", diag.Duplicate},
		"comments":                     {strings.Repeat("# comment\n", 100_000) + "variables: 1", diag.WrongKind},
		"blanks in a plain scalar":     {"variables: {a: x" + strings.Repeat(" ", 1<<20) + "${b, c: }", diag.Syntax},
		"many keys":                    {"resources:\n" + manyKeys(50_000), diag.BadTypeToken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Quadratic time would exceed the timeout of the tests.
			file, diags := parse(c.text)
			require.NotNil(t, file)
			codes := map[diag.Code]bool{}
			for _, d := range diags {
				if d.Severity == diag.Error {
					codes[d.Code] = true
				}
				require.Less(t, len(d.Summary), 300)
				require.Less(t, len(d.Detail), 300)
			}
			require.Contains(t, codes, c.code)
			require.LessOrEqual(t, len(diags), 3*maxFindings+maxExpansion)
		})
	}
}

func blockDeep(n int) string {
	var b strings.Builder
	b.WriteString("variables:\n")
	for i := 1; i <= n; i++ {
		b.Write(bytes.Repeat([]byte(" "), i))
		b.WriteString("a:\n")
	}
	return b.String()
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  r%d:\n", i)
	}
	return b.String()
}

// TestDeepEnough parses texts that are nested nearly as deep as allowed, and scalars with many more brackets.
func TestDeepEnough(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"flow":  "variables: {a: " + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "}",
		"block": blockDeep(900),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, diags := parse(text)
			require.Empty(t, diags)
			require.Len(t, file.Variables, 1)
		})
	}
	// Brackets inside of scalars and comments do not count.
	file, diags := parse("variables:\n  a: |\n    " + strings.Repeat("[{", 5000) + "\n  b: \"" +
		strings.Repeat("[", 5000) +
		"\"\n  c: x" + strings.Repeat("[", 5000) + "\n  # " + strings.Repeat("[", 5000) + "\n")
	require.Empty(t, diags)
	require.Len(t, file.Variables, 3)
}

// TestLongScalars checks ranges in scalars of about a megabyte.
func TestLongScalars(t *testing.T) {
	t.Parallel()
	line := "some text with é and ${a.b} in it"
	for name, text := range map[string]string{
		"plain":   "variables:\n  v:" + strings.Repeat(" "+line+"\n   ", 1<<15) + "\n",
		"literal": "variables:\n  v: |\n" + strings.Repeat("    "+line+"\n", 1<<15),
		"folded":  "variables:\n  v: >\n" + strings.Repeat("    "+line+"\n", 1<<15),
		"single":  "variables:\n  v: '" + strings.Repeat(line+"\n    ", 1<<15) + "'\n",
		"double":  "variables:\n  v: \"" + strings.Repeat(line+"\\\n    ", 1<<15) + "\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, diags := parse(text)
			require.Empty(t, diags)
			accesses := 0
			ast.Walk(file.Variables[0].Value, func(e ast.Expr) bool {
				if access, ok := e.(*ast.Access); ok {
					accesses++
					require.Equal(t, "a.b", access.Range().Text())
				}
				return true
			})
			require.Equal(t, 1<<15, accesses)
		})
	}
}
