package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	configcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/config"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// terminal runs commands as if a user typed them at a terminal, in folders of its own.
type terminal struct {
	out, err bytes.Buffer
	streams  console.Streams
	world    console.World
}

func newTerminal(t testing.TB, program string, answers ...string) *terminal {
	t.Helper()
	return newTerminalIn(t, t.TempDir(), program, answers...)
}

// newTerminalIn is newTerminal with the folders in dir.
func newTerminalIn(t testing.TB, dir, program string, answers ...string) *terminal {
	t.Helper()
	for _, sub := range []string{"home", "state", "project"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "project", "Pulumi.yaml"), []byte(program), 0o644))
	x := &terminal{}
	passwords := answers
	x.streams = console.Streams{In: strings.NewReader(strings.Join(answers, "\n") + "\n"), Out: &x.out, Err: &x.err,
		InTerminal: true, ErrTerminal: true, ReadPassword: func() (string, error) {
			if len(passwords) == 0 {
				return "", io.EOF
			}
			next := passwords[0]
			passwords = passwords[1:]
			return next, nil
		}}
	x.world = console.World{Version: "0.1.0", Dir: filepath.Join(dir, "project"), Home: filepath.Join(dir, "home"),
		Env: []string{"PULUMI_BACKEND_URL=file://" + filepath.ToSlash(filepath.Join(dir, "state")), "NO_COLOR=1",
			"TERM=dumb"},
		Process: func() backend.Process { return backend.Process{PID: 7, User: "u", Host: "h"} },
		HTTP:    &http.Client{Transport: noNetwork{}}, Keys: &secrets.Keyring{}}
	return x
}

// noNetwork refuses every request.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("there is no network")
}

func (x *terminal) run(args ...string) int {
	x.out.Reset()
	x.err.Reset()
	return Run(context.Background(), args, x.streams, x.world)
}

const onePet = "name: one\nresources:\n  pet: {type: random:RandomPet}\n"

// E7.12: on a terminal, `up` asks for confirmation.
func TestUpAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  string
		code    int
		created bool
	}{
		"yes": {"yes", 0, true}, "y": {"y", 0, true}, "no": {"no", 1, false}, "nothing": {"", 1, false},
		"anything": {"yess", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, onePet, c.answer)
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			require.Equal(t, c.code, x.run("up"), x.err.String())
			require.Contains(t, x.err.String(), "Do you want to perform this update?")
			require.Equal(t, c.created, strings.Contains(x.err.String(), "2 created"))
		})
	}
	t.Run("not with --non-interactive", func(t *testing.T) {
		t.Parallel()
		x := newTerminal(t, onePet, "yes")
		require.Equal(t, 0, x.run("stack", "init", "dev"))
		require.Equal(t, 2, x.run("up", "--non-interactive"))
		require.NotContains(t, x.err.String(), "Do you want")
	})
}

// D3: yamlhost asks for a passphrase, twice, when it encrypts the first secret. A stack without secrets never needs
// one.
func TestPassphraseIsAsked(t *testing.T) {
	t.Parallel()
	t.Run("never without secrets", func(t *testing.T) {
		t.Parallel()
		x := newTerminal(t, onePet)
		require.Equal(t, 0, x.run("run"), x.err.String())
		require.NotContains(t, x.err.String(), "passphrase")
	})
	t.Run("twice for a new one", func(t *testing.T) {
		t.Parallel()
		x := newTerminal(t, onePet, "p", "p", "p")
		require.Equal(t, 0, x.run("stack", "init", "dev"))
		require.Equal(t, 0, x.run("config", "set", "--secret", "key", "hush"), x.err.String())
		require.Contains(t, x.err.String(), "Enter a passphrase to protect")
		require.Equal(t, 0, x.run("config", "get", "key"), x.err.String())
		require.Contains(t, x.err.String(), "Enter the passphrase of stack dev")
		require.Equal(t, "hush\n", x.out.String())
	})
	t.Run("two different ones", func(t *testing.T) {
		t.Parallel()
		x := newTerminal(t, onePet, "p", "q")
		require.Equal(t, 0, x.run("stack", "init", "dev"))
		require.Equal(t, 1, x.run("config", "set", "--secret", "key", "hush"))
		require.Contains(t, x.err.String(), "the two passphrases differ")
		require.NoFileExists(t, filepath.Join(x.world.Dir, "Pulumi.dev.yaml"))
	})
}

