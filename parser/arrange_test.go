package parser_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

func TestArrange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"sections with their comments": {
			"# the licence\n\n# what comes out\noutputs: # all\n  o: ${a}\n\nresources: {}\n# more\nvariables:\n  a: " +
				"1\nruntime: yaml\nname: p\n",
			"# the licence\n\nname: p\nruntime: yaml\n# more\nvariables:\n  a: 1\nresources: {}\n# what comes out\noutputs: # " +
				"all\n  o: ${a}\n\n"},
		"no line break at the end": {"outputs: {}\nname: p", "name: p\noutputs: {}"},
		"unknown keys":             {"outputs: {}\nx: 1\nname: p\na: 2\n", "name: p\nx: 1\na: 2\noutputs: {}\n"},
		"in order":                 {"name: p\noutputs: {}\n", "name: p\noutputs: {}\n"},
		"an anchor": {"variables:\n  a: &a 1\nconfig:\n  b: {default: *a}\n",
			"variables:\n  a: &a 1\nconfig:\n  b: {default: *a}\n"},
		"the same key twice": {"outputs: {}\nname: p\nname: q\n", "outputs: {}\nname: p\nname: q\n"},
		"JSON":               {"{\"outputs\": {}, \"name\": \"p\"}\n", "{\"outputs\": {}, \"name\": \"p\"}\n"},
		"a text that looks like sections": {"outputs:\n  o: |\n    x\n  # no\nname: p\n",
			"name: p\noutputs:\n  o: |\n    x\n  # no\n"},
		"carriage returns":      {"outputs: {}\r\nname: p\r\n", "name: p\r\noutputs: {}\r\n"},
		"a document of its own": {"---\noutputs: {}\nname: p\n", "---\nname: p\noutputs: {}\n"},
	} {
		got, found := parser.Arrange(diag.NewSource("", []byte(c.text)))
		require.Empty(t, found, name)
		require.Equal(t, c.want, string(got), name)
		again, _ := parser.Arrange(diag.NewSource("", got))
		require.Equal(t, c.want, string(again), name)
	}
	broken := "outputs: [\nname: p\n"
	got, found := parser.Arrange(diag.NewSource("", []byte(broken)))
	require.True(t, found.HasErrors())
	require.Equal(t, broken, string(got))
}
