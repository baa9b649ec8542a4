package supervise

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// killLimit bounds the time spent on killing, because a process of another user cannot be killed.
const killLimit = 5 * time.Second

// needsGuard reports whether groups need a guard (see guardWord). On Linux the kernel kills the command; tests set it.
var needsGuard = false

// adoptOrphans makes this process the parent of descendants that lose their own.
func adoptOrphans() {
	const setChildSubreaper = 36
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// attributes make the command the leader of a process group of its own. The kernel kills it when the supervisor dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killAll kills all descendants, including those started meanwhile, until none is left.
func killAll(int) {
	for until := time.Now().Add(killLimit); time.Now().Before(until); time.Sleep(time.Millisecond) {
		found := descendants(os.Getpid())
		if len(found) == 0 {
			return
		}
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// descendants returns the running processes below process n.
func descendants(n int) (pids []int) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has just ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		// 4711 (a name) S 4710 …
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	for next := children[n]; len(next) > 0; {
		pids = append(pids, next...)
		var below []int
		for _, pid := range next {
			below = append(below, children[pid]...)
		}
		next = below
	}
	return pids
}
