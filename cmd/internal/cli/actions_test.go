package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	lspcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/lsp"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
)

const twoPets = `name: one
resources:
  pet:
    type: random:RandomPet
  next:
    type: random:RandomPet
    properties: {prefix: "${pet.id}"}
outputs:
  id: ${pet.id}
  next: ${next.id}
`

const pairOfPets = `name: one
config:
  size: {type: integer}
components:
  Pair:
    inputs:
      length: {type: integer}
    resources:
      pet: {type: random:RandomPet, properties: {length: "${length}"}}
    outputs:
      pet: ${pet.id}
resources:
  both:
    type: components:Pair
    properties: {length: "${size}"}
outputs:
  pet: ${both.pet}
`

// TestRenameKeepsState deploys a program, renames a symbol in the editor and requires that an update creates, replaces
// and deletes nothing.
func TestRenameKeepsState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, symbol, newName string }{
		"resource":      {twoPets, "pet:", "animal"},
		"component":     {pairOfPets, "Pair:", "Couple"},
		"configuration": {pairOfPets, "size:", "words"},
		"input":         {pairOfPets, "length:", "words"},
		"output":        {pairOfPets, "pet: ${pet", "called"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, c.text)
			x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=test")
			for _, args := range [][]string{{"stack", "init", "dev"}, {"config", "set", "size", "3"}, {"up", "--yes"}} {
				require.Equal(t, 0, x.run(args...), x.err.String())
			}
			before := stackOutputs(t, x)
			path := filepath.Join(x.world.Dir, "Pulumi.yaml")
			opener := &lspcmd.ProgramOpener{Console: &console.Console{World: x.world}, Loaders: map[string]*lspcmd.KeptSchemas{}}
			defer opener.Close()
			session := editor.NewSession(opener)
			session.Open(path, c.text)
			edits, err := editor.Rename(t.Context(), session.Snapshot(), path, strings.Index(c.text, c.symbol), c.newName)
			require.NoError(t, err)
			for path, list := range edits {
				text := string(list[0].Range.Source.Text())
				slices.SortStableFunc(list, func(a, b diag.Edit) int { return int(b.Range.Start - a.Range.Start) })
				for _, e := range list {
					text = text[:e.Range.Start] + e.Text + text[e.Range.End:]
				}
				require.Contains(t, text, c.newName)
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			preview := []string{"preview"}
			if name != "input" { // renamed inputs of a component differ from the state
				preview = append(preview, "--expect-no-changes")
			}
			require.Equal(t, 0, x.run(preview...), x.err.String()+x.out.String())
			require.NotRegexp(t, `to (create|replace|delete)`, x.err.String()+x.out.String())
			require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
			require.Equal(t, before, stackOutputs(t, x))
		})
	}
}

// TestActionsKeepState deploys a program, applies a code action and deploys it again: the resources stay the same.
func TestActionsKeepState(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, s *editor.Snapshot, path string) []diag.Edit{
		"wrap in forEach": func(t *testing.T, s *editor.Snapshot, path string) []diag.Edit {
			return chosen(t, s, path, "pet", "pet", "Wrap pet in forEach")
		},
		"extract a component": func(t *testing.T, s *editor.Snapshot, path string) []diag.Edit {
			return chosen(t, s, path, "pet:", `"${pet.id}"}`, "Extract to the component Pet")
		},
		"extract a component of one": func(t *testing.T, s *editor.Snapshot, path string) []diag.Edit {
			return chosen(t, s, path, "next:", `"${pet.id}"}`, "Extract to the component Next")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, twoPets)
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			require.Equal(t, 0, x.run("up", "--yes", "--stack", "dev"), x.err.String())
			before := stackOutputs(t, x)
			path := filepath.Join(x.world.Dir, "Pulumi.yaml")
			opener := &lspcmd.ProgramOpener{Console: &console.Console{World: x.world}, Loaders: map[string]*lspcmd.KeptSchemas{}}
			defer opener.Close()
			session := editor.NewSession(opener)
			session.Open(path, twoPets)
			text := twoPets
			edits := change(t, session.Snapshot(), path)
			slices.SortStableFunc(edits, func(a, b diag.Edit) int { return int(b.Range.Start - a.Range.Start) })
			for _, e := range edits {
				text = text[:e.Range.Start] + e.Text + text[e.Range.End:]
			}
			require.NotEqual(t, twoPets, text)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			require.Equal(t, 0, x.run("up", "--yes", "--stack", "dev"), "%s%s\n%s", x.err.String(), x.out.String(), text)
			require.NotContains(t, x.out.String()+x.err.String(), "replace")
			require.NotContains(t, x.out.String()+x.err.String(), "delete")
			require.Equal(t, before, stackOutputs(t, x), text)
		})
	}
}

func stackOutputs(t *testing.T, x *terminal) string {
	t.Helper()
	require.Equal(t, 0, x.run("stack", "output", "--json", "--stack", "dev"), x.err.String())
	return x.out.String()
}

// chosen returns the edits of the code action called title, offered for the range from the start of first to the end of
// last.
func chosen(t *testing.T, s *editor.Snapshot, path, first, last, title string) []diag.Edit {
	t.Helper()
	start := strings.Index(twoPets, "\n  "+first) + 3
	end := start + strings.Index(twoPets[start:], last) + len(last)
	actions, err := editor.Actions(t.Context(), s, path, start, end)
	require.NoError(t, err)
	var titles []string
	for _, action := range actions {
		if action.Title == title {
			return action.Edits[path]
		}
		titles = append(titles, action.Title)
	}
	require.Contains(t, titles, title)
	return nil
}
