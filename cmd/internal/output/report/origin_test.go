package report

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// The origin of a run has its commit, branch, repository and build, without a password in the remote.
func TestOrigin(t *testing.T) {
	t.Parallel()
	const sum = "0123456789012345678901234567890123456789"
	dir := t.TempDir()
	testfile.Tree(t, dir, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": sum + "\n",
		".git/config": "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = " +
			"https://user:hush@git.example:8443/team/sub/shop.git\n",
		"packed/.git/HEAD":        "ref: refs/heads/dev\n",
		"packed/.git/packed-refs": "# pack-refs\n" + sum + " refs/heads/dev\n",
		"tree/.git":               "gitdir: ../.git/worktrees/tree\n", ".git/worktrees/tree/HEAD": sum + "\n",
		".git/worktrees/tree/commondir": "../..\n",
	})
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a/b"), 0o755))
	none := func(string) string { return "" }
	o := OriginOf(none, filepath.Join(dir, "a/b"))
	require.Equal(t, Origin{{"git.head", sum}, {"git.headName", "refs/heads/main"}, {"vcs.kind", "git.example"},
		{"vcs.owner", "team/sub"}, {"vcs.repo", "shop"}}, o)
	require.Equal(t, sum, OriginOf(none, filepath.Join(dir, "packed")).Get("git.head"))
	require.Equal(t, sum, OriginOf(none, filepath.Join(dir, "tree")).Get("git.head"))
	require.Empty(t, OriginOf(none, t.TempDir()))
	env := map[string]string{"GITLAB_CI": "true", "CI_PIPELINE_ID": "9", "CI_JOB_URL": "https://git.example/9",
		"CI_COMMIT_SHA": sum}
	o = OriginOf(func(name string) string { return env[name] }, t.TempDir())
	require.Equal(t, "GitLab CI/CD", o.Get("ci.system"))
	require.Equal(t, sum, o.Get("git.head"))
	for text, want := range map[string]string{"git@github.com:o/r.git": "github.com",
		"ssh://git@host.example/o/r": "host.example"} {
		m := regexp.MustCompile(remoteParts).FindStringSubmatch(text)
		require.NotNil(t, m, text)
		require.Equal(t, want, m[1])
	}
}
