package git

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParsePackage(t *testing.T) { // F2.36
	t.Parallel()
	const hash = "dbda5bcfeb92a8c24acc9e67c27cf2a7f8673240"
	for _, c := range []struct{ source, version, repository, folder, want, name, url string }{
		{"github.com/org/repo", "v1.2", "https://github.com/org/repo.git", "", "1.2.0", "github.com_org_repo.git",
			"git://github.com/org/repo.git"},
		{"https://github.com/org/repo/a/b/", hash, "https://github.com/org/repo.git", "a/b", "0.0.0-x" + hash,
			"github.com_org_repo.git_a_b", "git://github.com/org/repo.git/a/b"},
		{"git://gitlab.com/org/team/repo.git/a", "", "https://gitlab.com/org/team/repo.git", "a", "",
			"gitlab.com_org_team_repo.git_a", "git://gitlab.com/org/team/repo.git/a"},
	} {
		require.True(t, IsPackage(c.source))
		p, err := ParsePackage(c.source, c.version)
		require.NoError(t, err)
		require.Equal(t, Package{Repository: c.repository, Folder: c.folder, Version: c.want}, p)
		require.Equal(t, []string{c.name, c.url}, []string{p.Name(), p.URL()})
		again, err := ParsePackage(p.URL(), c.version)
		require.NoError(t, err)
		require.Equal(t, p, again)
	}
	for _, source := range []string{"aws", "./greet", "../greet", "/greet", "org/name", "random@1.2.3"} {
		require.False(t, IsPackage(source), source)
	}
	for _, source := range []string{"github.com/org", "ssh://github.com/org/repo", "https://a:b@github.com/org/repo",
		"github.com/org/repo/../../x"} {
		_, err := ParsePackage(source, "")
		require.Error(t, err, source)
	}
	_, err := ParsePackage("github.com/org/repo", "dbda5bc")
	require.ErrorContains(t, err, "whole hash")
}
