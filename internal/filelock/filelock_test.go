package filelock

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

const countKey = "FILELOCK_COUNT"

// TestMain runs the test binary as another process, which counts in a file, if countKey is set.
func TestMain(m *testing.M) {
	if path := os.Getenv(countKey); path != "" {
		for range 20 {
			if err := count(path); err != nil {
				panic(err)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// count adds one to the number in a file.
func count(path string) error {
	release, err := Folder(context.Background(), filepath.Dir(path), nil)
	if err != nil {
		return err
	}
	defer release()
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	runtime.Gosched()
	return os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600)
}

func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "n")
	require.NoError(t, os.WriteFile(path, []byte("0"), 0o600))
	var group sync.WaitGroup
	faults := make([]error, 10)
	for i := range faults {
		if i%2 == 0 { // within one process too
			group.Go(func() {
				for range 20 {
					if faults[i] = count(path); faults[i] != nil {
						return
					}
				}
			})
			continue
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), countKey+"="+path)
		group.Go(func() { faults[i] = cmd.Run() })
	}
	group.Wait()
	for _, err := range faults {
		require.NoError(t, err)
	}
	text := testfile.Text(t, path)
	require.Equal(t, "200", text)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "no file stays behind")
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	release, err := Folder(t.Context(), dir, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	_, err = Folder(ctx, link, func() { told++; cancel() }) // the same folder under another name
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, told)
	release()
	release, err = Folder(t.Context(), link, nil)
	require.NoError(t, err)
	release()
	_, err = Folder(t.Context(), "a\x00b", nil)
	require.Error(t, err)
}

// A missing folder has one lock, both for the process that creates it and for those that find it.
func TestFolderThatIsMissing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "yet", "to", "come")
	release, err := Folder(t.Context(), dir, nil)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o700)) // as a process that writes a file there does
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Folder(ctx, dir, cancel)
	require.ErrorIs(t, err, context.Canceled)
	release()
	release, err = Folder(t.Context(), dir, nil)
	require.NoError(t, err)
	release()
}
