package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

func TestClock(t *testing.T) {
	t.Parallel()
	when := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, fine, clock(when, when.Add(time.Second), when.Add(time.Second)).Grade)
	require.Equal(t, fine, clock(when, when.Add(-time.Minute), when).Grade) // clocks of stores are rounded
	ahead, behind := clock(when, when.Add(-time.Hour), when), clock(when, when.Add(time.Hour), when)
	require.Equal(t, wrong, ahead.Grade)
	require.Contains(t, ahead.Text, "1h00m ahead")
	require.Equal(t, wrong, behind.Grade)
	require.Contains(t, behind.Text, "1h00m behind")
}

func TestPluginWithoutProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := []install.Plugin{{Name: "toy", Version: "1.0.0", Path: dir}}
	found := inspectPlugins(p)
	require.Equal(t, wrong, found[0].Grade)
	require.Contains(t, found[0].Way, "yamlhost plugin rm resource toy 1.0.0")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "PulumiPlugin.yaml"), nil, 0o644))
	require.Equal(t, fine, inspectPlugins(p)[0].Grade)
}

func TestShell(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sh")
	require.Equal(t, note, shellFinding(path).Grade)
	require.NoError(t, os.WriteFile(path, nil, 0o755))
	require.Equal(t, fine, shellFinding(path).Grade)
}
