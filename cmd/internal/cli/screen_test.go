package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// No command prints control characters from names, values, messages or the output of commands on a terminal.
func TestNothingControlsTheTerminal(t *testing.T) {
	t.Parallel()
	const program = `name: "esc"
resources:
  cmd:
    type: command:local:Command
    name: "na\u001b[2Jme"
    properties:
      create: "printf 'out\\033]0;title\\007\\033[8mhidden\\n'; printf 'err\\033[1A\\r\\n' >&2; %s"
      triggers: ["\u001b[2J\u202e"]
outputs:
  "ou\u001b[2Jt": "va\u001b[2Jl\u009b"
  out: ${cmd.stdout}
`
	for _, color := range []string{"always", "never"} {
		for _, last := range []string{"true", "exit 3"} {
			x := newTerminal(t, strings.Replace(program, "%s", last, 1))
			x.streams.OutTerminal = true
			x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			for _, args := range [][]string{{"check"}, {"preview", "--diff"}, {"up", "--yes", "--skip-preview"}, {"stack"},
				{"stack", "output"}, {"stack", "output", "out"},
				{"graph"}, {"stack", "export"}, {"preview", "--json"}, {"state", "verify"}, {"refresh", "--yes"},
				{"destroy", "--yes"}} {
				code := x.run(append(args, "--color", color)...)
				if args[0] == "up" {
					require.Equal(t, map[string]int{"true": 0, "exit 3": 14}[last], code, x.err.String())
				}
				for name, text := range map[string]string{"out": x.out.String(), "err": x.err.String()} {
					for _, harmless := range []string{"0", "1", "2", "31", "32", "33", "34", "35", "36", "1;31", "1;32", "1;33",
						"1;34", "1;35", "1;36"} {
						if color == "always" {
							text = strings.ReplaceAll(text, "\x1b["+harmless+"m", "")
						}
					}
					i := strings.IndexFunc(text, func(r rune) bool {
						return unicode.IsControl(r) && r != '\n' && r != '\t' ||
							r == '\u202e'
					})
					require.Negative(t, i, "%s of %v: %q", name, args, text)
				}
			}
		}
	}
}

// Output for other programs keeps control characters.
func TestDataIsNotChanged(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: raw\nconfig: {k: {type: string}}\noutputs:\n  o: \"a\\e[2Jb\\r\"\n  k: ${k}\n")
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	run := func(args ...string) string {
		require.Equal(t, 0, x.run(args...), x.err.String())
		return x.out.String()
	}
	run("stack", "init", "dev")
	run("config", "set", "k", "c\x1b[2Jd")
	run("up", "--yes", "--skip-preview")
	require.Equal(t, "a\x1b[2Jb\r\n", run("stack", "output", "o"))
	require.Equal(t, "c\x1b[2Jd\n", run("config", "get", "k"))
	require.Contains(t, run("stack", "output", "--shell"), "o='a\x1b[2Jb\r'")
	var outputs map[string]string
	require.NoError(t, json.Unmarshal([]byte(run("stack", "output", "--json")), &outputs))
	require.Equal(t, "a\x1b[2Jb\r", outputs["o"])
	x.streams.OutTerminal = true
	require.Equal(t, "a\\x1b[2Jb\n", run("stack", "output", "o"))
}
