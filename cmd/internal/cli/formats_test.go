package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files of a newer release are refused with one error, and nothing is done. A plan without a format version, from an
// older release, is applied. Tests for journals are in runtime/journal.
func TestFilesOfOtherReleases(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	put := func(name string, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, name), text, 0o600))
	}
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("preview", "--save-plan", "plan.json"), x.err.String())
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "plan.json"))
	require.NoError(t, err)
	const format = `"format": 1,`
	require.Contains(t, string(text), format)

	put("newer.json", bytes.Replace(text, []byte(format), []byte(`"format": 2,`), 1))
	for _, args := range [][]string{{"up", "--yes", "--plan", "newer.json"}, {"plan", "show", "newer.json"}} {
		require.NotZero(t, x.run(args...))
		require.Contains(t, x.err.String(), "newer.json was written by a newer version of yamlhost: its format is 2, and this "+
			"program knows 1", args)
	}
	require.Equal(t, 0, x.run("stack"), x.err.String())
	require.NotContains(t, x.out.String(), "RandomPet", "nothing was done")

	for lock, want := range map[string]string{
		`{"version": 2, "plugins": [{"name": "a", "size": 1}]}`: "was written by a newer version of yamlhost: its format is 2",
		`{"plugins": []}`: "does not say the version of its format",
	} {
		put("yamlhost.lock.json", []byte(lock))
		require.NotZero(t, x.run("plugin", "install"), lock)
		require.Contains(t, x.err.String(), want)
		kept, err := os.ReadFile(filepath.Join(x.world.Dir, "yamlhost.lock.json"))
		require.NoError(t, err)
		require.Equal(t, lock, string(kept))
	}
	require.NoError(t, os.Remove(filepath.Join(x.world.Dir, "yamlhost.lock.json")))

	put("older.json", bytes.Replace(text, []byte(format), nil, 1))
	require.Equal(t, 0, x.run("up", "--yes", "--plan", "older.json"), x.err.String())
	require.Contains(t, x.err.String(), "created")
}
