package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// bytesWritten waits for a process to end, without reaping it, and returns the number of bytes that it has written.
func bytesWritten(pid int) int64 {
	const (
		byPID       = 1          // P_PID
		exitedNoRip = 0x01000004 // WEXITED | WNOWAIT
	)
	var info [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), uintptr(unsafe.Pointer(&info)),
			exitedNoRip,
			0, 0)
		if errno != syscall.EINTR {
			break
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		var n int64
		if _, err := fmt.Sscanf(line, "wchar: %d", &n); err == nil {
			return n
		}
	}
	return 0
}

// usage returns the CPU time and the peak memory of a process and of the children it waited for.
func usage(s *os.ProcessState) (cpu time.Duration, peak int64) {
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return s.UserTime() + s.SystemTime(), 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), r.Maxrss * 1024
}

// adoptOrphans makes this process the parent of processes that measured ones leave behind, so that their CPU time
// counts too.
func adoptOrphans() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// reapOrphans waits up to ten seconds for processes that a measured process has left behind.
func reapOrphans() {
	for range 1000 {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR || pid > 0:
		case err != nil: // there is none left
			return
		default:
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// cpuOfChildren returns the CPU time of all children that have ended, including their own children.
func cpuOfChildren() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// load returns the load of the machine.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}
