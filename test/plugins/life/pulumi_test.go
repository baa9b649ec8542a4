package life

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMovingBetweenPulumiAndYamlhost lets the Pulumi CLI and yamlhost take turns at one stack: neither sees a change
// after an operation of the other, and each can finish an operation that the other began. The Pulumi CLI runs the
// program with our language host.
func TestMovingBetweenPulumiAndYamlhost(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	x := beginTurns(t, s)

	s.pulumi("config", "set", "kind", "play")
	s.pulumi("up", "--yes", "--skip-preview")
	x.neither("replaced by Pulumi")
	require.Len(t, items(t, x.dir), 2)

	s.pulumi("refresh", "--yes", "--skip-preview")
	x.neither("refreshed by Pulumi")
	s.run(0, "refresh", "--yes", "--skip-preview")
	x.neither("refreshed by yamlhost")

	t.Log("what changes nothing is in the history all the same, and the other one goes on from there")
	operations := func() int {
		var all []struct{ Kind, Result string }
		require.NoError(t, json.Unmarshal([]byte(s.pulumi("stack", "history", "--json")), &all))
		return len(all)
	}
	before := operations()
	s.run(0, "up", "--yes", "--skip-preview")
	s.run(0, "up", "--yes", "--skip-preview")
	require.Equal(t, before+2, operations())
	s.pulumi("up", "--yes", "--skip-preview", "--expect-no-changes")
	s.run(0, "up", "--yes", "--skip-preview", "--expect-no-changes")
	require.Equal(t, before+4, operations())
	x.neither("left as it was by both")

	x.handOver()
	x.end()
	require.NoError(t, os.Remove(s.dir+"/exported.json"))
}

// shared is a stack at which the Pulumi CLI and yamlhost take turns.
type shared struct {
	t   *testing.T
	s   *sandbox
	dir string // of the objects
}

// beginTurns makes a stack of a shelf and lets both change it.
func beginTurns(t *testing.T, s *sandbox) *shared {
	t.Helper()
	x := &shared{t, s, t.TempDir()}
	s.write("Pulumi.yaml", strings.ReplaceAll(shelfProgram, "DIR", x.dir))
	s.run(0, "stack", "init", "dev")
	s.run(0, "up", "--yes", "--skip-preview")
	x.neither("created by yamlhost")
	s.pulumi("config", "set", "title", "Walden Two")
	s.pulumi("up", "--yes", "--skip-preview")
	x.neither("updated by Pulumi")
	s.run(0, "config", "set", "kind", "film")
	s.run(0, "up", "--yes", "--skip-preview")
	x.neither("replaced by yamlhost")
	return x
}

// neither requires that none of the two sees a change.
func (x *shared) neither(after string) {
	x.t.Helper()
	x.t.Log(after)
	x.s.pulumi("preview", "--expect-no-changes")
	x.s.run(0, "preview", "--expect-no-changes")
}

// handOver requires that each opens the secrets that the other has sealed, and that yamlhost imports what the Pulumi CLI
// exports.
func (x *shared) handOver() {
	x.t.Helper()
	for _, show := range []string{first(x.s.run(0, "stack", "output", "--json", "--show-secrets")),
		x.s.pulumi("stack", "output", "--json", "--show-secrets")} {
		var outputs map[string]any
		require.NoError(x.t, json.Unmarshal([]byte(show), &outputs))
		require.Equal(x.t, "borrowed from Ann", outputs["note"])
	}
	x.s.write("exported.json", x.s.pulumi("stack", "export"))
	x.s.run(0, "stack", "import", "--file", "exported.json")
	x.neither("imported by yamlhost")
}

// end lets each remove what the other has created.
func (x *shared) end() {
	x.t.Helper()
	x.s.pulumi("destroy", "--yes", "--skip-preview")
	require.Empty(x.t, items(x.t, x.dir))
	require.Empty(x.t, x.s.resources())
	x.s.pulumi("up", "--yes", "--skip-preview")
	x.neither("created by Pulumi")
	x.s.run(0, "destroy", "--yes", "--skip-preview")
	require.Empty(x.t, items(x.t, x.dir))
}

func first(stdout, _ string) string { return stdout }

// TestTakingOver lets yamlhost take over stacks that the Pulumi CLI created with its own language host for YAML. The
// first preview is empty in any environment. Schema defaults that the other host did not fill in change no existing
// resource, but are filled in for new ones (L3.15). Providers read the environment themselves according to
// envVarMappings (L4.29).
func TestTakingOver(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	program := `name: library
runtime: yaml
resources:
  shelf:
    type: pulumi:providers:shelf
    properties: {dir: DIR}
    options: {envVarMappings: {LOCAL_REGION: SHELF_REGION}}
  label: {type: "shelf:Label", properties: {text: first}, options: {provider: "${shelf}"}}
  item: {type: "shelf:Item", properties: {title: Walden}, options: {provider: "${shelf}"}}
  source:
    type: asset-archive:AssetResource
    properties: {value: {fn::fileAsset: ./poem.txt}}
    options: {version: 5.0.0}
outputs:
  asset: ${source.value}
  text: {fn::stringAsset: hello}
  resource: ${label}
`
	program = strings.ReplaceAll(program, "DIR", t.TempDir())
	s.write("Pulumi.yaml", program)
	s.write("poem.txt", "so much depends")
	ours := s.env
	s.env = append(append([]string{}, ours...), "PATH="+s.bin+"/stock:"+s.bin+":/usr/bin:/bin", "LOCAL_REGION=north",
		"SHELF_REGION=elsewhere")
	s.pulumi("stack", "init", "dev")
	s.pulumi("up", "--yes", "--skip-preview")
	made := s.pulumi("stack", "export")
	require.True(t, strings.Contains(made, `"region": "north"`), "what the mapping says")
	require.False(t, strings.Contains(made, `"mode"`), "the other host fills in no default")

	for _, machine := range [][]string{{"LOCAL_REGION=north", "SHELF_REGION=nowhere", "SHELF_OWNER=ann"},
		{"LOCAL_REGION=north"}} {
		s.env = append(append([]string{}, ours...), machine...)
		out, _ := s.run(0, "preview", "--expect-no-changes", "--diff")
		require.Contains(t, out, "Resources: 5 unchanged")
		require.NotContains(t, out, "=>", "no output shows a change")
	}

	s.write("Pulumi.yaml", strings.Replace(program, "  item:",
		"  new: {type: \"shelf:Label\", properties: {text: second}, "+
			"options: {provider: \"${shelf}\"}}\n  item:", 1))
	_, shown := s.run(0, "up", "--yes", "--skip-preview")
	require.Contains(t, shown, "Resources: 1 created, 5 unchanged")
	exported, _ := s.run(0, "stack", "export")
	require.Equal(t, 2, strings.Count(exported, `"mode": "plain"`), "inputs and outputs of the new label only")
	s.run(0, "preview", "--expect-no-changes")
}
