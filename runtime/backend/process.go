package backend

import (
	"errors"
	"os"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// Process says who takes locks. ThisProcess is the real one.
type Process struct {
	PID        int
	User, Host string
	// Machine, Boot and Started tell a process from another of the same number: on another machine or in another
	// container, before a restart of the machine, and after the number was used again. Each is empty where the system does
	// not tell.
	Machine, Boot, Started string
	// Alive reports whether a process of this machine still runs; started is what its lock says of it. nil counts every
	// process as running, so that no lock is ever taken over.
	Alive func(pid int, started string) bool
}

// ThisProcess is the running process.
func ThisProcess() Process {
	p := Process{PID: os.Getpid(), Alive: alive}
	if p.Host, _ = os.Hostname(); p.Host == "" {
		p.Host = "unknown"
	}
	if u, err := user.Current(); err == nil {
		p.User = u.Username
	}
	p.Machine = firstLine("/etc/machine-id")
	if namespace, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		p.Machine += " " + namespace
	}
	p.Boot = firstLine("/proc/sys/kernel/random/boot_id")
	p.Started = startOf(p.PID)
	return p
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// startOf is when a process was started, in ticks since the machine was; empty where the system does not tell.
func startOf(pid int) string {
	if fields := statOf(pid); len(fields) > 19 {
		return fields[19] // the 22nd of all, the third comes first here
	}
	return ""
}

// statOf is what Linux tells of a process from its state on, the third field; nil where the system does not tell.
func statOf(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // names may have spaces
}

func alive(pid int, started string) bool {
	if pid <= 0 {
		return true
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	if runtime.GOOS == "windows" { // finding it has opened it
		_ = p.Release()
		return true
	}
	if err := p.Signal(syscall.Signal(0)); errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return false
	}
	if fields := statOf(pid); len(fields) > 0 && (fields[0] == "Z" || fields[0] == "X") {
		return false // dead, and not buried: in containers often nobody does that
	}
	now := startOf(pid)
	return started == "" || now == "" || started == now
}
