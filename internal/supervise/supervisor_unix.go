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

// firstExtra is the first of the descriptors that the command gets as 3 and on.
const firstExtra = 5

// Main is a supervisor: it starts args[1] with args[2:] as its arguments, the name included, in an environment, on its
// own streams and as many further descriptors as args[0] says, and watches over it as the descriptors 3 and 4 say. It
// returns the exit code of the process.
func Main(args, env []string) int {
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
	// It must outlive what is sent to its group, and what it writes to pipes that are closed. The command does not inherit
	// that.
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
		case n == 0 || err != nil: // the process that started the command is gone
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

// letGoOfStreams makes room for anyone who waits until nobody holds the command's output any more.
func letGoOfStreams() {
	for fd := range 3 {
		_ = syscall.Close(fd)
	}
	for range 3 { // what is opened gets the lowest number that is free
		_, _ = syscall.Open(os.DevNull, syscall.O_RDWR, 0)
	}
}

// reap waits for all children until there are none any more, and reports the one that counts.
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

// end ends this process as the command has ended.
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
