//go:build unix

package supervise

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

// firstExtra is the first of the descriptors that the command receives as 3 and up.
const firstExtra = 5

// Main runs a supervisor, or a guard (see guardWord). It starts args[1] with the arguments args[2:], which include the
// name, in the environment env. The command inherits the standard streams and args[0] further descriptors. Descriptors
// 3 and 4 connect the supervisor to the process that started it. Main returns the exit code of the supervisor.
func Main(args, env []string) int {
	if len(args) == 1 && args[0] == guardWord {
		return runGuard()
	}
	runtime.LockOSThread() // the command ends with the thread that started it
	control, status := os.NewFile(3, "control"), os.NewFile(4, "status")
	if len(args) < 3 || control == nil || status == nil {
		return 2
	}
	extra, err := strconv.Atoi(args[0])
	if err != nil {
		return 2
	}
	args = args[1:]
	files := []uintptr{0, 1, 2}
	for i := range extra {
		files = append(files, uintptr(firstExtra+i))
		syscall.CloseOnExec(firstExtra + i)
	}
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	// The supervisor must survive signals to its group and writes to closed pipes. The command does not inherit this
	// setting.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGPIPE)
	adoptOrphans()
	child, err := syscall.ForkExec(args[0], args[1:], &syscall.ProcAttr{Env: env, Files: files,
		Sys: attributes()})
	if err != nil {
		fmt.Fprintf(status, "%s%s: %s\n", saidFailed, args[0], err)
		return 126
	}
	letGoOfStreams()
	for i := range extra {
		_ = syscall.Close(firstExtra + i)
	}
	fmt.Fprintln(status, saidStarted)
	ended := make(chan syscall.WaitStatus, 1)
	go func() {
		reap(child, func(s syscall.WaitStatus) {
			ended <- s
			fmt.Fprintln(status, saidEnded)
		})
	}()
	word := make([]byte, 1)
	for {
		n, err := control.Read(word)
		switch {
		case n == 0 || err != nil: // the process that started the supervisor has ended
			killAll(child)
			return 128 + int(syscall.SIGKILL)
		case word[0] == sayAsk:
			_ = syscall.Kill(-child, syscall.SIGTERM)
		case word[0] == sayKill:
			killAll(child)
		case word[0] == sayGo:
			return end(<-ended)
		}
	}
}

// letGoOfStreams releases the standard streams, so that readers of the command's output reach its end.
func letGoOfStreams() {
	for fd := range 3 {
		_ = syscall.Close(fd)
	}
	for range 3 { // a newly opened file gets the lowest free descriptor
		_, _ = syscall.Open(os.DevNull, syscall.O_RDWR, 0)
	}
}

// reap waits until there are no more children, and reports the status of child.
func reap(child int, report func(syscall.WaitStatus)) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return
		case pid == child:
			report(status)
		}
	}
}

// end makes this process end in the same way as the command.
func end(s syscall.WaitStatus) int {
	if s.Exited() {
		return s.ExitStatus()
	}
	signal.Reset(s.Signal())
	_ = syscall.Kill(os.Getpid(), s.Signal())
	if s.Signal() == syscall.SIGKILL {
		select {}
	}
	return 128 + int(s.Signal())
}
