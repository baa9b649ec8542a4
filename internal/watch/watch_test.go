package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/watch"
)

// Changed, new and removed files are noticed, but not in folders that programs do not read.
func TestChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) { testfile.Write(t, filepath.Join(dir, name), text) }
	write("Pulumi.yaml", "name: a\n")
	write("parts/one.yaml", "one\n")
	before := watch.Take([]string{dir})
	require.Empty(t, before.Changes(watch.Take([]string{dir})))

	write("Pulumi.yaml", "name: abc\n")
	write("parts/two.yaml", "two\n")
	write(".git/index", "x")
	write("node_modules/a/b.js", "x")
	require.NoError(t, os.Remove(filepath.Join(dir, "parts/one.yaml")))
	changed, now, err := watch.Wait(t.Context(), []string{dir}, before)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "Pulumi.yaml"), filepath.Join(dir, "parts/one.yaml"),
		filepath.Join(dir, "parts/two.yaml")}, changed)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = watch.Wait(ctx, []string{dir}, now)
	require.ErrorIs(t, err, context.Canceled)
}
