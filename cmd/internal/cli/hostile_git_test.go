//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/git"
)

// hostileRepository is a repository, with the version 1.0.0, which is a package of components and a template. What it
// asks git for makes the file mark.
type hostileRepository struct {
	dir, mark string
	env       []string // of git: the user has a hook and a filter, and https://git.test is the repository's folder
}

// newHostileRepository makes a repository of files and links. It is skipped if there is no git.
func newHostileRepository(t *testing.T, files, links map[string]string) *hostileRepository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not on PATH")
	}
	base := t.TempDir()
	h := &hostileRepository{dir: filepath.Join(base, "origin", "org", "evil.git"), mark: filepath.Join(base, "mark")}
	program := filepath.Join(base, "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+h.mark+"'\ncat\n"), 0o700))
	hooks := filepath.Join(base, "templates", "hooks")
	require.NoError(t, os.MkdirAll(hooks, 0o700))
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"} {
		require.NoError(t, os.Symlink(program, filepath.Join(hooks, hook)))
	}
	config := filepath.Join(base, "config")
	require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf("[init]\n\ttemplateDir = %s\n[core]\n\thooksPath = %s\n"+
		"\tfsmonitor = %s\n[submodule]\n\trecurse = true\n[protocol \"ext\"]\n\tallow = always\n"+
		"[filter \"evil\"]\n\tsmudge = %s\n\tclean = cat\n\trequired = true\n[filter \"process\"]\n\tprocess = %s\n"+
		"[url \"file://%s/\"]\n\tinsteadOf = https://git.test/\n", filepath.Dir(hooks), hooks, program, program, program,
		filepath.Dir(filepath.Dir(h.dir)))), 0o600))
	h.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "GIT_CONFIG_GLOBAL=" + config, "GIT_CONFIG_NOSYSTEM=1"}
	for name, text := range files {
		path := filepath.Join(h.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "PROGRAM", program)), 0o700))
	}
	for name, target := range links {
		require.NoError(t, os.Symlink(target, filepath.Join(h.dir, name)))
	}
	h.git(t, "init", "--quiet", "--initial-branch=main", ".")
	h.git(t, "add", ".")
	if files[".gitmodules"] != "" {
		h.git(t, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	}
	h.git(t, "commit", "--quiet", "-m", "one")
	h.git(t, "tag", "v1.0.0")
	for _, ref := range []string{"refs/tags/--upload-pack=PROGRAM", "refs/heads/--output=mark", "refs/tags/-v9.9.9"} {
		h.git(t, "update-ref", strings.ReplaceAll(ref, "PROGRAM", "touch"), "HEAD")
	}
	require.NoError(t, os.RemoveAll(h.mark))
	return h
}

