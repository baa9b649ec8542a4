//go:build !lean

package queue

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// Check rejects jobs that a worker must not run, whatever somebody writes into the database.
func TestJobsAreChecked(t *testing.T) {
	t.Parallel()
	good := Job{Run: "r", Command: "run", Project: "p", Stack: "dev", Path: "a/b", Source: Source{Archive: digest}}
	require.NoError(t, good.Check())
	for name, change := range map[string]func(*Job){
		"command":   func(j *Job) { j.Command = "stack" },
		"flag":      func(j *Job) { j.Flags = []string{"--config=x=y"} },
		"above":     func(j *Job) { j.Path = "../b" },
		"absolute":  func(j *Job) { j.Path = "/etc" },
		"unclean":   func(j *Job) { j.Path = "a/../b" },
		"stack":     func(j *Job) { j.Stack = "--untrusted=false" },
		"no stack":  func(j *Job) { j.Stack = "" },
		"no source": func(j *Job) { j.Source = Source{} },
		"two":       func(j *Job) { j.Source.Git = "https://example.com/x" },
		"digest":    func(j *Job) { j.Source.Archive = "x" },
		"branch":    func(j *Job) { j.Source = Source{Git: "https://example.com/x", Commit: "main"} },
		"option":    func(j *Job) { j.Source = Source{Git: "--upload-pack=x", Commit: digest[:40]} },
		"token":     func(j *Job) { j.Source = Source{Git: "https://token@example.com/x", Commit: digest[:40]} },
		"password":  func(j *Job) { j.Source = Source{Git: "ssh://a:b@example.com/x", Commit: digest[:40]} },
	} {
		j := good
		change(&j)
		require.Error(t, j.Check(), name)
	}
	git := good
	git.Source = Source{Git: "ssh://git@example.com/x", Commit: digest[:40]}
	require.NoError(t, git.Check())
}

func TestAllowList(t *testing.T) {
	t.Parallel()
	source := func(url string) Source { return Source{Git: url, Commit: digest[:40]} }
	list := []string{"https://example.com/team/", "git@example.com:own/one"}
	require.True(t, Allows(list, source("https://example.com/team/infra")))
	require.True(t, Allows(list, source("https://example.com/team")))
	require.True(t, Allows(list, source("git@example.com:own/one")))
	require.False(t, Allows(list, source("https://example.com/teammate/infra")))
	require.False(t, Allows(list, Source{Archive: digest}))
	require.True(t, Allows([]string{"archive"}, Source{Archive: digest}))
	require.False(t, Allows(nil, Source{Archive: digest}))
}

func TestArchives(t *testing.T) {
	t.Parallel()
	dir, dst := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "run"), []byte("x"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), nil, 0o644))
	var first, second bytes.Buffer
	require.NoError(t, Pack(&first, dir, []string{"a/run", "b"}))
	require.NoError(t, Pack(&second, dir, []string{"a/run", "b"}))
	require.Equal(t, first.Bytes(), second.Bytes())
	require.NoError(t, Unpack(&first, dst))
	text := testfile.Text(t, filepath.Join(dst, "a", "run"))
	require.Equal(t, "x", text)
	info, err := os.Stat(filepath.Join(dst, "a", "run"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode()&0o700)

	require.ErrorContains(t, Unpack(bytes.NewReader(second.Bytes()[:second.Len()/2]), t.TempDir()), "damaged")
	require.ErrorContains(t, Unpack(strings.NewReader("x"), t.TempDir()), "damaged")
	require.Error(t, Pack(&bytes.Buffer{}, dir, []string{"missing"}))
	require.ErrorIs(t, func() error {
		_, err := (&limitedWriter{dst: &bytes.Buffer{}, left: 1}).Write([]byte("ab"))
		return err
	}(), errTooLarge)
}

// Unpack refuses names outside of its folder.
func TestArchivesStayInside(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../x", "/x", "a/../../x"} {
		dir := t.TempDir()
		require.ErrorContains(t, Unpack(archiveOf(t, name), dir), "not a file of a folder", name)
	}
}

// The backoff of a job grows with its failures. Attempts whose worker died do not count.
func TestBackoff(t *testing.T) {
	t.Parallel()
	row := &rivertype.JobRow{Attempt: 1, MaxAttempts: maxAttempts}
	first := failed(row, nil, "x").after
	require.Less(t, first, 3*time.Second)
	row.Errors = make([]rivertype.AttemptError, 7) // seven workers died
	require.Less(t, failed(row, nil, "x").after, 3*time.Second)
	row.Attempt = 2
	require.Greater(t, failed(row, nil, "x").after, 3*time.Second)
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{0: false, 10: false, 12: false, 13: false, 14: true, 15: true, 19: true,
		255: false} {
		require.Equal(t, want, Retry("run", code), "%d", code)
	}
	require.False(t, Retry("preview", 14))
	require.True(t, Retry("preview", 19))
}
