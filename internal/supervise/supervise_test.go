//go:build linux

package supervise

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestMain also runs the test binary as the supervisor, and as a program that starts a command and is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Word {
		os.Exit(Main(os.Args[2:], os.Environ()))
	}
	if script := os.Getenv("SUPERVISE_SCRIPT"); script != "" {
		_ = os.Unsetenv("SUPERVISE_SCRIPT")
		if n, err := strconv.Atoi(os.Getenv("SUPERVISE_GROUPS")); err == nil {
			groups(script, n)
		}
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		c, err := Start(cmd, supervisor())
		if err != nil {
			panic(err)
		}
		if os.Getenv("SUPERVISE_DIES") != "" {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		c.Wait()
		_ = c.Finish()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// groups is a program that starts n groups as on a system whose kernel kills none, and waits for their end.
func groups(script string, n int) {
	needsGuard = true
	var begun []*Group
	var commands []*exec.Cmd
	for range n {
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		g, err := Begin(cmd, supervisor())
		if err != nil {
			panic(err)
		}
		begun, commands = append(begun, g), append(commands, cmd)
	}
	if os.Getenv("SUPERVISE_DIES") != "" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	for i, g := range begun {
		if os.Getenv("SUPERVISE_ENDS") != "" {
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // the test has seen that the script is ready
			g.Interrupt()
		}
		_ = commands[i].Wait()
		g.End()
	}
	if len(descendants(os.Getpid())) == 0 {
		fmt.Println("no guard is left")
	}
	os.Exit(0)
}

func supervisor() []string { return []string{os.Args[0], Word} }

// sh runs a script behind a supervisor, to its end.
func sh(t *testing.T, script string) (output string, err error) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("input\n"), w, w
	c, err := Start(cmd, supervisor())
	require.NoError(t, w.Close())
	require.NoError(t, err)
	c.Wait()
	text, failed := io.ReadAll(r)
	require.NoError(t, failed)
	return string(text), c.Finish()
}

func TestEnds(t *testing.T) {
	t.Parallel()
	said, err := sh(t, "read line; echo got $line; echo $0; exit 0")
	require.NoError(t, err)
	require.Equal(t, "got input\n/bin/sh\n", said)
	for script, how := range map[string]string{
		"exit 3": "exit status 3", "kill -TERM $$": "signal: terminated", "kill -KILL $$": "signal: killed",
		"kill -INT $$": "signal: interrupt",
	} {
		_, err := sh(t, script)
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, script)
		require.Equal(t, how, exit.ProcessState.String(), script)
	}
	_, err = Start(exec.Command("/no/such/program"), supervisor())
	require.Error(t, err)
	path := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(path, []byte("\x00no program"), 0o700))
	_, err = Start(exec.Command(path), supervisor())
	require.ErrorContains(t, err, "exec format error")
	c, err := Start(exec.Command("/bin/true"), []string{"/no/such/supervisor"})
	require.NoError(t, err, "without one then")
	c.Wait()
	require.NoError(t, c.Finish())
	_, err = Start(exec.Command("/bin/true"), []string{"/bin/false"})
	require.ErrorIs(t, err, errLost)
}

// watched starts a program that runs a script behind a supervisor, and returns once the processes of the script have
// written the given number of lines. They keep output open.
func watched(t *testing.T, script string, lines int, environ ...string) (host *exec.Cmd, output *bufio.Reader,
	said []string) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	host = exec.Command(os.Args[0])
	host.Env = append(append(os.Environ(), "SUPERVISE_SCRIPT="+script), environ...)
	host.Stdout, host.Stderr = w, w
	require.NoError(t, host.Start())
	require.NoError(t, w.Close())
	output = bufio.NewReader(r)
	for range lines {
		line, err := output.ReadString('\n')
		require.NoError(t, err)
		said = append(said, strings.TrimSpace(line))
	}
	return host, output, said
}

// If the process that started a command is killed, the command ends with all its descendants, even if they ignore
// signals, have a session of their own or have lost their parent.
func TestKilledWithItsOwner(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"itself":      "echo there; exec sleep 1000",
		"child":       "sleep 1000 & echo there; wait",
		"stubborn":    "trap '' TERM INT HUP; echo there; while :; do sleep 1000; done",
		"own session": "setsid sh -c 'echo there; sleep 1000' & wait",
		"orphan":      "(setsid sh -c 'echo there; sleep 1000' &) ; sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, output, _ := watched(t, script, 1)
			require.NoError(t, host.Process.Kill())
			_ = host.Wait()
			// The output ends when the last process that keeps it open has ended.
			_, err := io.ReadAll(output)
			require.NoError(t, err)
		})
	}
	t.Run("at once", func(t *testing.T) {
		t.Parallel()
		host, output, _ := watched(t, "sleep 1000", 0, "SUPERVISE_DIES=1")
		_ = host.Wait()
		_, err := io.ReadAll(output)
		require.NoError(t, err)
	})
}

