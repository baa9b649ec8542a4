//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Guard locks a folder with flock until release. So if two processes take a stack's lock at the same moment, one of
// them gets it, and nobody takes it while a file is removed. On a file system without flock, Guard does nothing: the
// protocol of F6.9 alone never lets two processes have the lock.
func (Real) Guard(folder string) (release func(), free bool) {
	dir, err := os.Open(folder)
	if err != nil {
		return func() {}, true
	}
	release = func() { _ = dir.Close() } // ends the flock
	for until := time.Now().Add(guardLimit); ; time.Sleep(time.Millisecond) {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err != syscall.EWOULDBLOCK && err != syscall.EINTR:
			return release, true
		case time.Now().After(until):
			return release, false
		}
	}
}

// Guarding finds the process in Linux's /proc/locks.
func (Real) Guarding(folder string) (pid int) {
	var info syscall.Stat_t
	if syscall.Stat(folder, &info) != nil {
		return 0
	}
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer f.Close()
	inode := ":" + strconv.FormatUint(uint64(info.Ino), 10)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF
		words := strings.Fields(lines.Text())
		if len(words) < 6 || words[1] != "FLOCK" || !strings.HasSuffix(words[5], inode) {
			continue
		}
		if n, err := strconv.Atoi(words[4]); err == nil && n > 0 {
			return n
		}
	}
	return 0
}
