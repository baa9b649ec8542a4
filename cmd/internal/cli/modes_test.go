//go:build unix

package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a run leaves for people and tools may show what the stack holds: event logs, reports and packed schemas are
// readable for the user alone, whatever the umask allows.
func TestWhatARunLeavesIsPrivate(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: modes\nresources:\n  pet: {type: \"docs:index:Rec\"}\n")
	dir := x.world.Dir
	given := filepath.Join(dir, "docs.json")
	require.NoError(t, os.WriteFile(given, []byte(`{"name":"docs","version":"1.0.0","resources":{"docs:index:Rec":{}}}`),
		0o644))
	require.Equal(t, 0, x.run("check", "--schema", given), x.out.String()+x.err.String())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"),
		[]byte("name: modes\nresources:\n  pet: {type: \"random:RandomPet\"}\n"), 0o644))
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview", "--event-log", filepath.Join(dir, "events"), "--out",
		"markdown="+filepath.Join(dir, "report.md")), x.err.String())
	left := []string{filepath.Join(dir, "events"), filepath.Join(dir, "report.md")}
	require.NoError(t, filepath.WalkDir(x.world.Home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			left = append(left, path)
		}
		return err
	}))
	require.Greater(t, len(left), 2, "a packed schema is kept")
	for _, path := range left {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s: %v", path, info.Mode())
	}
}
