//go:build unix

package patient

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	text, err := ReadFileUpTo(t.Context(), path, 1<<20)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	_, err = ReadFileUpTo(t.Context(), filepath.Join(dir, "none"), 1<<20)
	require.ErrorIs(t, err, os.ErrNotExist)

	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := ReadFileUpTo(ctx, pipe, 1<<20)
		ended <- err
	}()
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	// Unblock the abandoned reader, so that its goroutine ends.
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	require.NoError(t, err)
	require.NoError(t, w.Close())

	pipe = filepath.Join(dir, "another") // the reader that was left behind may still have the first one open
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	go func() {
		if w, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil {
			_, _ = w.WriteString("through a pipe")
			_ = w.Close()
		}
	}()
	text, err = ReadFileUpTo(t.Context(), pipe, 1<<20)
	require.NoError(t, err)
	require.Equal(t, "through a pipe", string(text))
}
