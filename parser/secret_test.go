package parser_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// TestSecretsAreHidden checks that no excerpt of a program shows the text of a secret, whether its line is truncated,
// contains escapes or is broken. Excerpts must show the text around it.
func TestSecretsAreHidden(t *testing.T) { // L6.F
	t.Parallel()
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct{ text, hidden, shown string }{
		"a call":             {"variables:\n  a: {fn::secret: hunter2}\n", "hunter2", "fn::secret"},
		"of another case":    {"variables:\n  a: {Fn::Secret: hunter2}\n", "hunter2", "Fn::Secret"},
		"a line that is cut": {"variables:\n  a: {fn::secret: hunter2" + long + "}\n", "hunter2", "fn::secret"},
		"escapes":            {"variables:\n  a: {fn::secret: \"hunter\\u0032\"}\n", "hunter", "fn::secret"},
		"a number":           {"variables:\n  a: {fn::secret: 31337}\n", "31337", "fn::secret"},
		"a map":              {"variables:\n  a: {fn::secret: {user: [hunter2]}}\n", "hunter2", "user"},
		"what has a name":    {"variables:\n  a: {fn::secret: 'pre-hunter2-${password}'}\n", "hunter2", "${password}"},
		"an expression": {"variables:\n  a: ${secret('hunter2')}\n  b: ${secret(\"hunter2\")}\n", "\"hunter2\"",
			"secret("},
		"lines":          {"variables:\n  a:\n    fn::secret: |\n      hunter2\n      hunter3\n", "hunter", "fn::secret"},
		"a default":      {"configuration:\n  a: {type: string, secret: true, default: hunter2}\n", "hunter2", "default"},
		"a broken line":  {"variables:\n  a: {fn::secret: hunter2: ]\n  b: 1\n", "hunter2", "fn::secret"},
		"beside others":  {"variables:\n  a: {fn::secret: hunter2, other: 1}\n", "hunter2", "other: 1"},
		"with one colon": {"variables:\n  a: {fn:secret: hunter2}\n", "hunter2", "fn:secret"},
		"an alias":       {"variables:\n  a: &a hunter2\n  b: {fn::secret: *a}\n", "hunter2", "fn::secret"},
		"a cycle":        {"variables:\n  a: {fn::secret: &a {x: *a, y: hunter2}}\n", "hunter2", "fn::secret"},
		"an unknown key": {"variables:\n  a: 1\nconfig:\n  b: {type: string, secrt: {a: hunter2}, nope: 1}\n", "hunter2", "nope"},
		"a wrong kind":   {"resources:\n  - r: {type: a:B, properties: {password: hunter2}}\n", "hunter2", "password"},
		"an open brace":  {"resources:\n  r: {type: a:B, properties: {password: hunter2}\n", "hunter2", "type: a:B"},
		"an open text":   {"resources:\n  r: {type: 'a:B', 'properties: {password: hunter2}}\n", "hunter2", "password"},
		"a second colon": {"resources: r: {password: hunter2}\n", "hunter2", "password"},
		"a key":          {"resources:\n  r:\n    type: a:B\n    properties:\n      password: hunter2\n      b: c: d\n", "hunter2", "b: "},
		"a list":         {"resources:\n  r:\n    type: a:B\n    properties:\n      tokens:\n        - hunter2\n      b: c: d\n", "hunter2", "tokens"},
		"a resource":     {"resources:\n  password:\n    type: a:B\n    properties:\n      length: hunter\n      b: c: d\n", "hunter2", "length: hunter"},
		"in JSON":        {"resources:\n  r: {\"type\":\"a:B\",\"properties\":{\"apiKey\":\"hunter2\"}\n", "hunter2", "apiKey"},
		"another entry": {"resources:\n  s:\n    type: a:B\n    properties:\n      passwordLength: 31337\n  r:\n    type: a:B\n" +
			"    properties:\n      password: hunter2\n      b: c: d\n", "hunter2", "passwordLength: 31337"},
		"no secret": {"variables:\n  a: {fn::toJSON: hunter2}\n", "nothing is hidden", "hunter2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := diag.NewSource("x", []byte(c.text))
			parser.Parse(src, parser.Options{})
			var all diag.Diagnostics
			for start, text := 0, []byte(c.text); len(text) > 0; {
				line, rest, _ := bytes.Cut(text, []byte("\n"))
				all.Add(diag.Diagnostic{Code: diag.Syntax, Summary: "s", Subject: diag.NewRange(src, start, start+len(line))})
				start, text = start+len(line)+1, rest
			}
			var text, sarif bytes.Buffer
			require.NoError(t, diag.WriteText(&text, all, diag.TextOptions{}))
			require.NoError(t, diag.WriteSARIF(&sarif, all, diag.Tool{}))
			for _, out := range []string{text.String(), sarif.String()} {
				require.NotContains(t, out, c.hidden)
				require.Contains(t, out, c.shown)
			}
		})
	}
}
