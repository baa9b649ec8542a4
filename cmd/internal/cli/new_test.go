package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/templates"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

// withPlugin lists the templates that need a plugin; checking them needs its schema.
var withPlugin = map[string]bool{"aws": true, "aws-native": true, "azure": true, "azure-native": true, "docker": true,
	"gcp": true, "kubernetes": true}

// emptyTerminal returns a terminal in an empty folder.
func emptyTerminal(t *testing.T, answers ...string) *terminal {
	t.Helper()
	x := newTerminal(t, onePet, answers...)
	require.NoError(t, os.Remove(filepath.Join(x.world.Dir, "Pulumi.yaml")))
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
	return x
}

// Every template makes a project without findings. Projects that need a plugin are checked only if YAMLHOST_SCHEMAS is
// set.
func TestNewFromEveryTemplate(t *testing.T) {
	t.Parallel()
	names := templates.Names()
	require.Equal(t, "hello", names[0])
	require.Len(t, names, 13)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := emptyTerminal(t)
			require.Equal(t, 0, x.run("new", name, "--dir", "a/site", "--yes", "--description", "It's: a \"test\""),
				x.err.String())
			require.Contains(t, x.err.String(), "Created project site in a/site:")
			require.Contains(t, x.err.String(), "yamlhost up")
			require.Equal(t, withPlugin[name], strings.Contains(x.err.String(), "preview --accept-new-plugins"),
				"what to do next installs the plugin")
			dir := filepath.Join(x.world.Dir, "a", "site")
			require.FileExists(t, filepath.Join(dir, ".gitignore"))
			lock, err := install.ReadLockFile(dir)
			require.NoError(t, err)
			require.NotNil(t, lock)
			require.Empty(t, lock.Plugins)
			text, err := os.ReadFile(filepath.Join(dir, "Pulumi.yaml"))
			require.NoError(t, err)
			require.NotContains(t, string(text), "\ntemplate:")
			require.NotContains(t, string(text), "${PROJECT}")
			x.world.Dir = dir
			require.Equal(t, 0, x.run("stack", "--show-name"), x.err.String())
			require.Equal(t, "dev\n", x.out.String())
			testProject(t, x, name)
			check := []string{"check"}
			if withPlugin[name] {
				schemas := os.Getenv("YAMLHOST_SCHEMAS")
				if schemas == "" {
					t.Skip("made; to check it, set YAMLHOST_SCHEMAS to a directory of gzipped package schemas")
				}
				if found, _ := filepath.Glob(filepath.Join(schemas, name+"-[0-9]*")); len(found) == 0 {
					t.Skipf("made; %s has no schema of %s to check it", schemas, name)
				}
				check = append(check, "--schema-dir", schemas)
			}
			require.Equal(t, 0, x.run(check...), x.err.String())
			require.Contains(t, x.out.String()+x.err.String(), "0 errors, 0 warnings")
		})
	}
}

// testProject runs the test script of a new project if this machine can: it passes, leaves nothing behind, and fails if
// the program has another output.
func testProject(t *testing.T, x *terminal, name string) {
	t.Helper()
	if runtime.GOOS == "windows" || withPlugin[name] {
		return // the script needs a shell, and no schemas of plugins
	}
	if _, err := exec.LookPath("node"); err != nil && name == "dynamic-provider" {
		return
	}
	self, err := os.Executable()
	require.NoError(t, err)
	bin, temporary := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "yamlhost")))
	test := func() (string, error) {
		cmd := exec.Command("sh", templates.TestScript)
		cmd.Dir = x.world.Dir
		cmd.Env = append([]string{"HOME=" + x.world.Home, "TMPDIR=" + temporary,
			"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}, x.world.Env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := test()
	require.NoError(t, err, out)
	require.Contains(t, out, "test: passed")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, 0, x.run("stack"), x.err.String())
	require.NotContains(t, x.out.String(), "random")
	if name == "hello" {
		path := filepath.Join(x.world.Dir, "Pulumi.yaml")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte("Hello, "), []byte("Bye, "), 1), 0o644))
		out, err = test()
		require.Error(t, err)
		require.Contains(t, out, "test: the greeting is: Bye, ")
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
}

// On a terminal, new asks for the template, the name, the description, the stack and the configuration. It asks again
// after an invalid answer; an empty answer selects the default.
func TestNewAsks(t *testing.T) {
	t.Parallel()
	x := emptyTerminal(t, "helo", "a", "he", "no name", "greet", "", "", "abc", "2.5", "3")
	require.Equal(t, 0, x.run("new"), x.err.String())
	require.Contains(t, x.err.String(), `did you mean hello?`)
	require.Contains(t, x.err.String(), "a is the beginning of aws, aws-native, azure, azure-native: which one?\n")
	require.Contains(t, x.err.String(), "error: words takes a value of type integer, not \"abc\"\n")
	require.Contains(t, x.err.String(), "error: words takes a value of type integer, not \"2.5\"\n")
	require.Contains(t, x.err.String(), `"no name" cannot be a project's name`)
	require.Contains(t, x.err.String(), "words: How many words the name has (2): ")
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.dev.yaml"))
	require.NoError(t, err)
	require.Equal(t, "config:\n  greet:words: \"3\"\n", string(text))

	x = emptyTerminal(t)
	require.Equal(t, 2, x.run("new", "hello", "--yes", "--config", "words=abc"), x.err.String())
	require.Equal(t, "error: --config: words takes a value of type integer, not \"abc\"\n", x.err.String())
	left, err := os.ReadDir(x.world.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, 2, x.run("new", "--non-interactive"), x.err.String())
	require.Contains(t, x.err.String(), "yamlhost new hello")
}

