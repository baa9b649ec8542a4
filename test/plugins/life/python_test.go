package life

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDynamicResourcesOfPython takes a dynamic resource of Pulumi's Python SDK through its life with a provider that
// answers like the SDK's: each call contains the code, the configuration is complete, and the code stays secret.
func TestDynamicResourcesOfPython(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	plugins := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(plugins, "pulumi-resource-pulumi-python"), "./pythondynamic")
	build.Dir = ".."
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))
	log := filepath.Join(plugins, "log")
	s.env = append(s.env, "PATH="+plugins+":/usr/bin:/bin", "PYTHON_DYNAMIC_LOG="+log)
	program := func(text string) {
		s.write("Pulumi.yaml", `name: py
runtime: yaml
resources:
  note:
    type: pulumi-python:dynamic:Resource
    properties:
      __provider: {fn::secret: gASVpickled}
      text: `+text+"\noutputs: {text: \"${note.text}\"}\n")
	}
	calls := func() []string {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		require.NoError(t, os.Remove(log))
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	program("one")
	s.run(0, "stack", "init", "dev")
	s.run(0, "config", "set", "color", "blue")
	s.run(0, "preview")
	require.Equal(t, []string{"check gASVpickled blue"}, calls(), "a preview creates nothing")
	s.run(0, "up", "--yes", "--skip-preview")
	require.Equal(t, []string{"check gASVpickled blue", "create gASVpickled blue"}, calls())
	s.run(0, "up", "--yes", "--skip-preview", "--expect-no-changes")
	calls()
	program("two")
	s.run(0, "up", "--yes", "--skip-preview")
	require.Contains(t, calls(), "update gASVpickled blue")
	require.Equal(t, map[string]any{"text": "two"}, s.outputs())
	s.run(0, "refresh", "--yes", "--skip-preview")
	require.Equal(t, []string{"read gASVpickled blue", "diff gASVpickled blue"}, calls())
	state, _ := s.run(0, "stack", "export")
	require.NotContains(t, state, "gASVpickled", "the code is sealed")
	s.run(0, "destroy", "--yes", "--skip-preview")
	require.Equal(t, []string{"delete gASVpickled blue"}, calls())
}