// git runs a command in the repository, as its owner does, without the user's configuration.
func (h *hostileRepository) git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// TestHostileRepositories: whatever a repository asks git for, and whatever it has, git starts no program for it,
// nothing outside of the target is read or written, and a link that leads away is refused. Each is really fetched, as a
// template and as a package.
func TestHostileRepositories(t *testing.T) {
	t.Parallel()
	sound := map[string]string{"Pulumi.yaml": "name: ${PROJECT}\nruntime: yaml\ntemplate: {description: x}\noutputs: {a: 1}\n",
		"PulumiPlugin.yaml": "name: evil\nruntime: yaml\ncomponents: {C: {outputs: {a: 1}}}\n"}
	for name, c := range map[string]struct {
		files, links map[string]string
		refused      string // by the template and the package; empty if both can be used
	}{
		"hooks":   {},
		"filters": {files: map[string]string{".gitattributes": "* filter=evil\n*.txt filter=process\n", "a.txt": "a\n"}},
		"attributes": {files: map[string]string{".gitattributes": "* ident export-subst diff=evil merge=evil\n",
			"a.txt": "$Id$\n"}},
		"submodules": {files: map[string]string{".gitmodules": "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::PROGRAM\n" +
			"\tupdate = !PROGRAM\n\tfetchRecurseSubmodules = true\n"}},
		"configuration": {files: map[string]string{"hooks/post-checkout": "#!/bin/sh\nPROGRAM\n", "config": "[core]\n\t" +
			"fsmonitor = PROGRAM\n", "HEAD": "ref: refs/heads/main\n", "objects/info/alternates": "/\n"}},
		"a link":           {links: map[string]string{"link": "../../../canary"}, refused: "link"},
		"an absolute link": {links: map[string]string{"link": "/proc/self/environ"}, refused: "link"},
		"a linked folder":  {links: map[string]string{"link": "../../.."}, refused: "link"},
		"a device":         {links: map[string]string{"link": "/dev/zero"}, refused: "link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for name, text := range sound {
				files[name] = text
			}
			for name, text := range c.files {
				files[name] = text
			}
			h := newHostileRepository(t, files, c.links)
			for door, args := range map[string][]string{
				"new": {"new", "file://" + h.dir, "--dir", "made", "--yes", "--name", "made", "--stack", "dev"},
				"new at": {"new", "file://" + h.dir + "?ref=v1.0.0", "--dir", "made", "--yes", "--name", "made",
					"--stack", "dev"},
				"package add": {"package", "add", "git.test/org/evil@1.0.0"},
				"the newest":  {"package", "add", "git.test/org/evil"},
			} {
				x := newTerminal(t, "name: one\nruntime: yaml\n")
				lay(t, x, map[string]string{"../canary": "canary-of-a-file"}, nil)
				x.world.Env = append(x.world.Env, h.env...)
				code, said := finish(t, x, args...)
				require.NoFileExists(t, h.mark, "%s: %s", door, said)
				require.NotContains(t, said, "canary-of-")
				template := strings.HasPrefix(door, "new")
				switch {
				case c.refused != "":
					require.NotEqual(t, 0, code, "%s: %s", door, said)
					require.Contains(t, said, c.refused, door)
				case template:
					require.Equal(t, 0, code, "%s: %s", door, said)
				default: // it is fetched, and no program here runs it
					require.Contains(t, said, "is written in yaml", door)
				}
				for path, text := range treeOf(t, filepath.Dir(x.world.Dir)) {
					require.NotContains(t, text, "PATH=", path)
					require.False(t, strings.Contains(text, "canary-of-") && filepath.Base(path) != "canary", path)
					require.False(t, template && strings.HasPrefix(text, "-> "), "a link was made: %s", path)
				}
			}
		})
	}
}

// TestHostileReferences: no name of a branch, a tag, a folder or an address is an option for git.
func TestHostileReferences(t *testing.T) {
	t.Parallel()
	h := newHostileRepository(t, map[string]string{"a.txt": "a\n"}, nil)
	upload := "--upload-pack=touch '" + h.mark + "';"
	for _, address := range []string{"file://" + h.dir, upload, "ext::touch " + h.mark, "-", "--", "--output=" + h.mark} {
		for _, ref := range []string{"--upload-pack=touch", upload, "-v9.9.9", "--output=" + h.mark, "HEAD:refs/heads/x",
			"+refs/*:refs/*", "", "..", "@{-1}", "refs/tags/--upload-pack=touch", "--"} {
			_ = git.Fetch(t.Context(), t.TempDir(), h.env, address, ref, false) // it may fail, and starts nothing
			require.NoFileExists(t, h.mark, "%s %s", address, ref)
		}
	}
	for _, folder := range []string{"--output=" + h.mark, "-o" + h.mark, "--exec=touch " + h.mark,
		"--remote=ext::touch " + h.mark,
		":(glob)**", "../x", "a.txt"} {
		p := git.Package{Repository: "https://git.test/org/evil.git", Folder: folder, Version: "1.0.0"}
		_ = p.Archive(t.Context(), t.TempDir(), h.env, filepath.Join(t.TempDir(), "a.tar"))
		require.NoFileExists(t, h.mark, folder)
	}
	for _, source := range []string{"git.test/org/evil@--upload-pack=touch", "git.test/org/evil@v1.0.0;touch",
		"git.test/--upload-pack/x@1.0.0",
		"git.test/org/evil/../../x@1.0.0", "-oProxyCommand=touch/x/y@1.0.0"} {
		x := newTerminal(t, "name: one\nruntime: yaml\n")
		x.world.Env = append(x.world.Env, h.env...)
		require.NotEqual(t, 0, x.run("package", "add", source), source)
		require.NoFileExists(t, h.mark, source)
	}
}
