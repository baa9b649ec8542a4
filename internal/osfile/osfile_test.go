package osfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// insist ends with the first result that does not pass by itself, and with the last one once its time is over.
func TestInsist(t *testing.T) {
	t.Parallel()
	passes, stays := errors.New("passes"), errors.New("stays")
	passing := func(err error) bool { return errors.Is(err, passes) }
	for name, c := range map[string]struct {
		end      error
		hindered time.Duration
		want     error
	}{
		"at once":       {nil, 0, nil},
		"refused":       {stays, 0, stays},
		"soon":          {nil, time.Second, nil},
		"soon, refused": {stays, time.Second, stays},
		"too late":      {nil, 3 * time.Second, passes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				err := insist(patience, passing, func() error {
					if calls++; time.Since(began) < c.hindered {
						return passes
					}
					return c.end
				})
				require.Equal(t, c.want, err)
				require.LessOrEqual(t, time.Since(began), patience)
				require.Less(t, calls, 40)
			})
		})
	}
}

// Files are opened, renamed and removed as package os does it.
func TestFilesAreThoseOfPackageOS(t *testing.T) {
	t.Parallel()
	flags := rapid.SampledFrom([]int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND,
		os.O_CREATE | os.O_WRONLY, os.O_CREATE | os.O_RDWR, os.O_CREATE | os.O_EXCL | os.O_WRONLY,
		os.O_CREATE | os.O_TRUNC | os.O_WRONLY, os.O_CREATE | os.O_APPEND | os.O_WRONLY})
	type calls struct {
		open   func(string, int, fs.FileMode) (*os.File, error)
		read   func(string) ([]byte, error)
		rename func(from, to string) error
		remove func(string) error
		all    func(string) error
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		names := rapid.SampledFrom([]string{"a", "b", "folder", "folder/c", "a/below", "missing/d", "empty"})
		present := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "folder/c"}), 0, 3).Draw(rt, "present")
		do := rapid.SampledFrom([]string{"open", "read", "rename", "remove", "all"}).Draw(rt, "do")
		name, other, flag := names.Draw(rt, "name"), names.Draw(rt, "other"), flags.Draw(rt, "flag")
		text := rapid.String().Draw(rt, "text")
		// after is what a call returned, and the files that it left.
		after := func(dir string, c calls) (kind string, left map[string]string) {
			require.NoError(rt, os.MkdirAll(filepath.Join(dir, "folder"), 0o700))
			require.NoError(rt, os.MkdirAll(filepath.Join(dir, "empty"), 0o700))
			for _, p := range present {
				require.NoError(rt, os.WriteFile(filepath.Join(dir, filepath.FromSlash(p)), []byte("old text of "+p), 0o600))
			}
			at, to := filepath.Join(dir, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(other))
			var err error
			switch do {
			case "open":
				var f *os.File
				info, missing := os.Stat(at)
				if missing == nil && info.IsDir() {
					break // OpenFile opens no folders
				}
				if f, err = c.open(at, flag, 0o600); err == nil {
					_, _ = f.Write([]byte(text)) // not for reading only
					require.NoError(rt, f.Close())
				}
			case "read":
				var data []byte
				data, err = c.read(at)
				kind = string(data)
			case "rename":
				err = c.rename(at, to)
			case "remove":
				err = c.remove(at)
			case "all":
				err = c.all(at)
			}
			left = map[string]string{}
			require.NoError(rt, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					left[strings.TrimPrefix(path, dir)] = "folder"
					return err
				}
				data, err := os.ReadFile(path)
				left[strings.TrimPrefix(path, dir)] = string(data)
				return err
			}))
			switch {
			case runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(1)): // Wine lacks a call of os.RemoveAll
				return "impossible", left
			case err == nil:
				return kind + " done", left
			case IsAbsent(err):
				return "absent", left
			case errors.Is(err, fs.ErrExist):
				return "exists", left
			}
			return "refused", left
		}
		wantKind, want := after(filepath.Join(dir, "os"), calls{os.OpenFile, os.ReadFile, os.Rename, os.Remove, os.RemoveAll})
		if wantKind == "impossible" {
			return
		}
		gotKind, got := after(filepath.Join(dir, "osfile"), calls{OpenFile, ReadFile, Rename, Remove, RemoveAll})
		require.Equal(rt, wantKind, gotKind)
		require.Equal(rt, want, got)
	})
}
