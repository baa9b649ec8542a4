package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// The lists of commands by their use of standard output name commands that exist, each once.
func TestStreamsAreThoseOfCommands(t *testing.T) {
	t.Parallel()
	root := newRoot(&console.Console{World: console.World{AsPulumi: true}}, &profile{})
	paths := map[string]bool{}
	visit(root, "", func(_ *cobra.Command, path string) { paths[path] = true })
	seen := map[string]bool{}
	for _, path := range slices.Concat(operations, textCommands) {
		require.True(t, paths[path], "there is no command %s", path)
		require.False(t, seen[path], "%s is listed twice", path)
		seen[path] = true
	}
}

// randomProgram is a program whose faults and findings a test chooses.
type randomProgram struct {
	pets            int
	length          int
	warns, outputs  bool
	fails, isBroken bool
}

func drawProgram(t *rapid.T) randomProgram {
	return randomProgram{
		pets: rapid.IntRange(0, 3).Draw(t, "pets"), length: rapid.IntRange(1, 2).Draw(t, "length"),
		warns: rapid.Bool().Draw(t, "warns"), outputs: rapid.Bool().Draw(t, "outputs"),
		fails:    rapid.IntRange(0, 5).Draw(t, "fails") == 0,
		isBroken: rapid.IntRange(0, 9).Draw(t, "is broken") == 0,
	}
}

func (p randomProgram) text() string {
	var b strings.Builder
	b.WriteString("name: one\nruntime: yaml\nresources:\n")
	for i := range p.pets {
		fmt.Fprintf(&b, "  pet%d: {type: random:RandomPet, properties: {length: %d}}\n", i, p.length)
	}
	if p.fails {
		b.WriteString("  bad: {type: random:RandomInteger, properties: {min: 3, max: 1}}\n")
	}
	b.WriteString("  kept: {type: random:RandomPet}\n")
	if p.outputs {
		b.WriteString("outputs: {kept: '${kept.id}'}\n")
	}
	if p.isBroken {
		b.WriteString("variables: {x: '${absent}'}\n")
	}
	if p.warns {
		b.WriteString("whatever: 1\n")
	}
	return b.String()
}

// Under the name of the Pulumi CLI, standard output has everything that a person reads of a successful command, in the
// order of that program, and standard error has nothing. With --json, standard output has JSON only.
func TestStreamsOfPulumi(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(r, err)
		x := newTerminalIn(t, dir, onePet)
		x.streams.InTerminal, x.streams.ErrTerminal, x.world.AsPulumi = false, false, true
		x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x", "GITHUB_ACTIONS=true")
		require.Equal(r, 0, x.run("stack", "init", "dev"), x.err.String())
		require.Equal(r, "Created stack 'dev'\n", x.out.String())
		require.Empty(r, x.err.String())
		for range rapid.IntRange(1, 3).Draw(r, "commands") {
			p := drawProgram(r)
			require.NoError(r, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(p.text()), 0o644))
			args := rapid.SampledFrom([][]string{{"preview"}, {"up", "--yes"}, {"up", "--skip-preview"}, {"refresh", "--yes"},
				{"destroy", "--yes"}, {"destroy", "--preview-only"}, {"preview", "--diff"}, {"config", "set", "k", "v"},
				{"config", "rm", "k"}, {"stack", "tag", "set", "a", "b"}, {"stack", "select", "dev"},
			}).Draw(r, "command")
			operation := slices.Contains(operations, args[0])
			asJSON := operation && rapid.IntRange(0, 3).Draw(r, "json") == 0
			if asJSON {
				args = append(slices.Clone(args), "--json")
			}
			if args[0] == "up" && rapid.Bool().Draw(r, "continues") {
				args = append(slices.Clone(args), "--continue-on-error")
			}
			code := x.run(args...)
			out, errors := x.out.String(), x.err.String()
			if code == 0 {
				require.Empty(r, errors, "%v\n%s", args, out)
			}
			switch {
			case asJSON:
				for d := json.NewDecoder(bytes.NewReader(x.out.Bytes())); d.More(); {
					require.NoError(r, d.Decode(new(any)), out)
				}
			case operation:
				runs := args[0] == "up" || args[0] == "preview"
				if broken := runs && p.isBroken; broken {
					require.Contains(r, out, "`absent` is not declared")
					require.NotZero(r, code)
				} else {
					require.Regexp(r, `^(Previewing (update|refresh|destroy) of|Updating|Refreshing|Destroying) stack dev\n`, out, "%v\n%s", args, errors)
					inOrder(r, out, runs && p.warns)
				}
				for line := range strings.Lines(errors) {
					require.Regexp(r, `^error: `, line)
				}
			}
		}
	})
}

// inOrder requires the parts of each operation in a log in the order of the Pulumi CLI: rows, changes, diagnostics,
// outputs, totals.
func inOrder(t require.TestingT, log string, warns bool) {
	for part := range strings.SplitAfterSeq(log, "Resources: ") {
		last := -1
		for _, heading := range []string{"Changes:\n", "unknown key `whatever`", "Outputs:\n", "Resources: "} {
			at := strings.Index(part, heading)
			if at >= 0 {
				require.Greater(t, at, last, log)
				last = at
			}
			if heading == "unknown key `whatever`" && strings.HasSuffix(part, "Resources: ") {
				require.Equal(t, warns, at >= 0, log)
			}
		}
		if rows := strings.LastIndex(part, "RandomPet "); rows >= 0 && warns {
			require.Less(t, rows, strings.Index(part, "unknown key"), log)
		}
	}
}

// A command that fails says why on standard error, which is where Pulumi's automation packages look for the reason.
func TestReasonsOfPulumiAreOnStandardError(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	x.world.AsPulumi = true
	for _, args := range [][]string{{"stack", "select", "absent"}, {"up", "--yes", "--stack", "absent"}, {"config", "get", "x"},
		{"stack", "rm", "absent", "--yes"}, {"up", "--no-such-flag"}} {
		require.NotZero(t, x.run(args...), args)
		require.Regexp(t, "^error: ", x.err.String(), args)
		require.Empty(t, x.out.String(), args)
	}
}
