package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// processes runs commands concurrently, each in a process of its own, and requires that all of them succeed.
func (x *terminal) processes(t *testing.T, environ []string, commands ...[]string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	named := filepath.Join(t.TempDir(), "yamlhost") // TestMain chooses the program by this name
	require.NoError(t, os.Symlink(self, named))
	var group sync.WaitGroup
	said, faults := make([]string, len(commands)), make([]error, len(commands))
	for i, args := range commands {
		cmd := exec.Command(named, args...)
		cmd.Dir = x.world.Dir
		cmd.Env = append(append([]string{"HOME=" + x.world.Home, "PATH=/none"}, x.world.Env...), environ...)
		group.Go(func() {
			out, err := cmd.CombinedOutput()
			said[i], faults[i] = string(out), err
		})
	}
	group.Wait()
	for i, err := range faults {
		require.NoError(t, err, "%v: %s", commands[i], said[i])
	}
}

// Concurrent edits of one settings file from many processes lose nothing, including the -c of a preview.
func TestConfigSetFromManyProcesses(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	const n = 20
	var commands [][]string
	for i := range n {
		commands = append(commands, []string{"config", "set", "--path", fmt.Sprintf("servers.s%d", i), "on"})
	}
	commands = append(commands, []string{"config", "set", "alone", "yes"}, []string{"preview", "-c", "flag=given"})
	x.processes(t, nil, commands...)
	settings, diags, err := project.LoadSettings(confine.Door{}, filepath.Join(x.world.Dir, "Pulumi.dev.yaml"), "", "one")
	require.NoError(t, err)
	require.Empty(t, diags)
	servers := settings.Entry(project.Key{Namespace: "one", Name: "servers"})
	require.NotNil(t, servers)
	require.Len(t, servers.Data(), n)
	require.NotNil(t, settings.Entry(project.Key{Namespace: "one", Name: "alone"}))
	require.NotNil(t, settings.Entry(project.Key{Namespace: "one", Name: "flag"}))
}

// The first secrets of a stack, set by concurrent processes, are encrypted with one passphrase and can all be
// decrypted.
func TestFirstSecretsFromManyProcesses(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	const n = 5
	var commands [][]string
	for i := range n {
		commands = append(commands, []string{"config", "set", "--secret", fmt.Sprintf("s%d", i), fmt.Sprintf("hidden-%d", i)})
	}
	x.processes(t, []string{"PULUMI_CONFIG_PASSPHRASE=p"}, commands...)
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	require.Equal(t, 0, x.run("config", "--show-secrets"), x.err.String())
	for i := range n {
		require.Contains(t, x.out.String(), fmt.Sprintf("hidden-%d", i))
	}
}

// A secrets manager adopts the salt that another process has written meanwhile, and does not overwrite the file.
func TestSaltOfAnotherProcess(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	path := filepath.Join(x.world.Dir, "Pulumi.dev.yaml")
	a := &console.Console{Streams: x.streams, World: x.world}
	a.Signals = console.Watch(nil, &x.err, nil)
	defer a.Signals.Stop()
	settings, _, err := project.LoadSettings(confine.Door{}, path, "", "one")
	require.NoError(t, err)
	late, err := a.Secrets().Manager(settings, "dev")
	require.NoError(t, err)
	require.Equal(t, 0, x.run("config", "set", "--secret", "first", "hidden"), x.err.String())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	sealed, err := late.Encrypt("late")
	require.NoError(t, err)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(text), string(after), "nothing was written over it")
	other, err := a.Secrets().Manager(settings, "dev")
	require.NoError(t, err)
	plain, err := other.Decrypt(sealed)
	require.NoError(t, err)
	require.Equal(t, "late", plain)
}

// Many processes can change the selection, the tags and the stacks of one project at once.
func TestStackEditsFromManyProcesses(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	var commands [][]string
	for i := range 10 {
		commands = append(commands, []string{"stack", "tag", "set", fmt.Sprint("t", i), "v"},
			[]string{"stack", "init", fmt.Sprint("other", i), "--no-select"})
	}
	x.processes(t, nil, commands...)
	require.Equal(t, 0, x.run("stack", "tag", "ls"))
	require.Equal(t, 10, strings.Count(x.out.String(), "\tv\n"), x.out.String())
	require.Equal(t, 0, x.run("stack", "ls", "--json"))
	require.Equal(t, 11, strings.Count(x.out.String(), `"name"`), x.out.String())

	home := t.TempDir()
	var group sync.WaitGroup
	faults := make([]error, 20)
	for i := range faults {
		url := fmt.Sprintf("file:///b%d", i)
		group.Go(func() {
			if faults[i] = backend.Login(home, url, nil); faults[i] == nil {
				faults[i] = backend.SelectStack(home, "p", "/p/Pulumi.yaml", url, "organization/p/dev")
			}
		})
	}
	group.Wait()
	for i, err := range faults {
		require.NoError(t, err)
		selected, err := backend.SelectedStack(home, "p", "/p/Pulumi.yaml", fmt.Sprintf("file:///b%d", i))
		require.NoError(t, err)
		require.Equal(t, "organization/p/dev", selected)
		known, err := backend.Logout(home, fmt.Sprintf("file:///b%d", i))
		require.NoError(t, err)
		require.True(t, known)
	}
}
