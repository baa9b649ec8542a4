//go:build !lean

package queue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// newCopies returns a pool whose sources have two files, a folder and a link. fetched counts the calls of fetch.
func newCopies(t *testing.T, most int) (c *copies, fetched *int) {
	fetched = new(int)
	var mu sync.Mutex
	c = &copies{folder: t.TempDir(), most: most, fetch: func(_ context.Context, s Source, dir string) error {
		mu.Lock()
		defer mu.Unlock()
		*fetched++
		return errors.Join(os.Mkdir(filepath.Join(dir, "web"), 0o755), os.Symlink("a", filepath.Join(dir, "link")),
			os.WriteFile(filepath.Join(dir, "a"), []byte(s.Archive), 0o600),
			os.WriteFile(filepath.Join(dir, "web", "b"), []byte("text"), 0o600))
	}}
	return c, fetched
}

// A job finds unchanged files, whatever the previous job has done to them.
func TestCopiesAreAsTheyWere(t *testing.T) {
	t.Parallel()
	pathIn := func(x *copied, name string) string { return filepath.Join(x.dir, filepath.FromSlash(name)) }
	for name, damage := range map[string]func(x *copied) error{
		"nothing":   func(*copied) error { return nil },
		"new file":  func(x *copied) error { return os.WriteFile(pathIn(x, "web/c"), nil, 0o600) },
		"new files": func(x *copied) error { return os.MkdirAll(pathIn(x, "web/d/e"), 0o700) },
		"same size": func(x *copied) error { return os.WriteFile(pathIn(x, "web/b"), []byte("TEXT"), 0o600) },
		"longer":    func(x *copied) error { return os.WriteFile(pathIn(x, "web/b"), []byte("text too"), 0o600) },
		"mode":      func(x *copied) error { return os.Chmod(pathIn(x, "web/b"), 0o700) },
		"removed":   func(x *copied) error { return os.Remove(pathIn(x, "web/b")) },
		"folder":    func(x *copied) error { return os.RemoveAll(pathIn(x, "web")) },
		"all":       func(x *copied) error { return os.RemoveAll(x.dir) },
		"moved":     func(x *copied) error { return os.Rename(pathIn(x, "web/b"), pathIn(x, "b")) },
		"link": func(x *copied) error {
			return errors.Join(os.Remove(pathIn(x, "link")), os.Symlink("web/b", pathIn(x, "link")))
		},
		"through the link": func(x *copied) error { return os.WriteFile(pathIn(x, "link"), []byte("TWO"), 0o600) },
		"link for file": func(x *copied) error {
			return errors.Join(os.Rename(pathIn(x, "web/b"), pathIn(x, "c")), os.Symlink("../c", pathIn(x, "web/b")))
		},
	} {
		c, fetched := newCopies(t, 1)
		first, err := c.take(t.Context(), Source{Archive: "one"})
		require.NoError(t, err)
		require.NoError(t, damage(first), name)
		c.give(first)
		second, err := c.take(t.Context(), Source{Archive: "one"})
		require.NoError(t, err)
		var found []string
		for _, pattern := range []string{"*", "*/*", "*/*/*"} {
			names := testfile.Match(t, pathIn(second, pattern))
			for _, path := range names {
				relative, err := filepath.Rel(second.dir, path)
				require.NoError(t, err)
				found = append(found, filepath.ToSlash(relative))
			}
		}
		require.Equal(t, []string{"a", "link", "web", "web/b"}, found, name)
		for file, text := range map[string]string{"a": "one", "link": "one", "web/b": "text"} {
			now := testfile.Text(t, pathIn(second, file))
			require.Equal(t, text, now, "%s: %s", name, file)
		}
		switch name {
		case "nothing", "new file", "new files":
			require.Equal(t, 1, *fetched, name)
		default:
			require.Equal(t, 2, *fetched, name)
		}
		c.give(second)
		left, err := os.ReadDir(c.folder)
		require.NoError(t, err)
		require.Len(t, left, 1, name)
	}
}

// Concurrent jobs have separate folders. There are no more folders than concurrent jobs: idle folders of other sources
// are removed first, beginning with the oldest.
func TestCopiesAreBounded(t *testing.T) {
	t.Parallel()
	c, fetched := newCopies(t, 2)
	take := func(archive string) *copied {
		x, err := c.take(t.Context(), Source{Archive: archive})
		require.NoError(t, err)
		folders, err := os.ReadDir(c.folder)
		require.NoError(t, err)
		require.LessOrEqual(t, len(folders), 2)
		return x
	}
	one, two := take("one"), take("one")
	require.NotEqual(t, one.dir, two.dir)
	c.give(one)
	c.give(two)
	three := take("three")
	require.NoDirExists(t, one.dir)
	require.DirExists(t, two.dir)
	require.Same(t, two, take("one"))
	require.Equal(t, 3, *fetched)
	c.give(three)
	c.give(two)
	c.fetch = func(context.Context, Source, string) error { return errTooLarge }
	_, err := c.take(t.Context(), Source{Archive: "four"})
	require.ErrorIs(t, err, errTooLarge)
	require.Zero(t, c.inUse)
}

// A new worker removes the folders of dead workers, and no others.
func TestFoldersOfTheDead(t *testing.T) {
	t.Parallel()
	input := t.TempDir()
	living, release, err := ownFolder(input)
	require.NoError(t, err)
	dead, begun, other := filepath.Join(input, workerPrefix+"1"), filepath.Join(input, workerPrefix+"2"),
		filepath.Join(input, "x")
	require.NoError(t, os.MkdirAll(filepath.Join(dead, "job-1", "web"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dead, lockName), nil, 0o600))
	require.NoError(t, os.Mkdir(begun, 0o700)) // of a worker without a lock yet
	require.NoError(t, os.Mkdir(other, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(other, lockName), nil, 0o600))
	require.NoError(t, os.Symlink(other, filepath.Join(input, workerPrefix+"3")))
	next, releaseNext, err := ownFolder(input)
	require.NoError(t, err)
	for _, dir := range []string{living, begun, other, next} {
		require.DirExists(t, dir)
	}
	require.NoDirExists(t, dead)
	require.NoError(t, release())
	require.NoError(t, releaseNext())
	require.NoDirExists(t, living)
	require.NoDirExists(t, next)
}
