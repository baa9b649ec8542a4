package parser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// TestEscapesOfJSON parses the JSON escapes that the YAML parser rejects (L1.8). Outside of double quotes they are not
// escapes and must stay unchanged.
func TestEscapesOfJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a slash":                      {`{"variables": {"a": "http:\/\/x"}}`, "http://x"},
		"a character in two halves":    {`{"variables": {"a": "\ud83d\ude00!"}}`, "😀!"},
		"capital digits":               {`{"variables": {"a": "\uD83D\uDE00\uD83D\uDE01"}}`, "😀😁"},
		"in a YAML file":               {"variables:\n  a: \"b\\/c\\\n    \\/d\"\n", "b/c/d"},
		"a backslash before a slash":   {`{"variables": {"a": "\\/"}}`, `\/`},
		"in single quotes":             {`{"variables": {"a": '\/'}}`, `\/`},
		"in a text without quotes":     {"variables:\n  a: x\"\\/\"\n", `x"\/"`},
		"in a literal text":            {"variables:\n  a: |-\n    \"\\/\"\n", `"\/"`},
		"in a comment":                 {"variables: # \"\\/\"\n  a: \"b\" # \"\\/\"\n", "b"},
		"in the second document":       {"variables:\n  a: \"\\/\"\n---\nb: \"\\/\"\n", "/"},
		"of an anchor":                 {"variables:\n  a: &x \"\\/\"\n  b: *x\n", "/"},
		"behind what is not ASCII too": {`{"variables": {"ä": "é", "a": "é\/ü"}}`, "é/ü"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, diags := parse(c.text)
			require.False(t, diags.HasErrors(), "%v", diags)
			for _, v := range file.Variables {
				if v.Name.Value == "a" {
					require.Equal(t, c.want, v.Value.(*ast.String).Value)
					return
				}
			}
			t.Fatal("there is no variable a")
		})
	}
}

// TestPlacesBehindEscapesOfJSON checks that keys are decoded too, that findings behind such an escape have exact
// positions, and that each escape is reported as specific to yamlhost.
func TestPlacesBehindEscapesOfJSON(t *testing.T) {
	t.Parallel()
	file, diags := parse(`{"variables": {"a\/b": "\ud83d\ude00 ${x} ${}", "a/b": 1}}`)
	require.Equal(t, "a/b", file.Variables[0].Name.Value)
	var found []string
	for _, d := range diags.Sorted() {
		found = append(found, string(d.Code)+" "+d.Subject.Text())
		require.Equal(t, d.Severity == diag.Portability, d.Code == diag.YamlhostOnly)
	}
	require.Equal(t, []string{`Y400 \/`, `Y400 \ud83d\ude00`, `Y108 ${}`, `Y102 "a/b"`}, found)
	access := file.Variables[0].Value.(*ast.Template).Parts[1].(*ast.Access)
	require.Equal(t, "x", access.Root.Range.Text())
}