// D10, E5.50, E5.51, E8.27: after the first signal, operations in flight finish and the exit code is 18. The second
// signal ends the command at once with exit code 8.
func TestInterrupts(t *testing.T) {
	t.Parallel()
	const program = "name: one\nresources:\n  cmd:\n    type: command:local:Command\n    properties: {create: 'touch " +
		"begun; sleep %s; touch done'}\n"
	begun := func(t *testing.T, x *terminal) {
		t.Helper()
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(x.world.Dir, "begun"))
			return err == nil
		}, time.Minute, 5*time.Millisecond)
	}
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		x := newTerminal(t, strings.Replace(program, "%s", "0.3", 1))
		signals := make(chan os.Signal, 2)
		x.world.Signals = signals
		code := make(chan int)
		go func() { code <- x.run("run", "--skip-preview") }()
		begun(t, x)
		signals <- syscall.SIGINT
		require.Equal(t, 18, <-code, x.err.String())
		x.world.Signals = nil
		require.Equal(t, 0, x.run("stack", "--show-name"))
		require.Contains(t, x.out.String(), "dev")
	})
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		// cmd takes a second to end after the first signal, so it is still running at the second.
		x := newTerminal(t, strings.NewReplacer("%s", "30", "'touch begun", "'trap \"sleep 1; exit 1\" TERM; touch begun").
			Replace(program))
		signals := make(chan os.Signal, 2)
		x.world.Signals = signals
		code := make(chan int)
		go func() { code <- x.run("run", "--skip-preview") }()
		begun(t, x)
		beside := newTerminal(t, "")
		beside.world.Dir, beside.world.Home, beside.world.Env = x.world.Dir, x.world.Home, x.world.Env
		require.Zero(t, beside.run("stack"), beside.err.String())
		require.Contains(t, beside.out.String(), "Under way (1):\n     creating cmd (command:local:Command)\n")
		signals <- syscall.SIGINT
		signals <- syscall.SIGTERM
		require.Equal(t, 8, <-code, x.err.String())
		x.world.Signals = nil
		require.Equal(t, 0, x.run("stack"), x.err.String())
		require.Contains(t, x.out.String(), "Interrupted (1); the next `yamlhost up` settles it:\n     creating cmd (command:local:Command)\n")
		require.NoFileExists(t, filepath.Join(x.world.Dir, "done"))
	})
	t.Run("at a question", func(t *testing.T) {
		t.Parallel()
		x := newTerminal(t, onePet)
		require.Equal(t, 0, x.run("stack", "init", "dev"))
		reader, writer := io.Pipe()
		defer writer.Close()
		signals := make(chan os.Signal, 2)
		x.streams.In, x.world.Signals = reader, signals
		signals <- syscall.SIGINT
		require.NotEqual(t, 0, x.run("up"))
		require.NotContains(t, x.err.String(), "created\n")
	})
}

// Every command has a summary, and no help text mentions cobra.
func TestHelp(t *testing.T) {
	t.Parallel()
	a := &console.Console{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.NotContains(t, cmd.Long+cmd.Short, "cobra")
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(a, &profile{}))
}

func TestLooksSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key, text string
		want      bool
	}{
		"generated password": {"dbPassword", "kJ8s7Dh2kLq9", true}, "short": {"password", "x", false},
		"word": {"passwordPolicy", "aaaaaaaa", false}, "hidden name": {"api-key", "kJ8s7Dh2kLq9", true},
		"other name": {"zone", "kJ8s7Dh2kLq9", false}, "sentence": {"tokenHelp", "ask the platform team", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, configcmd.LooksSecret(c.key, c.text))
		})
	}
}

func BenchmarkPreviewOfOne(b *testing.B) {
	dir := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(onePet), 0o644))
	world := console.World{Version: "0.1.0", Dir: dir, Home: dir, Env: []string{"PULUMI_BACKEND_URL=file://" + dir}}
	for b.Loop() {
		var out, errs bytes.Buffer
		if code := Run(context.Background(), []string{"run", "--plan-only"}, console.Streams{In: strings.NewReader(""),
			Out: &out, Err: &errs}, world); code != 0 {
			b.Fatal(errs.String())
		}
	}
}
