//go:build unix

package cli

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// command returns yamlhost as a separate process in the folders of x.
func (x *terminal) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	named := filepath.Join(t.TempDir(), "yamlhost") // TestMain runs the program under this name
	require.NoError(t, os.Symlink(self, named))
	cmd := exec.Command(named, args...)
	cmd.Dir = x.world.Dir
	cmd.Env = append([]string{"HOME=" + x.world.Home, "PATH=" + os.Getenv("PATH")}, x.world.Env...)
	return cmd
}

// Commands inherit no variable that opens the secrets of stacks, unless --pass-env names it (D13).
func TestChildEnvironment(t *testing.T) {
	t.Parallel()
	x := newTerminal(t,
		"name: one\nresources:\n  c: {type: command:local:Command, properties: {create: env | sort}}\noutputs: {seen: "+
			"'${c.stdout}'}\n")
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	canaries := []string{"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE", "PULUMI_ACCESS_TOKEN", "PGPASSWORD"}
	for _, name := range append(canaries, "AWS_SECRET_ACCESS_KEY", "AZURE_CLIENT_SECRET", "ARM_CLIENT_SECRET",
		"GOOGLE_CREDENTIALS", "VAULT_TOKEN") {
		x.world.Env = append(x.world.Env, name+"=canary-"+name)
	}
	x.world.Env = append(x.world.Env, "PATH="+os.Getenv("PATH"))
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	require.Equal(t, 0, x.run("stack", "output", "seen"))
	seen := x.out.String()
	for _, name := range canaries {
		require.NotContains(t, seen, name)
	}
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "AZURE_CLIENT_SECRET", "ARM_CLIENT_SECRET",
		"GOOGLE_CREDENTIALS", "VAULT_TOKEN"} {
		require.Contains(t, seen, name+"=canary-"+name)
	}
	require.Equal(t, 0, x.run("destroy", "--yes"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "--pass-env", "PGPASSWORD"), x.err.String())
	require.Equal(t, 0, x.run("stack", "output", "seen"))
	require.Contains(t, x.out.String(), "PGPASSWORD=canary-PGPASSWORD")
	require.NotContains(t, x.out.String(), "PULUMI_ACCESS_TOKEN")
}

// If yamlhost is killed, its running command is killed too, with all child processes, so that the next run does not
// start a second one beside it.
func TestCommandEndsWithUs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere only the process group is found")
	}
	const script = "exec 3>pipe; setsid sleep 1000 & echo there >&3; wait"
	for name, program := range map[string]string{
		"a command": "name: one\nresources:\n  c:\n    type: command:local:Command\n    properties: {create: \"" + script +
			"\"}\n",
		"a hook": "name: one\nhooks: {h: {command: [sh, -c, \"" + script + "\"]}}\n" +
			"resources:\n  pet: {type: random:RandomPet, options: {hooks: {beforeCreate: [h]}}}\n",
		"a compiler": "name: one\nruntime: {name: yaml, options: {compiler: sh compile.sh}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			commandEndsWithUs(t, program, script)
		})
	}
}

func commandEndsWithUs(t *testing.T, program, script string) {
	x := newTerminal(t, program)
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "compile.sh"), []byte(script), 0o600))
	x.world.Env = append(x.world.Env, "PATH="+os.Getenv("PATH"))
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	pipe := filepath.Join(x.world.Dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	cmd := x.command(t, "up", "--yes", "--skip-preview")
	require.NoError(t, cmd.Start())
	held, err := os.Open(pipe) // blocks until the command opens it
	require.NoError(t, err)
	defer held.Close()
	line := make([]byte, 6)
	_, err = io.ReadFull(held, line)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	_, err = io.ReadAll(held) // ends when all processes have closed the other end
	require.NoError(t, err)
}

// A download goes through the proxy that the environment names.
func TestDownloadThroughProxy(t *testing.T) {
	t.Parallel()
	archive, _ := drawerArchive(t)
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".tar.gz") {
			http.NotFound(w, r)
			return
		}
		asked.Store(r.URL.Host)
		_, _ = w.Write(archive)
	}))
	t.Cleanup(proxy.Close)
	x := newTerminal(t, onePet)
	cmd := x.command(t, "plugin", "install", "resource", "drawer", "1.0.0", "--server", "http://mirror.test/x",
		"--allow-http-plugins")
	cmd.Env = append(cmd.Env, "HTTP_PROXY="+proxy.URL)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	require.Equal(t, "mirror.test", asked.Load())
}

