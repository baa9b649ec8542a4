//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// pseudoTerminal opens a pseudo-terminal: the test types on keyboard, and screen is the terminal of a process.
func pseudoTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = keyboard.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	screen, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	return keyboard, screen
}

// ^C on a terminal interrupts the stack that is running and starts no other. --resume skips the finished stacks.
func TestInterruptOfSeveralStacks(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: unused\n")
	dir := x.world.Dir
	require.NoError(t, os.Remove(filepath.Join(dir, "Pulumi.yaml")))
	begun, goOn := filepath.Join(dir, "begun"), filepath.Join(dir, "go")
	for _, pipe := range []string{begun, goOn} {
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	}
	reads := func(name string) string {
		return "resources:\n  r: {type: 'pulumi:pulumi:StackReference', get: {id: organization/" + name + "/dev}}\n"
	}
	for name, program := range map[string]string{
		"first": "resources:\n  pet: {type: random:RandomPet}\n",
		"second": reads("first") + "  c: {type: command:local:Command, properties: {create: 'echo x > " + begun + "; cat " +
			goOn + "'}}\n",
		"third": reads("second") + "  pet: {type: random:RandomPet}\n",
		"alone": "resources:\n  pet: {type: random:RandomPet}\n",
	} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "Pulumi.yaml"), []byte("name: "+name+"\n"+program), 0o600))
	}
	run := func(during func(keyboard io.Writer), args ...string) (said string, code int) {
		keyboard, screen := pseudoTerminal(t)
		cmd := x.command(t, append([]string{"run", "--all", "--jobs", "1"}, args...)...)
		cmd.Env = append(cmd.Env, "PULUMI_CONFIG_PASSPHRASE=secret", "PATH="+os.Getenv("PATH"))
		cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		require.NoError(t, cmd.Start())
		require.NoError(t, screen.Close())
		var text bytes.Buffer
		var reading sync.WaitGroup
		reading.Go(func() { _, _ = io.Copy(&text, keyboard) }) // ends with an error when the screen is closed
		during(keyboard)
		_ = cmd.Wait()
		reading.Wait()
		return text.String(), cmd.ProcessState.ExitCode()
	}
	awaitCommand := func() {
		held, err := os.Open(begun) // blocks until the command opens it
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, held) // without a reader, the command would be killed when it writes
		require.NoError(t, err)
		require.NoError(t, held.Close())
	}
	said, code := run(func(keyboard io.Writer) {
		awaitCommand()
		_, err := keyboard.Write([]byte{3})
		require.NoError(t, err)
	})
	require.Equal(t, 18, code, said)
	require.Contains(t, said, "done     first/dev: 2 created")
	require.Contains(t, said, "failed   second/dev: ")
	require.Contains(t, said, "third/dev: skipped because second/dev failed")
	require.Contains(t, said, "alone/dev: not begun because of the interrupt")

	said, code = run(func(io.Writer) {
		awaitCommand()
		feed(t, goOn, "x\n")
	}, "--resume")
	require.Equal(t, 0, code, said)
	require.Contains(t, said, "skipped  first/dev: finished before the interruption")
	require.Contains(t, said, "done     third/dev: 2 created")
	require.Contains(t, said, "done     alone/dev: 2 created")

	said, code = run(func(io.Writer) {}, "--resume")
	require.Equal(t, 11, code, said)
	require.Contains(t, said, "no interrupted run of this command is known here")
}
