package playground_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/playground"
)

const program = "name: 😀\nruntime: yaml\nresources:\n  pet:\n    type: random:RandomPet\n    properties: {length: " +
	"2}\noutputs:\n  id: ${pet.id}\n  two: ${1 + 1}\n"

func TestPlayground(t *testing.T) {
	t.Parallel()
	p := playground.New()
	_, err := p.Check(t.Context())
	require.ErrorContains(t, err, "no program")
	p.Set(program + "  bad: ${pot.id}\n")
	found, err := p.Check(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, len([]rune(program))+1+len("  bad: ${"), found[0].From, "an emoji is two units")
	require.Equal(t, "Y200", found[0].Code)
	_, err = p.Preview(t.Context())
	require.ErrorContains(t, err, "has errors")
	p.Set(program)
	found, err = p.Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	svg, err := p.Graph(t.Context())
	require.NoError(t, err)
	require.Contains(t, svg, "<svg")
	text, err := p.Preview(t.Context())
	require.NoError(t, err)
	require.Contains(t, text, "+ pet random:RandomPet")
	require.Contains(t, text, "two: 2")
	require.Contains(t, text, "id: known after the update")
	require.Contains(t, text, "2 to create")
	p.Set("outputs:\n  o: ${pulu\n")
	from, items, err := p.Complete(t.Context(), len("outputs:\n  o: ${pulu"))
	require.NoError(t, err)
	require.Equal(t, len("outputs:\n  o: ${"), from)
	require.Equal(t, "pulumi", items[0].Label)
	_, err = p.Hover(t.Context(), len("outputs:\n  o: ${p"))
	require.NoError(t, err)
	formatted, err := p.Format(t.Context())
	require.NoError(t, err)
	require.Equal(t, "outputs:\n  o: ${pulu\n", formatted)
}

// TestNothingRuns previews programs that need commands, files or environment variables.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"resources:\n  c:\n    type: command:local:Command\n    properties: {create: echo}\n": "not in a browser",
		"outputs:\n  o: {fn::readFile: /etc/passwd}\n":                                        "error",
		"outputs:\n  o: {fn::env: HOME}\n":                                                    "error",
	} {
		p := playground.New()
		p.Set(text)
		planned, err := p.Preview(t.Context())
		if err != nil {
			planned = "error: " + err.Error()
		}
		require.Contains(t, planned, want, text)
	}
}
