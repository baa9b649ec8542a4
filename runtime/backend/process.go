package backend

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Process describes the process that takes locks. ThisProcess returns the real one.
type Process struct {
	PID        int
	User, Host string
	// Machine, Boot and Started distinguish a process from another with the same number: on another machine or in
	// another container, before a restart of the machine, and after the number was used again. Each is empty if the
	// system does not provide it.
	Machine, Boot, Started string
	// Contained reports whether the process is in a container, whose host name others elsewhere may have too.
	Contained bool
	// Alive reports whether a process of this machine still runs; started is the start that its lock records. If it is
	// nil, the owners of yamlhost's locks are unknown, so that no such lock is taken over.
	Alive func(pid int, started string) bool
	// AliveAt reports whether a process that had this number at that time still runs on this machine or in one of its
	// containers. It is for locks that record no more than that. If it is nil, their owners are unknown.
	AliveAt func(pid int, t time.Time) bool
	// Stopped reports whether a process of this machine is stopped, by SIGSTOP or from a terminal. nil counts none as
	// stopped.
	Stopped func(pid int) bool
}

// Owner is the state of the process that took a lock.
type Owner string

// The owners. An owner is unknown if it is on another machine, or if the system does not provide its state.
const (
	OwnerUnknown Owner = ""
	OwnerRunning Owner = "running"
	OwnerStopped Owner = "stopped"
	OwnerGone    Owner = "gone"
)

// owner returns the state of the process that took a lock. The locks of the Pulumi CLI name only the host and the
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

// moving returns whether a live process is running or stopped.
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
	p.Machine, p.Boot, p.Contained = machine()
	p.Started = startOf(p.PID)
	return p
}

// clockSlack is how much the clocks of a lock and of the start of a process may differ.
const clockSlack = time.Minute

// aliveAt checks the process with that number, and those that have the number in a container of this machine.
func aliveAt(pid int, t time.Time) bool {
	if alive(pid, "") && !startedAfter(pid, t.Add(clockSlack)) {
		return true
	}
	statuses, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range statuses {
		text, _ := os.ReadFile(path) // empty if the process has just ended
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

// alive reports whether a process with that start runs. In doubt it returns true: taking the lock of a running process
// does more harm than a lock that has to be removed by hand.
func alive(pid int, started string) bool {
	if pid <= 0 {
		return true
	}
	if ended(pid) {
		return false
	}
	now := startOf(pid)
	return started == "" || now == "" || started == now
}

// startedAfter reports whether a process was started after t; false if that is unknown.
func startedAfter(pid int, t time.Time) bool {
	started := startTime(pid)
	return !started.IsZero() && started.After(t)
}
