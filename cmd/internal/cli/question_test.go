package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// On a terminal, preview and up offer to create a missing stack. The answer no creates nothing, and there is no
// question with --non-interactive or for destroy.
func TestMissingStackIsOffered(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	ask := func(answer string, args ...string) int {
		x.streams.In = strings.NewReader(answer)
		return x.run(args...)
	}
	require.Equal(t, 6, ask("no\n", "preview"))
	require.Contains(t, x.err.String(), "There is no stack dev of project ")
	require.Equal(t, 6, ask("yes\n", "preview", "--non-interactive"))
	require.NotContains(t, x.err.String(), "Create it?")
	require.Equal(t, 6, ask("yes\n", "destroy"))
	require.NotContains(t, x.err.String(), "Create it?", "of nothing there is nothing to destroy")
	require.Equal(t, 0, ask("yes\n", "preview", "--stack", "prod"), x.err.String())
	require.Contains(t, x.err.String(), "Created stack 'prod'\n")
	require.Equal(t, 6, ask("no\n", "up", "--stack", "prid"))
	require.Contains(t, x.err.String(), "but there is prod. Create prid? (yes/no): ")
	require.Equal(t, 0, x.run("stack", "unselect"))
	require.Equal(t, 6, ask("", "up"), "an end of the input chooses nothing")
	require.NotContains(t, x.err.String(), "Create it?", "somebody has forgotten to choose one of those that there are")
	require.Equal(t, 6, ask("1\n", "preview", "--non-interactive"))
	require.Equal(t, 0, ask("p\n", "stack", "--show-name"))
	require.Equal(t, "prod\n", x.out.String())
	require.Contains(t, x.err.String(), "   1  prod\nstack (number or name): ")
	require.Equal(t, 0, ask("", "stack", "--show-name"), "what was chosen is selected")
	require.Equal(t, 0, ask("yes\nyes\n", "up", "-s", "test"), x.err.String())
	require.Contains(t, x.err.String(), "2 to create")
}

// The passphrase of a stack is asked for once, with the names of stack and project, before the preview begins. That
// includes other stacks that the program reads.
func TestPassphrasesAreAskedForFirst(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: network\nresources: {pet: {type: random:RandomPet}}\n"+
		"outputs: {key: {fn::secret: opensesame}, other: {fn::secret: o}}\n")
	asked := 0
	x.streams.ReadPassword = func() (string, error) {
		asked++
		switch text := x.err.String(); {
		case strings.Contains(text[strings.LastIndex(text, "stack "):], "of project network"):
			return "n", nil
		default:
			return "s", nil
		}
	}
	require.Equal(t, 0, x.run("stack", "init", "prod"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	require.Equal(t, 2, asked, "a new one is asked for twice")
	require.Contains(t, x.err.String(), "Enter a passphrase to protect the secrets of stack prod of project network: ")

	const shop = `name: shop
config: {word: {type: string, secret: true}}
resources:
  network: {type: pulumi:pulumi:StackReference, properties: {name: organization/network/prod}}
variables: {other: {fn::stackReference: [organization/network/prod, other]}}
outputs: {key: '${network.outputs["key"]}-${other}-${word}'}
`
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(shop), 0o644))
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("config", "set", "--secret", "word", "w"), x.err.String())
	asked = 0
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	require.Equal(t, 2, asked, x.err.String())
	drawn := strings.Index(x.err.String(), "Previewing")
	for _, stack := range []string{"dev of project shop", "prod of project network"} {
		question := "Enter the passphrase of stack " + stack
		require.Equal(t, 1, strings.Count(x.err.String(), question), x.err.String())
		require.Less(t, strings.Index(x.err.String(), question), drawn, fmt.Sprint(stack, x.err.String()))
	}
}
