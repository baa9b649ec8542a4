//go:build unix

package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// stage is the environment for commands on pages: the project of testdata/pages/stage.txtar with stacks that have been
// run, a project in the folder shop, a Git repository, the files that examples name, and a plugin that can list. It is
// made once and copied for each command.
type stage struct{ root string }

func newStage(t *testing.T) *stage {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/pages/stage.txtar")
	require.NoError(t, err)
	s := &stage{t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(s.root, "state"), 0o755))
	for _, f := range archive.Files {
		path := filepath.Join(s.root, "project", filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f.Data, 0o644))
	}
	plugins := filepath.Join(s.root, "home/.pulumi/plugins/resource-drawer-v1.0.0")
	require.NoError(t, os.MkdirAll(plugins, 0o755))
	drawer, err := exec.LookPath("pulumi-resource-drawer")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(drawer, filepath.Join(plugins, "pulumi-resource-drawer")))
	output, code := s.in(s.root).shell(string(archive.Comment))
	require.Zero(t, code, output)
	return s
}

// copied returns a copy of the stage.
func (s *stage) copied(t *testing.T) *play {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, exec.Command("cp", "-a", s.root+"/.", root).Run())
	return s.in(root)
}

// empty returns an empty folder with an empty home and backend.
func (s *stage) empty(t *testing.T) *play {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"project", "home", "state"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	return s.in(root)
}

func (s *stage) in(root string) *play {
	home := filepath.Join(root, "home")
	return &play{dir: filepath.Join(root, "project"), env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home,
		"PULUMI_HOME=" + filepath.Join(home, ".pulumi"), "PULUMI_BACKEND_URL=file://" + filepath.Join(root, "state"),
		"PULUMI_CONFIG_PASSPHRASE=x", "PULUMI_IGNORE_AMBIENT_PLUGINS=true", "NO_COLOR=1", "TERM=dumb",
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true", "DRAWER=" + filepath.Join(root, "project", "objects"),
		"GITHUB_STEP_SUMMARY=" + filepath.Join(root, "summary.md"), "GIT_CONFIG_GLOBAL=/dev/null"}}
}

// play is a copy of the stage in which commands run.
type play struct {
	dir string
	env []string
}

func (p *play) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// shell runs lines in bash, which stops at the first failure. output holds both streams.
func (p *play) shell(lines string) (output string, code int) {
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", lines)
	cmd.Dir, cmd.Env = p.dir, p.env
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return err.Error(), -1
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// typed runs one call of the program at a terminal that gives answers to its questions.
func (p *play) typed(t *testing.T, line string, answers ...string) (output string, code int) {
	t.Helper()
	args, ok := wordsOf(line)
	require.True(t, ok, line)
	x := newTerminal(t, "", answers...)
	x.world.Dir, x.world.Env, x.world.Home = p.dir, p.env, filepath.Join(filepath.Dir(p.dir), "home")
	code = Run(context.Background(), args, x.streams, x.world)
	return x.out.String() + x.err.String(), code
}

// plain reports whether a line is a single call of the program that needs no shell.
func plain(line string) bool {
	return strings.HasPrefix(line, "yamlhost ") && !strings.ContainsAny(line, "|<>;&$~")
}
