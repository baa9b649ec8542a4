package editor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
)

// TestBraceOfACompletion accepts a completion at the mark ^. The expression must then be closed by exactly one brace,
// unless an argument or bracket is unfinished.
func TestBraceOfACompletion(t *testing.T) {
	t.Parallel()
	const pet = "resources:\n  pet:\n    type: random:RandomPet\n    properties:\n      length: 2\n"
	for name, c := range map[string]struct{ text, label, wants string }{
		"in quotes":           {`o: "${pe^"`, "pet", `o: "${pet}"`},
		"plain":               {"o: ${pe^", "pet", "o: ${pet}"},
		"no quote yet":        {"o: \"${pe^\n  p: 1", "pet", "o: \"${pet}\n  p: 1"},
		"a step":              {"o: ${pet.leng^\n  p: ${pet.id}", "length", "o: ${pet.length}\n  p: ${pet.id}"},
		"closed":              {"o: ${pe^}", "pet", "o: ${pet}"},
		"closed behind steps": {`o: "${pe^.length} more"`, "pet", `o: "${pet.length} more"`},
		"closed further on":   {`o: ${pe^ + join("}", [pet.id])}`, "pet", `o: ${pet + join("}", [pet.id])}`},
		"another one behind":  {`o: "${pe^ and ${pet.id}"`, "pet", `o: "${pet} and ${pet.id}"`},
		"an operand":          {"o: ${1 + pe^", "pet", "o: ${1 + pet}"},
		"an argument":         {`o: ${join("-", [pe^`, "pet", `o: ${join("-", [pet`},
		"a function":          {"o: ${joi^", "join", "o: ${join("},
		"escaped quotes":      {`o: "${pet.id == \"-\" && pe^"`, "pet", `o: "${pet.id == \"-\" && pet}"`},
		"single quotes":       {`o: '${pe^'`, "pet", `o: '${pet}'`},
		"in a list":           {`o: ["${pe^", "${pet.id}"]`, "pet", `o: ["${pet}", "${pet.id}"]`},
		"on several lines":    {"o: |-\n    ${pe^\n    + 1}\n    x\n", "pet", "o: |-\n    ${pet\n    + 1}\n    x\n"},
		"a text in lines":     {"o: |-\n    ${pe^\n    x\n  p: {}\n", "pet", "o: |-\n    ${pet}\n    x\n  p: {}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after, _ := strings.Cut(pet+"outputs:\n  "+c.text, "^")
			session := editor.NewSession(newOpener())
			session.Open(file, before+after)
			found, err := editor.Complete(t.Context(), session.Snapshot(), file, len(before))
			require.NoError(t, err)
			pos := slices.IndexFunc(found.Items, func(i editor.Item) bool { return i.Label == c.label })
			require.GreaterOrEqual(t, pos, 0)
			text := before + after
			require.Equal(t, pet+"outputs:\n  "+c.wants, text[:found.Start]+found.Items[pos].Insert+text[found.End:])
		})
	}
}
