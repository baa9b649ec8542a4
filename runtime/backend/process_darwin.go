package backend

import (
	"errors"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// machine returns no name of the machine. The identifier of its start is unique among machines.
func machine() (id, boot string, contained bool) {
	boot, _ = unix.Sysctl("kern.bootsessionuuid") // stays empty if there is none
	return "", boot, false
}

// startOf returns when a process was started, in microseconds; empty if that is unknown.
func startOf(pid int) string {
	if started := startTime(pid); !started.IsZero() {
		return strconv.FormatInt(started.UnixMicro(), 10)
	}
	return ""
}

// startTime returns when a process was started; zero if that is unknown.
func startTime(pid int) time.Time {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(info.Proc.P_starttime.Unix())
}

// stopped reports whether a process is stopped.
func stopped(pid int) bool {
	const stop = 4 // SSTOP
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_stat == stop
}

// ended reports whether there is no process of that number, or only a zombie.
func ended(pid int) bool {
	const zombie = 5 // SZOMB
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_stat == zombie
}