// A write error names the file. Here a file exists where a folder is needed.
func TestNewNamesWhatCannotBeWritten(t *testing.T) {
	t.Parallel()
	x := emptyTerminal(t)
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "greeter"), nil, 0o644))
	require.Equal(t, 1, x.run("new", "component-package", "--yes", "--force"), x.err.String())
	require.Contains(t, x.err.String(), "greeter/PulumiPlugin.yaml")
	require.NoFileExists(t, filepath.Join(x.world.Dir, "Pulumi.yaml"))
}

// new refuses to use a stack that another project of the same name has.
func TestNewLeavesStacksOfOthersAlone(t *testing.T) {
	t.Parallel()
	x := emptyTerminal(t)
	require.Equal(t, 0, x.run("new", "empty", "--yes", "--dir", "one", "--name", "site"), x.err.String())
	require.Equal(t, 1, x.run("new", "empty", "--yes", "--dir", "two", "--name", "site"), x.err.String())
	require.Contains(t, x.err.String(), "has a stack 'dev' of a project site already")
	require.NoDirExists(t, filepath.Join(x.world.Dir, "two"))
	require.Equal(t, 1, x.run("new", "empty", "--yes", "--dir", "one", "--name", "site"), x.err.String())
	require.Contains(t, x.err.String(), "    Pulumi.yaml\n    test.sh\nand ")
	require.Contains(t, x.err.String(), "another --dir or --name or --stack")
}

// The templates for CI add their files to an existing project and leave its own files unchanged.
func TestNewJoins(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]string{"github-actions": ".github/workflows/yamlhost.yml",
		"gitlab-ci": ".gitlab-ci.yml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, onePet)
			require.Equal(t, 2, x.run("new", name, "--name", "other"), x.err.String())
			require.Equal(t, 0, x.run("new", name), x.err.String())
			require.FileExists(t, filepath.Join(x.world.Dir, made))
			require.NoFileExists(t, filepath.Join(x.world.Dir, ".gitignore"))
			text, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.yaml"))
			require.NoError(t, err)
			require.Equal(t, onePet, string(text))
			require.Equal(t, 1, x.run("new", name), x.err.String())
			require.Contains(t, x.err.String(), made)
		})
	}
}

// new makes a project even if the program of the template has a fault, and reports the fault with its position. A
// missing plugin or value is not a fault.
func TestNewTellsOfFaults(t *testing.T) {
	t.Parallel()
	x := emptyTerminal(t)
	folder := filepath.Join(x.world.Home, "template")
	require.NoError(t, os.Mkdir(folder, 0o755))
	text := "name: ${PROJECT}\nruntime: yaml\nconfig: {size: integer}\nresources:\n  pet: {type: random:RandomPte}\n" +
		"  far: {type: farAway:Thing}\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "Pulumi.yaml"), []byte(text), 0o644))
	require.Equal(t, 0, x.run("new", folder, "--dir", "site", "--yes"), x.err.String())
	require.Contains(t, x.err.String(), "warning[Y203]: package random has no resource random:RandomPte")
	require.Contains(t, x.err.String(), "Pulumi.yaml:5:15: ")
	require.NotContains(t, x.err.String(), "Y204")
	require.NotContains(t, x.err.String(), "Y120")
	require.FileExists(t, filepath.Join(x.world.Dir, "site", "Pulumi.yaml"))
	require.Equal(t, 0, x.run("-C", "site", "stack", "--show-name"), x.err.String())

	text = strings.Replace(text, "RandomPte", "RandomPet", 1)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "Pulumi.yaml"), []byte(text), 0o644))
	require.Equal(t, 0, x.run("new", folder, "--dir", "sound", "--yes"), x.err.String())
	require.NotContains(t, x.err.String(), "fault")
}

// new reports why it cannot use an address, and writes nothing.
func TestNewFromRepository(t *testing.T) {
	t.Parallel()
	x := emptyTerminal(t)
	require.Equal(t, 2, x.run("new", "http://example.com/t.git", "--yes"), x.err.String())
	require.Contains(t, x.err.String(), "use https")
	require.Equal(t, 1, x.run("new", "file://"+filepath.ToSlash(x.world.Home)+"/none.git//web?ref=v1", "--yes"),
		x.err.String())
	require.Contains(t, x.err.String(), "git says:")
	require.NoFileExists(t, filepath.Join(x.world.Dir, "Pulumi.yaml"))
}

// Outside a project, commands that need one suggest `yamlhost new`.
func TestNewIsWhatToBeginWith(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"up", "--yes"}, {"up"}, {"up", "--non-interactive"}, {"preview"}, {"run"}} {
		x := emptyTerminal(t)
		require.NotEqual(t, 0, x.run(args...))
		require.Contains(t, x.err.String(), "begin with `yamlhost new`", args)
	}
}
