package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Commands that edit files of a project change those with line breaks of Windows as they change others, and change no
// line break.
func TestCommandsKeepLineBreaks(t *testing.T) {
	t.Parallel()
	programs := []string{
		"name:   one\nruntime: yaml\n\n\nvariables:\n    a:   1 # note\noutputs: {b: \"${a}\"}\n",
		"name: one\nruntime: yaml\nvariables:\n  a: |\n    text\n      deeper\n\n  c: >-\n    folded\n    text\n" +
			"outputs:\n  b: ${a}",
		"name: one\nruntime: yaml\nresources:\n  pet:\n    type: random:RandomPet\n    properties:\n      lenght: 2\n" +
			"outputs: {b: \"${pet.idd}\"}\n",
		"name: one\nruntime: yaml\nconfig:\n  size: {type: integer, default: 1}\noutputs:\n  b: !GetAtt x.y\n  c: ${size}\n",
	}
	settings := []string{"", "# settings\nconfig:\n  one:a: b # note\n",
		"config:\n  one:list:\n    - 1\n    - x: |\n        a\n        b\n\n# end\n"}
	commands := [][]string{{"fmt"}, {"check", "--fix"}, {"config", "set", "k", "v"},
		{"config", "set", "text", "two\nlines\n"},
		{"config", "set", "--path", "list[1].x", "new"}, {"config", "set", "--path", "deep.er", "1"}, {"config", "rm", "a"},
		{"config", "rm", "k"}, {"config", "set", "size", "3"}}
	names := []string{"Pulumi.yaml", "Pulumi.dev.yaml"}
	changed := 0
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		texts := map[string]string{names[0]: rapid.SampledFrom(programs).Draw(rt, "program"),
			names[1]: rapid.SampledFrom(settings).Draw(rt, "settings")}
		sides := map[string]*terminal{}
		for side, breaks := range map[string]string{"unix": "\n", "windows": "\r\n"} {
			require.NoError(rt, os.Mkdir(filepath.Join(dir, side), 0o755))
			x := newTerminalIn(t, filepath.Join(dir, side), "")
			x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
			for name, text := range texts {
				if text = strings.ReplaceAll(text, "\n", breaks); text != "" {
					require.NoError(rt, os.WriteFile(filepath.Join(x.world.Dir, name), []byte(text), 0o600))
				}
			}
			sides[side] = x
		}
		read := func(side, name string) string {
			text, _ := os.ReadFile(filepath.Join(sides[side].world.Dir, name)) // there may be no settings yet
			return string(text)
		}
		run := func(args ...string) {
			unix, windows := sides["unix"].run(args...), sides["windows"].run(args...)
			require.Equal(rt, unix, windows, "%s: %s", args, sides["windows"].err.String())
			for _, name := range names {
				want := read("unix", name)
				if texts[name] != "" { // a new file has line breaks of Unix on both sides
					want = strings.ReplaceAll(want, "\n", "\r\n")
				}
				require.Equal(rt, want, read("windows", name), "%s after %s", name, args)
			}
		}
		run("config", "set", "first", "1", "--stack", "dev", "--plaintext")
		for range rapid.IntRange(1, 4).Draw(rt, "steps") {
			args := rapid.SampledFrom(commands).Draw(rt, "command")
			if args[0] == "config" {
				args = append([]string{"config", "--stack", "dev"}, args[1:]...)
			}
			run(args...)
		}
		if read("unix", names[0]) != texts[names[0]] {
			changed++
		}
	})
	require.Positive(t, changed, "some programs are changed")
}
