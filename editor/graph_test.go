package editor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
)

// TestDependencies checks the dependencies and dependents of declarations, from their names and from uses.
func TestDependencies(t *testing.T) {
	t.Parallel()
	shown := func(found []editor.Dependency) []string {
		var list []string
		for _, d := range found {
			text := d.Symbol.Name
			for _, use := range d.Uses {
				text += " " + use.Text()
			}
			list = append(list, text)
		}
		return list
	}
	const many = "variables:\n  a: 1\n  b: ${a + a}\nresources:\n  p:\n    type: random:RandomPet\n    properties: " +
		"{length: \"${b}\", prefix: \"${a}\"}\n" +
		"    options: {dependsOn: [\"${q}\"]}\n  q: {type: random:RandomPet}\noutputs:\n  o: \"${p.id} ${a}\"\n"
	for word, c := range map[string]struct{ name, needs, neededBy string }{
		"a: 1":    {"a", "", "b a a, p a, o a"},
		"b: ":     {"b", "a a a", "p b"},
		"p:\n":    {"p", "b b, a a, q q", "o p"},
		"q:":      {"q", "", "p q"},
		"o: \"":   {"o", "p p, a a", ""},
		"id} ${a": {"p", "b b, a a, q q", "o p"},
		"b}":      {"b", "a a a", "p b"},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			i := strings.Index(many, word)
			s, offset := opened(t, many[:i]+"|"+many[i:])
			symbol, err := editor.Declared(t.Context(), s, file, offset)
			require.NoError(t, err)
			require.NotNil(t, symbol)
			require.Equal(t, c.name, symbol.Name)
			require.Equal(t, c.name, symbol.Named.Text())
			needs, err := editor.Needs(t.Context(), s, file, offset)
			require.NoError(t, err)
			require.Equal(t, c.needs, strings.Join(shown(needs), ", "))
			neededBy, err := editor.NeededBy(t.Context(), s, file, offset)
			require.NoError(t, err)
			require.Equal(t, c.neededBy, strings.Join(shown(neededBy), ", "))
		})
	}
	s, offset := opened(t, "variables:\n  a: |1\n")
	symbol, err := editor.Declared(t.Context(), s, file, offset)
	require.NoError(t, err)
	require.Nil(t, symbol)
}