// feed waits until a process reads a named pipe, and writes text to it.
func feed(t *testing.T, pipe, text string) {
	t.Helper()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

// One interrupt ends an evaluation, whatever the program does (D10). The signal comes once the preview has begun.
func TestInterruptEndsEvaluation(t *testing.T) {
	t.Parallel()
	const program = "name: one\nvariables:\n  v: {fn::readFile: word}\n" +
		"  n: '${[for a in range(100000) : [for b in range(100000) : \"${v}${a}${b}\" if a < 0]]}'\noutputs: {n: '${n}'}\n"
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, program)
			require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "word"), []byte("x"), 0o600))
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			cmd := x.command(t, "preview")
			begun := &signalled{word: []byte("Previewing"), seen: make(chan struct{})}
			cmd.Stdout, cmd.Stderr = begun, begun
			require.NoError(t, cmd.Start())
			<-begun.seen
			require.NoError(t, cmd.Process.Signal(signal))
			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Wait(), &exit, begun.String())
			require.Equal(t, console.CodeInterrupted, exit.ExitCode(), begun.String())
			require.Contains(t, begun.String(), "^C received; cancelling")
		})
	}
}

// signalled is a buffer that closes seen once it holds a word. It is safe for concurrent use.
type signalled struct {
	word []byte
	seen chan struct{}

	mu   sync.Mutex
	once sync.Once
	text bytes.Buffer // guarded by mu
}

func (s *signalled) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(p)
	if bytes.Contains(s.text.Bytes(), s.word) {
		s.once.Do(func() { close(s.seen) })
	}
	return n, err
}

// String returns what was written so far.
func (s *signalled) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// The second signal ends the process even if the command does not end and the terminal accepts no output.
func TestSecondSignalEnds(t *testing.T) {
	t.Parallel()
	signals, ended := make(chan os.Signal, 2), make(chan struct{})
	stuck, out := io.Pipe()
	i := console.Watch(signals, out, func() { close(ended) })
	signals <- os.Interrupt
	<-i.First
	signals <- syscall.SIGTERM
	<-i.Second
	<-ended
	require.NoError(t, stuck.Close())
	i.Stop()
}

// An operation whose output is closed finishes, writes its state, and exits with 1.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	for name, closed := range map[string][2]bool{"standard output": {true, false}, "standard error": {false, true},
		"both": {true, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, "name: one\nresources:\n  pet: {type: random:RandomPet}\noutputs: {pet: '${pet.id}'}\n")
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			cmd := x.command(t, "up", "--yes")
			for i, isClosed := range closed {
				r, w, err := os.Pipe()
				require.NoError(t, err)
				defer w.Close()
				if isClosed {
					require.NoError(t, r.Close())
				} else {
					go func() { _, _ = io.Copy(io.Discard, r) }()
				}
				if i == 0 {
					cmd.Stdout = w
				} else {
					cmd.Stderr = w
				}
			}
			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Run(), &exit)
			require.True(t, exit.Exited(), exit.String())
			require.Equal(t, console.CodeError, exit.ExitCode())
			require.Equal(t, 0, x.run("stack", "--show-urns"), x.err.String())
			require.Contains(t, x.out.String(), "RandomPet::pet")
			require.Equal(t, 0, x.run("up", "--yes", "--expect-no-changes"), x.err.String())
		})
	}
}

// fullDisk accepts left bytes; further writes fail.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// A full output is reported and does not stop an operation.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	x.streams.Out = &fullDisk{}
	require.Equal(t, console.CodeError, x.run("up", "--yes", "--json"))
	require.Contains(t, x.err.String(), "standard output could not be written: no space left on device")
	x.streams.Out = &x.out
	require.Equal(t, 0, x.run("up", "--yes", "--expect-no-changes"), x.err.String())
}

func TestSteady(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := &console.Steady{W: &out}
	n, err := s.Write([]byte("text"))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	fault, gone := s.Broken()
	require.NoError(t, fault)
	require.False(t, gone)
	s.W = &fullDisk{}
	n, err = s.Write([]byte("lost"))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	s.W = &out
	_, _ = s.Write([]byte("nothing follows what was lost"))
	require.Equal(t, "text", out.String())
	fault, gone = s.Broken()
	require.ErrorIs(t, fault, syscall.ENOSPC)
	require.False(t, gone)
	_, gone = (&console.Steady{Fault: errors.Join(syscall.EPIPE)}).Broken()
	require.True(t, gone)
}
