package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// repository returns a folder under git, and the environment for it. Its filters and its remote would leave a mark if
// git ran them.
func repository(t *testing.T) (dir string, env []string, mark string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("this needs git and a shell")
	}
	dir, mark = t.TempDir(), filepath.Join(t.TempDir(), "mark")
	env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	must(t, dir, env, "init", "--quiet")
	return dir, env, mark
}

func must(t require.TestingT, dir string, env []string, args ...string) string {
	said, err := Run(context.Background(), dir, env, args...)
	require.NoError(t, err)
	return said
}

// Over random edits of a file, a line has the commit that git's own blame names, or is not committed.
func TestLastChange(t *testing.T) {
	t.Parallel()
	dir, env, _ := repository(t)
	file, round := filepath.Join(dir, "sub", "Pulumi.yaml"), 0
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
	rapid.Check(t, func(t *rapid.T) {
		lines, next := []string{}, 0
		for range rapid.IntRange(1, 4).Draw(t, "commits") {
			lines = edited(t, lines, &next)
			round++
			require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf("# %d\n", round)+strings.Join(lines, "\n")+"\n"), 0o644))
			must(t, dir, env, "add", "--all")
			must(t, dir, env, "commit", "--quiet", "-m", fmt.Sprintf("round %d", round))
		}
		head := lines
		lines = edited(t, lines, &next)
		require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf("# %d\n", round)+strings.Join(lines, "\n")+"\n"), 0o644))
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
		c, known := LastChange(context.Background(), env, file, at+2)
		require.True(t, known)
		blamed := must(t, dir, env, "blame", "--porcelain", "-L", fmt.Sprintf("%d,+1", at+2), "--", "sub/Pulumi.yaml")
		id, _, _ := strings.Cut(blamed, " ")
		switch {
		case c.ID == "" && strings.Trim(id, "0") != "": // between two changes
			require.NotEqual(t, head, lines)
		case c.ID == "":
			require.Empty(t, strings.Trim(id, "0"))
		default:
			require.Equal(t, id, c.ID)
			require.Contains(t, blamed, "summary "+c.Subject+"\n")
		}
	})
}

// edited returns lines with some of them changed, added or removed. Each line has a text of its own.
func edited(t *rapid.T, lines []string, next *int) (list []string) {
	fresh := func() string {
		*next++
		return fmt.Sprint("line ", *next)
	}
	for _, line := range lines {
		switch rapid.IntRange(0, 5).Draw(t, "edit") {
		case 0:
			line = fresh()
		case 1:
			list = append(list, fresh())
		case 2:
			continue
		}
		list = append(list, line)
	}
	return append(list, fresh())
}

// A file that is not tracked, or in no repository, has no commits; a shallow copy does not know those of old lines. No
// program of the repository runs, and nothing is fetched.
func TestLastChangeUnknown(t *testing.T) {
	t.Parallel()
	dir, env, mark := repository(t)
	file := filepath.Join(dir, "Pulumi.yaml")
	require.NoError(t, os.WriteFile(file, []byte("a\n"), 0o644))
	_, known := LastChange(context.Background(), env, file, 1)
	require.False(t, known, "no commit")
	must(t, dir, env, "add", "--all")
	must(t, dir, env, "commit", "--quiet", "-m", "one")
	require.NoError(t, os.WriteFile(file, []byte("a\nb\n"), 0o644))
	must(t, dir, env, "commit", "--quiet", "-am", "two")

	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\ntouch "+mark+"\ncat\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte("* filter=x diff=x\n"), 0o644))
	for _, key := range []string{"filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv",
		"core.sshCommand", "core.fsmonitor", "core.pager", "diff.external", "gpg.program"} {
		must(t, dir, env, "config", key, script)
	}
	require.NoError(t, os.WriteFile(file, []byte("a\nb\nc\n"), 0o644))
	for line, subject := range []string{"one", "two", ""} {
		c, known := LastChange(context.Background(), env, file, line+1)
		require.True(t, known)
		require.Equal(t, subject, c.Subject)
	}
	require.NoFileExists(t, mark)

	shallow := filepath.Join(t.TempDir(), "shallow")
	must(t, dir, env, "clone", "--quiet", "--depth=1", "file://"+filepath.ToSlash(dir), shallow)
	_, known = LastChange(context.Background(), env, filepath.Join(shallow, "Pulumi.yaml"), 1)
	require.False(t, known, "shallow")
	other := filepath.Join(t.TempDir(), "x.yaml")
	require.NoError(t, os.WriteFile(other, []byte("a\n"), 0o644))
	_, known = LastChange(context.Background(), env, other, 1)
	require.False(t, known, "no repository")
}
