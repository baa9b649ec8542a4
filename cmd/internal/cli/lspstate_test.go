package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	lspcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/lsp"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/editor"
)

const statefulSecrets = `name: one
config:
  password: {type: string, secret: true}
resources:
  pet:
    type: random:RandomPet
    properties: {prefix: "${password}", length: 1}
  plain:
    type: random:RandomPet
    properties: {prefix: public}
outputs:
  a: ${pet.prefix}
  b: ${pet.id}
  c: ${plain.prefix}
`

// TestEditorKnowsTheStack opens a stack with secrets in an editor that has no passphrase: the editor shows public
// values and no secrets, and writes nothing.
func TestEditorKnowsTheStack(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, statefulSecrets)
	usual := x.world.Env
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=canary-passphrase")
	for _, args := range [][]string{{"stack", "init", "dev"}, {"config", "set", "--secret", "password", "canary-password"},
		{"up", "--yes"}} {
		require.Equal(t, 0, x.run(args...), x.err.String())
	}
	require.Equal(t, 0, x.run("stack", "output", "--json"), x.err.String())
	var outputs map[string]string
	require.NoError(t, json.Unmarshal(x.out.Bytes(), &outputs))
	x.world.Env = usual
	before := filesBelow(t, filepath.Dir(x.world.Dir))

	path := filepath.Join(x.world.Dir, "Pulumi.yaml")
	settings := filepath.Join(x.world.Dir, "Pulumi.dev.yaml")
	opener := &lspcmd.ProgramOpener{Console: &console.Console{World: x.world, Streams: x.streams},
		Loaders: map[string]*lspcmd.KeptSchemas{}}
	defer opener.Close()
	session := editor.NewSession(opener)
	session.Open(path, statefulSecrets)
	text, err := os.ReadFile(settings)
	require.NoError(t, err)
	session.Open(settings, string(text))
	s := session.Snapshot()

	lenses, err := editor.Lenses(t.Context(), s, path)
	require.NoError(t, err)
	require.Len(t, lenses, 2)
	var all strings.Builder
	for _, l := range lenses {
		all.WriteString(l.Text + "\n")
	}
	for offset := range statefulSecrets {
		hover, err := editor.HoverAt(t.Context(), s, path, offset)
		require.NoError(t, err)
		if hover != nil {
			all.WriteString(hover.Text + "\n")
		}
		found, err := editor.Complete(t.Context(), s, path, offset)
		require.NoError(t, err)
		for _, item := range found.Items {
			all.WriteString(item.Label + item.Detail + item.Docs + item.Insert + "\n")
		}
	}
	for offset := range string(text) {
		hover, err := editor.HoverAt(t.Context(), s, settings, offset)
		require.NoError(t, err)
		if hover != nil {
			all.WriteString(hover.Text + "\n")
		}
	}
	require.Contains(t, all.String(), "In the stack `dev`: `\"public\"`")
	require.Contains(t, all.String(), "config password: string, secret")
	require.Contains(t, outputs["b"], "canary-password", "the ID is made of the secret")
	for line := range strings.SplitSeq(all.String()+x.err.String(), "\n") {
		require.NotContains(t, line, "canary")
	}
	require.Equal(t, before, filesBelow(t, filepath.Dir(x.world.Dir)))

	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=canary-passphrase")
	require.Equal(t, 0, x.run("destroy", "--yes"), x.err.String())
	lenses, err = editor.Lenses(t.Context(), s, path)
	require.NoError(t, err)
	require.Equal(t, "dev: not deployed", lenses[0].Text, "the state is read anew when it has changed")
}

// Hover on a resource, and on a property, shows why the last operation changed it.
func TestEditorKnowsWhy(t *testing.T) {
	t.Parallel()
	text := "name: one\nconfig: {size: {type: integer, default: 1}}\nresources:\n  pet:\n    type: random:RandomPet\n" +
		"    properties:\n      length: ${size}\n      prefix: same\n"
	x := newTerminal(t, text)
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	for _, args := range [][]string{{"stack", "init", "dev"}, {"up", "--yes"}, {"config", "set", "size", "2"}, {"up", "--yes"},
		{"up", "--yes"}} {
		require.Equal(t, 0, x.run(args...), x.err.String())
	}
	path := filepath.Join(x.world.Dir, "Pulumi.yaml")
	opener := &lspcmd.ProgramOpener{Console: &console.Console{World: x.world, Streams: x.streams},
		Loaders: map[string]*lspcmd.KeptSchemas{}}
	defer opener.Close()
	session := editor.NewSession(opener)
	session.Open(path, text)
	s := session.Snapshot()
	hover := func(word string) string {
		found, err := editor.HoverAt(t.Context(), s, path, strings.Index(text, word))
		require.NoError(t, err)
		require.NotNil(t, found)
		return found.Text
	}
	for _, word := range []string{"pet:", "length:"} {
		_, why, told := strings.Cut(hover(word), " changed this because\n")
		require.True(t, told, hover(word))
		require.True(t, strings.HasPrefix(why+"\n", "- `config size` (Pulumi.dev.yaml:2)\n"+
			"  - `pet ~ length: 1 => 2 (forces replacement)` (Pulumi.yaml:7)\n"), why)
	}
	require.NotContains(t, hover("prefix:"), "because")
}

// filesBelow returns the files below dir with their texts.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	}))
	return found
}
