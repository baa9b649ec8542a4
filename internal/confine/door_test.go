//go:build unix

package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// A confined door gives the content of exactly those files that lie in its folder once all links are followed, whatever
// the links look like and however the path is written. The operating system's own resolution is the oracle.
func TestDoorOpensWhatLiesInside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(rt, err)
		root := filepath.Join(dir, "root")
		names := []string{"a", "b", "s/a", "s/b", "s/t/a"}
		require.NoError(rt, os.MkdirAll(filepath.Join(root, "s", "t"), 0o700))
		require.NoError(rt, os.MkdirAll(filepath.Join(dir, "rooted"), 0o700)) // its name begins like the folder's
		for _, path := range []string{"canary", "rooted/canary", "root/inside", "root/s/inside"} {
			require.NoError(rt, os.WriteFile(filepath.Join(dir, path), []byte(path), 0o600))
		}
		targets := rapid.SampledFrom([]string{"inside", "../inside", "s/inside", "canary", "../canary", "../../canary",
			"../rooted/canary", "a", "b", "s", "s/a", "s/b", "t/a", "..", "../..", ".", "none", "/", "/proc/self/environ",
			dir, root, filepath.Join(dir, "canary"), filepath.Join(root, "inside"), filepath.Join(root, "s")})
		for _, name := range names {
			if rapid.Bool().Draw(rt, "is a link") {
				require.NoError(rt, os.Symlink(targets.Draw(rt, "target of "+name), filepath.Join(root, name)))
			}
		}
		path := rapid.SampledFrom(append(names, "..", ".", "../canary", "../rooted/canary", "s/../inside", "a/inside",
			"a/s/inside", "s/a/inside", "a/canary", "s/b/canary", "b/../canary", "a/b/a")).Draw(rt, "path")
		path = root + "/" + path // with its dots

		real, err := filepath.EvalSymlinks(path)
		lexical := Within(root, path)
		realRoot, rootErr := filepath.EvalSymlinks(root)
		require.NoError(rt, rootErr)
		info, statErr := os.Stat(path)
		inside := err == nil && statErr == nil && lexical && Within(realRoot, real) && info.Mode().IsRegular()

		got, err := Door{Folder: root}.ReadFile(rt.Context(), path)
		require.Equal(rt, inside, err == nil, "%s: %v", path, err)
		require.NotContains(rt, string(got), "canary")
		if inside {
			want := testfile.Text(rt, path)
			require.Equal(rt, want, string(got))
		}
		_, err = Door{Folder: root}.Stat(path)
		require.Equal(rt, lexical && statErr == nil && Within(realRoot, real), err == nil, "stat %s: %v", path, err)
	})
}

// A link that is exchanged between the check and the opening leads nowhere: os.Root opens.
func TestDoorWithAChangingLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	require.NoError(t, os.Mkdir(root, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "canary"), []byte("canary"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "own"), []byte("own"), 0o600))
	link := filepath.Join(root, "link")
	require.NoError(t, os.Symlink("own", link))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			next := filepath.Join(root, "next")
			if err := os.Symlink([]string{"../canary", "own"}[i%2], next); err != nil {
				ended <- err
				return
			}
			if err := os.Rename(next, link); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for range 2000 {
		text, err := Door{Folder: root}.ReadFile(t.Context(), link)
		if err == nil {
			require.Equal(t, "own", string(text))
		}
	}
	stop()
	require.NoError(t, <-ended)
}

