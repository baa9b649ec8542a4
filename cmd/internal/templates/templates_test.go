package templates

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	testfile.Tree(t, dir, files)
	return dir
}

func paths(files []File) (names []string) {
	for _, f := range files {
		names = append(names, f.Path)
	}
	return names
}

// A folder is read without version control and the settings of its own stacks. Placeholders are filled in texts, not in
// binary files.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"Pulumi.yaml": "name: ${PROJECT}\nruntime: yaml\n", "Pulumi.dev.yaml": "config: {}\n", ".git/config": "x",
		"docs/read.txt": "${PROJECT}: ${DESCRIPTION}", "bytes.bin": "\x00${PROJECT}", "run.sh": "exit 1\n",
	})
	require.NoError(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	tmpl, err := FromFolder(dir, "mine")
	require.NoError(t, err)
	files, err := tmpl.Fill("site", "Words")
	require.NoError(t, err)
	require.Equal(t, []string{"Pulumi.yaml", "bytes.bin", "docs/read.txt", "run.sh", ".gitignore", "yamlhost.lock.json"}, paths(files))
	require.Equal(t, "name: site\ndescription: Words\nruntime: yaml\n", string(files[0].Text))
	require.Equal(t, "\x00${PROJECT}", string(files[1].Text))
	require.Equal(t, "site: Words", string(files[2].Text))
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o755), files[3].Mode)
	}
}

func TestFolderThatIsNoTemplate(t *testing.T) {
	t.Parallel()
	_, err := FromFolder(folder(t, map[string]string{"a.txt": ""}), "mine")
	require.EqualError(t, err, "mine is not a template: it has no Pulumi.yaml")
	_, err = FromFolder(folder(t, map[string]string{"Pulumi.yaml": "template: 1\n"}), "mine")
	var faulty *FaultyError
	require.ErrorAs(t, err, &faulty)
}

// Links inside a template are followed; nothing is read or written through a link that leads out of it.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := func(t *testing.T, target, path string) {
		t.Helper()
		if err := os.Symlink(target, path); err != nil {
			t.Skipf("links cannot be made here: %v", err)
		}
	}
	outside := folder(t, map[string]string{"secret": "hush"})
	project := map[string]string{"Pulumi.yaml": "name: a\n"}
	t.Run("inside", func(t *testing.T) {
		t.Parallel()
		dir := folder(t, project)
		link(t, "Pulumi.yaml", filepath.Join(dir, "also"))
		tmpl, err := FromFolder(dir, "mine")
		require.NoError(t, err)
		require.Equal(t, []string{"Pulumi.yaml", "also"}, paths(tmpl.files))
	})
	t.Run("out, to a file", func(t *testing.T) {
		t.Parallel()
		dir := folder(t, project)
		link(t, filepath.Join(outside, "secret"), filepath.Join(dir, "also"))
		_, err := FromFolder(dir, "mine")
		require.ErrorContains(t, err, "also")
	})
	t.Run("out, to a folder", func(t *testing.T) {
		t.Parallel()
		dir := folder(t, project)
		link(t, outside, filepath.Join(dir, "also"))
		_, err := FromFolder(dir, "mine")
		require.ErrorContains(t, err, "also")
	})
	t.Run("written", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		link(t, outside, filepath.Join(dir, "sub"))
		err := Write(dir, []File{{Path: "first", Mode: 0o644}, {Path: "sub/secret", Text: []byte("other"), Mode: 0o644}},
			true)
		require.ErrorContains(t, err, "sub/secret")
		text := testfile.Text(t, filepath.Join(outside, "secret"))
		require.Equal(t, "hush", text)
		require.NoFileExists(t, filepath.Join(dir, "first")) // nothing is left of what was new
	})
}

func TestWriteReplacesOnlyWhenTold(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a": "old, and longer"})
	files := []File{{Path: "b/c", Text: []byte("c"), Mode: 0o644}, {Path: "a", Text: []byte("new"), Mode: 0o644}}
	require.Error(t, Write(dir, files, false))
	require.NoFileExists(t, filepath.Join(dir, "b", "c"))
	require.NoError(t, Write(dir, files, true))
	text := testfile.Text(t, filepath.Join(dir, "a"))
	require.Equal(t, "new", text)
}

// All conflicts are reported: existing files, and files in the place of folders.
func TestConflicts(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a": "", "b": ""})
	taken, err := Conflicts(dir, []File{{Path: "a"}, {Path: "b/c"}, {Path: "d/e"}})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b/c"}, taken)
	taken, err = Conflicts(filepath.Join(dir, "none"), []File{{Path: "a"}})
	require.NoError(t, err)
	require.Empty(t, taken)
}

// A path is a conflict if and only if no file can be made there, also where the system does not tell a missing folder
// from a file in its place.
func TestConflictsAreWhatWritingRefuses(t *testing.T) {
	t.Parallel()
	parts := rapid.SampledFrom([]string{"a", "b", "c"})
	paths := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(parts, 1, 4).Draw(t, "parts"), "/")
	})
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		for _, path := range rapid.SliceOfN(paths, 0, 6).Draw(rt, "present") {
			at := filepath.Join(dir, filepath.FromSlash(path))
			if os.MkdirAll(filepath.Dir(at), 0o700) != nil {
				continue // below a file
			}
			if rapid.Bool().Draw(rt, "a folder") {
				_ = os.Mkdir(at, 0o700)
			} else if f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
				require.NoError(rt, f.Close())
			}
		}
		into := filepath.Join(dir, filepath.FromSlash(paths.Draw(rt, "project")))
		file := File{Path: paths.Draw(rt, "file"), Mode: 0o600}
		taken, err := Conflicts(into, []File{file})
		require.NoError(rt, err)
		require.Equal(rt, Write(into, []File{file}, false) != nil, len(taken) > 0)
	})
}

func TestNameFor(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{"/a/site": "site", "/a/my site": "my-site", "/a/über": "ber", "/": "project",
		"/a/(x)": "x"} {
		require.Equal(t, want, NameFor(filepath.FromSlash(dir)), dir)
	}
}