// Processes that a finished command leaves running are not killed.
func TestWhatIsLeftStays(t *testing.T) {
	t.Parallel()
	host, _, said := watched(t, "setsid sleep 1000 >/dev/null 2>&1 & echo $!", 1)
	require.NoError(t, host.Wait())
	pid, err := strconv.Atoi(said[0])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, 0), "it runs")
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

func TestAskAndKill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, how string
		act         func(*Child)
	}{
		"ask":             {"echo there; sleep 1000", "signal: terminated", (*Child).Ask},
		"kill":            {"trap '' TERM; echo there; while :; do sleep 1000; done", "signal: killed", (*Child).Kill},
		"kill what fled":  {"setsid sh -c 'trap \"\" TERM; echo there; sleep 1000' & wait", "signal: killed", (*Child).Kill},
		"asked and obeys": {"trap 'exit 5' TERM; echo there; while :; do sleep 0.01; done", "exit status 5", (*Child).Ask},
	} {
		for _, words := range [][]string{supervisor(), nil} {
			if words == nil && name == "kill what fled" {
				continue // this needs a supervisor
			}
			t.Run(name+strconv.Itoa(len(words)), func(t *testing.T) {
				t.Parallel()
				r, w, err := os.Pipe()
				require.NoError(t, err)
				cmd := exec.Command("/bin/sh", "-c", c.script)
				cmd.Stdout = w
				child, err := Start(cmd, words)
				require.NoError(t, w.Close())
				require.NoError(t, err)
				output := bufio.NewReader(r)
				_, err = output.ReadString('\n')
				require.NoError(t, err)
				c.act(child)
				child.Wait()
				_, err = io.ReadAll(output)
				require.NoError(t, err)
				var exit *exec.ExitError
				require.True(t, errors.As(child.Finish(), &exit))
				require.Equal(t, c.how, exit.ProcessState.String())
			})
		}
	}
}

// Groups end with this process where the kernel kills none, too: a plugin that ignores signals and the end of its input,
// its children, and one that was started just before.
func TestGuard(t *testing.T) {
	t.Parallel()
	for n, environ := range map[int][]string{1: nil, 2: {"SUPERVISE_DIES=1"}, 3: nil} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			lines := n
			if environ != nil {
				lines = 0
			}
			host, output, _ := watched(t, "trap '' TERM INT HUP; sleep 1000 & echo there; while :; do sleep 1000; done",
				lines, append(environ, "SUPERVISE_GROUPS="+strconv.Itoa(n))...)
			if lines > 0 {
				require.NoError(t, host.Process.Kill())
			}
			_ = host.Wait()
			_, err := io.ReadAll(output) // the output ends when the last process that keeps it open has ended
			require.NoError(t, err)
		})
	}
	t.Run("ends with its group", func(t *testing.T) {
		t.Parallel()
		host, output, _ := watched(t, "exit 0", 0, "SUPERVISE_GROUPS=2")
		require.NoError(t, host.Wait())
		rest, err := io.ReadAll(output)
		require.NoError(t, err)
		require.Equal(t, "no guard is left\n", string(rest))
	})
}

// An interrupt reaches the command and its children, and not the guard, which ends after them.
func TestGuardedGroupIsAsked(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), "SUPERVISE_GROUPS=1", "SUPERVISE_ENDS=interrupt",
		"SUPERVISE_SCRIPT=trap 'echo asked; exit 0' INT; echo there; while :; do sleep 0.01; done")
	host.Stdout, host.Stderr = w, w
	in, err := host.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	require.NoError(t, w.Close())
	output := bufio.NewReader(r)
	line, err := output.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "there\n", line)
	_, err = in.Write([]byte("go on\n"))
	require.NoError(t, err)
	rest, err := io.ReadAll(output)
	require.NoError(t, err)
	require.Equal(t, "asked\nno guard is left\n", string(rest))
	require.NoError(t, host.Wait())
	require.NoError(t, r.Close())
}
