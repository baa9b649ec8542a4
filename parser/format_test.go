package parser

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/parser/ast/asttest"
)

// TestFormat checks what formatting changes and what it leaves unchanged.
func TestFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, wants string }{
		"indentation": {"resources:\n    a:\n        type:   b:C   \n        properties:\n            x: 1\n",
			"resources:\n  a:\n    type: b:C\n    properties:\n      x: 1\n"},
		"lists":       {"a:\n- b\n-   c: 1\n    d: 2\n", "a:\n  - b\n  - c: 1\n    d: 2\n"},
		"comments":    {"# top\na:\n    # inside\n    b: 1   # behind\n", "# top\na:\n  # inside\n  b: 1   # behind\n"},
		"empty lines": {"\n\na: 1\n\n\n\nb: 2\n\n", "a: 1\n\nb: 2\n"},
		"no end":      {"a: 1", "a: 1\n"},
		"literal": {"a:\n    b: |\n        x  \n\n\n          y\n    c: 1\n",
			"a:\n  b: |\n      x  \n\n\n        y\n  c: 1\n"},
		"quotes":       {"a:\n    b: \"x\n      y\"\n", "a:\n  b: \"x\n    y\"\n"},
		"brackets":     {"a:\n    b: {\n      c: 1,\n    }\n", "a:\n  b: {\n    c: 1,\n  }\n"},
		"Windows":      {"a:\r\n    b: 1  \r\n", "a:\r\n  b: 1\r\n"},
		"JSON":         {"{\"a\":   1}\n", "{\"a\":   1}\n"},
		"value below":  {"a:\n      b\n", "a:\n  b\n"},
		"lists inside": {"a:\n    -   - 1\n        - 2\n", "a:\n  - - 1\n    - 2\n"},
		"broken":       {"a:   [1\nb:   2\n", "a:   [1\nb:   2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := Format(diag.NewSource("x", []byte(c.text)))
			require.Equal(t, c.wants, string(got))
			require.Equal(t, name == "broken", diags.HasErrors())
		})
	}
}

// TestFormatKeepsTheTree formats every program of the archives, unchanged and after random edits. The tree must not
// change, and formatting again must change nothing.
func TestFormatKeepsTheTree(t *testing.T) {
	t.Parallel()
	try := func(name string, text []byte) bool {
		formatted, diags := Format(diag.NewSource("x", text))
		if diags.HasErrors() {
			require.Equal(t, string(text), string(formatted), name)
			return false
		}
		again, _ := Format(diag.NewSource("x", formatted))
		require.Equal(t, string(formatted), string(again), name)
		options := Options{Plugin: pluginText(name)}
		before, _ := Parse(diag.NewSource("x", text), options)
		after, _ := Parse(diag.NewSource("x", formatted), options)
		require.Equal(t, withoutPlaces(t, before), withoutPlaces(t, after), "%s:\n%s", name, text)
		return true
	}
	all := programs(t)
	each := *edits
	if *formatted > 0 {
		each = *formatted/len(all) + 1
	}
	sound := 0
	for name, text := range all {
		try(name, text)
		random := rand.New(rand.NewPCG(uint64(len(text)), *seed))
		for n := range each {
			e := edit(random, text)
			edited := slices.Concat(text[:e.Start], []byte(e.Text), text[min(e.End, len(text)):])
			if n%3 == 0 { // two edits
				e = edit(random, edited)
				edited = slices.Concat(edited[:e.Start], []byte(e.Text), edited[min(e.End, len(edited)):])
			}
			if try(name, edited) {
				sound++
			}
		}
	}
	t.Logf("%d programs, of which %d are formatted", each*len(all), sound)
	require.NotZero(t, sound)
}

var formatted = flag.Int("programs", 0, "how many programs to format; 0 for a few edits of each that there is")

var placeInDump = regexp.MustCompile(` @\d+:\d+-\d+:\d+|\(\d+:\d+-\d+:\d+\)`)

// withoutPlaces returns a dump of a tree without positions.
func withoutPlaces(t *testing.T, file *ast.File) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, asttest.Dump(&b, file))
	return placeInDump.ReplaceAllString(b.String(), "")
}
