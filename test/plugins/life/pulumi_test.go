package life

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMovingBetweenPulumiAndYamlhost has the Pulumi CLI and yamlhost take turns at one stack: after whatever the one did,
// the other sees no change, and each can go on and finish what the other began. The Pulumi CLI runs the program with our
// language host.
func TestMovingBetweenPulumiAndYamlhost(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := t.TempDir()
	s.write("Pulumi.yaml", strings.ReplaceAll(shelfProgram, "DIR", dir))
	s.run(0, "stack", "init", "dev")

	neither := func(after string) {
		t.Helper()
		t.Log(after)
		s.pulumi("preview", "--expect-no-changes")
		s.run(0, "preview", "--expect-no-changes")
	}

	s.run(0, "up", "--yes", "--skip-preview")
	neither("created by yamlhost")

	s.pulumi("config", "set", "title", "Walden Two")
	s.pulumi("up", "--yes", "--skip-preview")
	neither("updated by Pulumi")

	s.run(0, "config", "set", "kind", "film")
	s.run(0, "up", "--yes", "--skip-preview")
	neither("replaced by yamlhost")

	s.pulumi("config", "set", "kind", "play")
	s.pulumi("up", "--yes", "--skip-preview")
	neither("replaced by Pulumi")
	require.Len(t, items(t, dir), 2)

	s.pulumi("refresh", "--yes", "--skip-preview")
	neither("refreshed by Pulumi")
	s.run(0, "refresh", "--yes", "--skip-preview")
	neither("refreshed by yamlhost")

	t.Log("secrets sealed by the one are opened by the other")
	for _, show := range []string{first(s.run(0, "stack", "output", "--json", "--show-secrets")), s.pulumi("stack", "output", "--json", "--show-secrets")} {
		var outputs map[string]any
		require.NoError(t, json.Unmarshal([]byte(show), &outputs))
		require.Equal(t, "borrowed from Ann", outputs["note"])
	}

	t.Log("an export of the one is an import of the other")
	exported := s.pulumi("stack", "export")
	s.write("exported.json", exported)
	s.run(0, "stack", "import", "--file", "exported.json")
	neither("imported by yamlhost")

	s.pulumi("destroy", "--yes", "--skip-preview")
	require.Empty(t, items(t, dir))
	require.Empty(t, s.resources())

	s.pulumi("up", "--yes", "--skip-preview")
	neither("created by Pulumi")
	s.run(0, "destroy", "--yes", "--skip-preview")
	require.Empty(t, items(t, dir))
	require.NoError(t, os.Remove(s.dir+"/exported.json"))
}

func first(stdout, _ string) string { return stdout }
