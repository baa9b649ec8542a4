package backend

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A probe leaves nothing behind, in a folder and in a store of objects.
func TestProbe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := Open("file://"+dir, Options{})
	require.NoError(t, err)
	written, err := b.Probe()
	require.NoError(t, err)
	require.False(t, written.IsZero())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)

	m := newMemory()
	moment := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	m.now = func() time.Time { return moment }
	written, err = openMemory(t, m, 1).Probe()
	require.NoError(t, err)
	require.Equal(t, moment, written) // the store's clock
	require.Empty(t, m.objects)
}

func TestProbeFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := Open("file://"+dir, Options{})
	require.NoError(t, err)
	require.NoError(t, os.Remove(dir))
	_, err = b.Probe()
	var fault *FileError
	require.True(t, errors.As(err, &fault), err)
	require.Equal(t, "write in", fault.Doing)
	require.NoDirExists(t, dir)
}
