package editor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
)

// TestHints checks the types shown for expressions that are whole values. Expressions of type any have none.
func TestHints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		wants []string
	}{
		"names": {names, []string{"${size * 2}: integer", "${twice}: integer", "${pet.length}: integer"}},
		"inside": {"config:\n  a: {type: string}\nvariables:\n  v:\n    - \"${a}\"\n    - {x: '${ a }'}\n    - x ${a}\n" +
			"  j:\n    fn::toUpper: ${a}\n  k: ${join(a, [])}\n",
			[]string{"\"${a}\": string", "'${ a }': string", "${a}: string", "${join(a, [])}: string"}},
		"anything": {"outputs:\n  o: ${nothing}\n  p: ${a.b}\n  q: $${a}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := opened(t, c.text+"|")
			found, err := editor.Hints(t.Context(), s, file, 0, len(c.text))
			require.NoError(t, err)
			var hints []string
			for _, h := range found {
				hints = append(hints, h.At.Text()+": "+h.Text)
			}
			require.Equal(t, c.wants, hints)
		})
	}
	s, _ := opened(t, names+"|")
	found, err := editor.Hints(t.Context(), s, file, 0, 10)
	require.NoError(t, err)
	require.Empty(t, found)
}
