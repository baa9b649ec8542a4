package templates

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseRepository(t *testing.T) {
	for text, want := range map[string]Repository{
		"https://example.com/team/t.git":                   {URL: "https://example.com/team/t.git"},
		"https://example.com/team/t.git?ref=v2":            {URL: "https://example.com/team/t.git", Ref: "v2"},
		"https://example.com/team/t.git//web/x?ref=v2":     {URL: "https://example.com/team/t.git", Ref: "v2", Folder: "web/x"},
		"https://github.com/team/t/tree/main/web":          {URL: "https://github.com/team/t", Ref: "main", Folder: "web"},
		"https://github.com/team/t/tree/main":              {URL: "https://github.com/team/t", Ref: "main"},
		"https://gitlab.com/a/b/t/-/tree/main/web/x/":      {URL: "https://gitlab.com/a/b/t", Ref: "main", Folder: "web/x"},
		"git@example.com:team/t.git//web?ref=feature/new":  {URL: "git@example.com:team/t.git", Ref: "feature/new", Folder: "web"},
		"ssh://git@example.com:22/t.git?ref=0123456789abc": {URL: "ssh://git@example.com:22/t.git", Ref: "0123456789abc"},
		"file:///srv/t.git//web":                           {URL: "file:///srv/t.git", Folder: "web"},
	} {
		got, ok, err := ParseRepository(text)
		require.NoError(t, err, text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"hello", "./folder", "../a//b", "/srv/t", `C:\templates`, "a/b@c:d"} {
		_, ok, err := ParseRepository(text)
		require.NoError(t, err)
		require.False(t, ok, text)
	}
	for text, want := range map[string]string{
		"http://example.com/t.git":                     "use https",
		"git://example.com/t.git":                      "not by git",
		"ext::sh -c whoami://x":                        "not by ext",
		"https:///t.git":                               "names no host",
		"ssh://-oProxyCommand=x/t":                     "names no host",
		"https://example.com/t.git?ref=--upload-pack":  "not a branch",
		"https://example.com/t.git?ref=a..b":           "not a branch",
		"https://example.com/t.git?ref=a:b":            "not a branch",
		"https://example.com/t.git//../etc":            "not a folder",
		"git@example.com:t.git//a/../../b":             "not a folder",
		"https://example.com/t.git//%2e%2e/etc?ref=v1": "not a folder",
	} {
		_, ok, err := ParseRepository(text)
		require.True(t, ok, text)
		require.ErrorContains(t, err, want, text)
	}
}

// origin creates a repository with two commits: one template at the tag v1, and a later one on the branch.
func origin(t *testing.T) string {
	t.Helper()
	dir := folder(t, map[string]string{
		"web/Pulumi.yaml": "name: ${PROJECT}\nruntime: yaml\ntemplate: {description: The first}\n",
		"web/start.sh":    "#!/bin/sh\n",
	})
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	git("init", "--quiet", "--initial-branch=main")
	git("add", ".")
	git("commit", "--quiet", "-m", "one")
	git("tag", "v1")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "web", "Pulumi.yaml"),
		[]byte("name: ${PROJECT}\nruntime: yaml\ntemplate: {description: The second}\n"), 0o644))
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "out")))
	git("add", ".")
	git("commit", "--quiet", "-m", "two")
	return "file://" + filepath.ToSlash(dir)
}

func TestRepository(t *testing.T) {
	url := origin(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	fetch := func(text string) (*Template, error) {
		r, ok, err := ParseRepository(text)
		require.NoError(t, err)
		require.True(t, ok)
		return FromRepository(t.Context(), r, text, os.Environ())
	}
	made, err := fetch(url + "//web")
	require.NoError(t, err)
	require.Equal(t, "The second", made.Description)
	require.Equal(t, []string{"Pulumi.yaml", "start.sh"}, paths(made.files))

	made, err = fetch(url + "//web?ref=v1")
	require.NoError(t, err)
	require.Equal(t, "The first", made.Description)

	for text, want := range map[string]string{
		url + "//web?ref=v3": "v3",
		url + "//site":       "the repository has no folder site",
		url + "//out":        "the repository has no folder out",
		url:                  "out", // a link that leads out of the repository
		"file:///nowhere":    "git says: ",
	} {
		_, err = fetch(text)
		require.ErrorContains(t, err, want, text)
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

// Neither a hook that the user's git installs into every clone nor a filter that the repository requests runs.
func TestRepositoryRunsNothing(t *testing.T) {
	url := origin(t)
	home, mark := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	hook := filepath.Join(home, "templates", "hooks", "post-checkout")
	require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o755))
	require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o755))
	config := filepath.Join(home, "config")
	require.NoError(t, os.WriteFile(config, []byte("[init]\ntemplateDir = "+filepath.Join(home, "templates")+
		"\n[core]\nhooksPath = "+filepath.Dir(hook)+"\n"), 0o644))
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL="+config)
	r, _, err := ParseRepository(url + "//web")
	require.NoError(t, err)
	_, err = FromRepository(t.Context(), r, url, env)
	require.NoError(t, err)
	require.NoFileExists(t, mark)

	// The same hook runs in an ordinary clone.
	out, err := exec.Command("env", "GIT_CONFIG_GLOBAL="+config, "git", "clone", "--quiet", strings.TrimPrefix(url, "file://"),
		filepath.Join(home, "clone")).CombinedOutput()
	require.NoError(t, err, string(out))
	require.FileExists(t, mark)
}

func TestTemplateIsBounded(t *testing.T) {
	dir := folder(t, map[string]string{"Pulumi.yaml": "name: x\nruntime: yaml\n"})
	big := filepath.Join(dir, "big")
	require.NoError(t, os.WriteFile(big, nil, 0o644))
	require.NoError(t, os.Truncate(big, mostBytes+1))
	_, err := FromFolder(dir, "big")
	require.ErrorContains(t, err, "not a template")
}