// A door without a folder finds what filepath.Glob and filepath.WalkDir find; one with a folder never tells the names that
// lie outside, also while a link changes.
func TestDoorFindsWhatLiesInside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(rt, err)
		name := rapid.SampledFrom([]string{"root", "[root]", "r*t", `r\oot`, "[", "r?"}).Draw(rt, "name")
		root := filepath.Join(dir, name)
		require.NoError(rt, os.MkdirAll(filepath.Join(root, "s", "t"), 0o700))
		require.NoError(rt, os.Mkdir(filepath.Join(dir, "beside"), 0o700))
		for _, path := range []string{"../beside/canary.y", "a.y", "s/b.y", "s/t/c.y", "d.z"} {
			require.NoError(rt, os.WriteFile(filepath.Join(root, path), nil, 0o600))
		}
		for _, name := range []string{"l", "s/l", "m.y"} {
			if rapid.Bool().Draw(rt, "is a link") {
				require.NoError(rt, os.Symlink(rapid.SampledFrom([]string{"..", "../beside", "../../beside", "s", "t", "a.y", "none",
					dir, filepath.Join(dir, "beside"), filepath.Join(root, "s")}).Draw(rt, "target"), filepath.Join(root, name)))
			}
		}
		pattern := filepath.FromSlash(rapid.SampledFrom([]string{"*", "*.y", "*/*", "*/*.y", "s/*", "l/*.y", "*/t/*.y",
			"s/l/*.y", "?.y", "s/[a-c].y", "a.y", "none", "l/*/*", "../beside/*.y"}).Draw(rt, "pattern"))
		literal := regexp.MustCompile(`[][*?\\]`).ReplaceAllString(root, `\$0`)
		want := testfile.Match(rt, filepath.Join(literal, pattern))
		got, err := Anywhere().Glob(root, pattern)
		require.NoError(rt, err)
		require.ElementsMatch(rt, want, got)
		if name == "root" {
			got, err = Anywhere().Glob("elsewhere", filepath.Join(root, pattern))
			require.NoError(rt, err)
			require.ElementsMatch(rt, want, got)
		}
		got, err = Door{Folder: root}.Glob(root, pattern)
		if err == nil {
			require.ElementsMatch(rt, want, got)
		} else {
			require.ErrorIs(rt, err, ErrOutside)
		}
		for _, path := range got {
			require.NoError(rt, Path(root, path))
		}
		for _, below := range []string{"", "s", "l", "m.y", "none"} {
			walk := func(door Door) (paths []string) {
				err := door.WalkDir(filepath.Join(root, below), func(path string, d fs.DirEntry, err error) error {
					paths = append(paths, fmt.Sprint(path, d != nil && d.IsDir(), err != nil))
					return nil
				})
				if err != nil {
					return []string{err.Error()}
				}
				return paths
			}
			if all := walk(Anywhere()); Path(root, filepath.Join(root, below)) == nil {
				require.Equal(rt, all, walk(Door{Folder: root}))
			}
		}
	})
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "own", "deep"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "beside", "deep", "canary"), 0o700))
	link := filepath.Join(root, "link")
	require.NoError(t, os.Symlink("own", link))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ctx.Err() == nil; i++ {
			next := filepath.Join(root, "next")
			_ = os.Symlink([]string{"../beside", "own"}[i%2], next)
			_ = os.Rename(next, link)
		}
	}()
	for range 500 {
		found, _ := Door{Folder: root}.Glob(link, filepath.Join("*", "*"))
		require.Empty(t, found)
		_ = Door{Folder: root}.WalkDir(filepath.Join(link, "deep"), func(path string, _ fs.DirEntry, _ error) error {
			require.NotContains(t, path, "canary")
			return nil
		})
	}
	stop()
	<-ended
}

// No door opens a device, a pipe, a socket or what tells about a process, or reads more than its limit.
func TestDoorRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, file, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.WriteFile(file, []byte("12345"), 0o600))
	require.NoError(t, os.Symlink("/dev/zero", link))
	for _, folder := range []string{"", dir} {
		door := Door{Folder: folder, Limit: 4}
		_, err := door.ReadFile(t.Context(), pipe)
		require.ErrorIs(t, err, ErrNoFile)
		_, err = door.Open(pipe)
		require.ErrorIs(t, err, ErrNoFile)
		_, err = door.ReadFile(t.Context(), file)
		var size *SizeError
		require.ErrorAs(t, err, &size)
		_, err = door.ReadFile(t.Context(), link)
		if folder == "" {
			require.ErrorIs(t, err, ErrNoFile)
		} else {
			require.ErrorIs(t, err, ErrOutside)
		}
		_, err = door.ReadFile(t.Context(), filepath.Join(dir, "none"))
		require.ErrorIs(t, err, fs.ErrNotExist)
		door.Limit = 5
		text, err := door.ReadFile(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, "12345", string(text))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = door.ReadFile(ctx, file)
		require.ErrorIs(t, err, context.Canceled)
	}
	// A file that tells a size of 0 is read to its end, and no further than the limit.
	_, err := read(t.Context(), strings.NewReader(strings.Repeat("x", 5000)), "", 0, 4096)
	var size *SizeError
	require.ErrorAs(t, err, &size)
	text, err := read(t.Context(), strings.NewReader(strings.Repeat("x", 4096)), "", 0, 4096)
	require.NoError(t, err)
	require.Len(t, text, 4096)
}

func TestDoorHidesProcesses(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("there is no /proc here")
	}
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/proc/self/environ", filepath.Join(dir, "link")))
	for _, path := range []string{"/proc/self/environ", "/proc/thread-self/environ", "/proc/self/cmdline",
		fmt.Sprintf("/proc/%d/environ", os.Getpid()), "/proc/self/root/proc/self/environ",
		fmt.Sprintf("/proc/self/task/%d/environ", os.Getpid()), filepath.Join(dir, "link")} {
		_, err := Door{}.ReadFile(t.Context(), path)
		require.ErrorIs(t, err, ErrProcess, path)
	}
	if _, err := (Door{}).ReadFile(t.Context(), "/proc/sys/kernel/ostype"); err != nil {
		require.True(t, errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission), err)
	}
}
