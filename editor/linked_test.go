package editor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
)

// TestLinked counts the ranges of a name that can be edited together.
func TestLinked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		places int
	}{
		"declaration": {"variables:\n  |abc: 1\noutputs:\n  abc: \"${abc} abc ${abc + 1}\"\n", 3},
		"use":         {"variables:\n  abc: 1\noutputs:\n  o: ${a|bc}\n", 2},
		"resource":    {"resources:\n  abc|:\n    type: random:RandomPet\noutputs:\n  o: ${abc.id}\n", 2},
		"JSON":        {`{"variables": {"|abc": 1}, "outputs": {"o": "${abc}"}}`, 2},
		"another scope": {"variables:\n  |abc: 1\n  o: ${abc}\ncomponents:\n  c:\n    variables:\n      abc: 2\n      p: " +
			"${abc}\n", 2},
		"configuration":  {"config:\n  |abc: {type: string}\noutputs:\n  o: ${abc}\n", 0},
		"a member":       {"resources:\n  abc:\n    type: random:RandomPet\noutputs:\n  o: ${abc.i|d}\n", 0},
		"no name":        {"variables:\n  abc: |1\n", 0},
		"an output":      {"outputs:\n  |abc: 1\n", 0},
		"broken, beside": {"variables:\n  x: [1\n  |abc: 1\noutputs:\n  o: ${abc}\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, offset := opened(t, c.text)
			found, err := editor.Linked(t.Context(), s, file, offset)
			require.NoError(t, err)
			require.Len(t, found, c.places)
			for _, rng := range found {
				require.Equal(t, "abc", rng.Text())
			}
		})
	}
}

// TestLinkedInManyFiles checks that a name is not linked if another file uses it, because its use would not change.
func TestLinkedInManyFiles(t *testing.T) {
	t.Parallel()
	session := editor.NewSession(manyOpener{newOpener(), map[string]string{"one.yaml": "outputs:\n  o: ${abc}\n"}})
	const text = "include: one.yaml\nvariables:\n  abc: 1\n  xyz: ${abc}\noutputs:\n  p: ${xyz}\n"
	session.Open(file, text)
	found, err := editor.Linked(t.Context(), session.Snapshot(), file, strings.Index(text, "abc"))
	require.NoError(t, err)
	require.Empty(t, found)
	found, err = editor.Linked(t.Context(), session.Snapshot(), file, strings.Index(text, "xyz"))
	require.NoError(t, err)
	require.Len(t, found, 2)
}
