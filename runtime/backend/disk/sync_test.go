package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// A file can be synced repeatedly. Sync returns an error if it fails.
func TestSyncAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	f, err := Real{}.Create(path)
	require.NoError(t, err)
	for range 3 {
		_, err = f.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, f.Sync())
	}
	text := testfile.Text(t, path)
	require.Equal(t, "xxx", text)
	require.NoError(t, f.Close())
	require.Error(t, f.Sync())

	_, err = Real{}.Create(filepath.Join(path, "below a file"))
	require.Error(t, err)

	read, write, err := os.Pipe() // a pipe has no disk
	require.NoError(t, err)
	t.Cleanup(func() { _ = errors.Join(read.Close(), write.Close()) })
	require.Error(t, (&file{File: write, synced: true}).Sync())
}
