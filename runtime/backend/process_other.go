//go:build !windows && !darwin

package backend

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// wholeMachine is Linux's fixed number for the process namespace of a machine outside of containers.
const wholeMachine = "pid:[4026531836]"

// firstLine returns the first line of a file; empty if it cannot be read.
func firstLine(path string) string {
	text, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// machine returns which machine this is, and since which start, from what Linux says; empty elsewhere.
func machine() (id, boot string, contained bool) {
	id = firstLine("/etc/machine-id")
	if namespace, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		id += " " + namespace
		contained = namespace != wholeMachine
	}
	return id, firstLine("/proc/sys/kernel/random/boot_id"), contained
}

// startOf returns when a process was started, in ticks since the start of the machine; empty if that is unknown.
func startOf(pid int) string {
	if fields := statOf(pid); len(fields) > 19 {
		return fields[19] // the 22nd field: statOf begins with the third
	}
	return ""
}

// statOf returns the fields of a process's stat file in Linux, from the third on, which is the state; none if it cannot
// be read.
func statOf(pid int) []string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // names may have spaces
}

// stopped reports whether a process is stopped in Linux (T for SIGSTOP, t under a debugger).
func stopped(pid int) bool {
	fields := statOf(pid)
	return len(fields) > 0 && (fields[0] == "T" || fields[0] == "t")
}

// ticksPerSecond is the resolution of the start of a process in a stat file, on all architectures of Linux.
const ticksPerSecond = 100

// startTime returns when a process was started; zero if that is unknown.
func startTime(pid int) time.Time {
	ticks, err := strconv.ParseInt(startOf(pid), 10, 64)
	if err != nil {
		return time.Time{}
	}
	text, _ := os.ReadFile("/proc/stat")
	_, rest, _ := strings.Cut(string(text), "\nbtime ")
	line, _, _ := strings.Cut(rest, "\n")
	boot, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(boot+ticks/ticksPerSecond, 0)
}

// ended reports whether there is no process of that number, or only a zombie: in containers often nobody waits for
// ended processes.
func ended(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	if err := p.Signal(syscall.Signal(0)); errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return true
	}
	fields := statOf(pid)
	return len(fields) > 0 && (fields[0] == "Z" || fields[0] == "X")
}
