package backend

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process describes who takes locks. ThisProcess is the real one.
type Process struct {
	PID        int
	User, Host string
	// Machine, Boot and Started distinguish a process from another with the same number: on another machine or in
	// another container, before a restart of the machine, and after the number was used again. Each is empty where the
	// system does not tell.
	Machine, Boot, Started string
	// Contained reports whether the process is in a container, whose host name others elsewhere may have too.
	Contained bool
	// Alive reports whether a process of this machine still runs; started is the start that its lock records. A nil
	// Alive counts every process as running, so that no lock is ever taken over.
	Alive func(pid int, started string) bool
	// AliveAt reports whether a process of this machine still runs that had this number at a moment, also in a container;
	// of locks that say no more than that. nil counts every process as running.
	AliveAt func(pid int, t time.Time) bool
	// Stopped reports whether a process of this machine is stopped, by SIGSTOP or from a terminal. nil counts none as
	// stopped.
	Stopped func(pid int) bool
}

// Owner describes what became of the process that took a lock.
type Owner string

// The answers. An owner is unknown if it is on another machine, or if the system does not tell.
const (
	OwnerUnknown Owner = ""
	OwnerRunning Owner = "running"
	OwnerStopped Owner = "stopped"
	OwnerGone    Owner = "gone"
)

// owner returns the fate of the process that took a lock. The locks of the Pulumi CLI name nothing but the host and the
// number of the process.
func (p Process) owner(l lockFile) Owner {
	if l.Hostname != p.Host || l.PID <= 0 {
		return OwnerUnknown
	}
	if l.Yamlhost == nil {
		if p.AliveAt == nil || l.Timestamp.IsZero() {
			return OwnerUnknown
		}
		if !p.AliveAt(l.PID, l.Timestamp) {
			return OwnerGone
		}
		return p.moving(l.PID)
	}
	if l.Yamlhost.Machine != p.Machine || p.Alive == nil {
		return OwnerUnknown
	}
	if l.Yamlhost.Boot != "" && p.Boot != "" && l.Yamlhost.Boot != p.Boot {
		if machine, _, _ := strings.Cut(p.Machine, " "); machine != "" && !p.Contained { // it was restarted since
			return OwnerGone
		}
		return OwnerUnknown
	}
	if !p.Alive(l.PID, l.Yamlhost.Started) {
		return OwnerGone
	}
	return p.moving(l.PID)
}

// moving reports whether a process that runs is stopped.
func (p Process) moving(pid int) Owner {
	if p.Stopped != nil && p.Stopped(pid) {
		return OwnerStopped
	}
	return OwnerRunning
}

// ThisProcess returns the running process.
func ThisProcess() Process {
	p := Process{PID: os.Getpid(), Alive: alive, AliveAt: aliveAt, Stopped: stopped}
	if p.Host, _ = os.Hostname(); p.Host == "" {
		p.Host = "unknown"
	}
	if u, err := user.Current(); err == nil {
		p.User = u.Username
	}
	p.Machine = firstLine("/etc/machine-id")
	if namespace, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		p.Machine += " " + namespace
		p.Contained = namespace != wholeMachine
	}
	p.Boot = firstLine("/proc/sys/kernel/random/boot_id")
	p.Started = startOf(p.PID)
	return p
}

// wholeMachine is Linux's fixed number for the process namespace of a machine outside of containers.
const wholeMachine = "pid:[4026531836]"

// firstLine returns the first line of a file, empty where it cannot be read.
func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// startOf returns when a process was started, in ticks since the machine was; empty where the system does not tell.
func startOf(pid int) string {
	if fields := statOf(pid); len(fields) > 19 {
		return fields[19] // the 22nd of all, the third comes first here
	}
	return ""
}

// statOf returns what Linux tells of a process from its state on, the third field; nil where the system does not tell.
func statOf(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // names may have spaces
}

// stopped reports whether a process is stopped, as Linux tells (T for SIGSTOP, t under a debugger).
func stopped(pid int) bool {
	fields := statOf(pid)
	return len(fields) > 0 && (fields[0] == "T" || fields[0] == "t")
}

// clockSlack is by how much the clock of a lock and the one that tells when a process was started may differ.
const clockSlack = time.Minute

// aliveAt looks at the process of that number, and at those that have it in a container of this machine.
func aliveAt(pid int, t time.Time) bool {
	if alive(pid, "") && !startedAfter(pid, t.Add(clockSlack)) {
		return true
	}
	statuses, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range statuses {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, numbers, _ := strings.Cut(string(text), "\nNSpid:")
		numbers, _, _ = strings.Cut(numbers, "\n")
		if words := strings.Fields(numbers); len(words) < 2 || !slices.Contains(words[1:], strconv.Itoa(pid)) {
			continue
		}
		outside, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && alive(outside, "") && !startedAfter(outside, t.Add(clockSlack)) {
			return true
		}
	}
	return false
}

// ticksPerSecond is the unit in which Linux tells programs when processes were started, on all its machines.
const ticksPerSecond = 100

// startedAfter reports whether a process was started after a moment; false where the system does not tell.
func startedAfter(pid int, t time.Time) bool {
	ticks, err := strconv.ParseInt(startOf(pid), 10, 64)
	if err != nil {
		return false
	}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), "\nbtime ")
	line, _, _ := strings.Cut(rest, "\n")
	boot, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return err == nil && time.Unix(boot+ticks/ticksPerSecond, 0).After(t)
}

// alive reports whether a process runs that was started then; when in doubt, that it does: a lock that is taken from a
// living run costs more than one that has to be removed by hand.
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
