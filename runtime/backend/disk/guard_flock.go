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

// guardLimit is how long to wait for others that are about to take a lock, or to remove a file: that takes them a few
// milliseconds, so that anyone who needs longer is stopped, or its disk hangs.
const guardLimit = 10 * time.Second

// Guard keeps other processes of this machine from taking locks in a folder until release. So if two processes come
// at the same moment, one of them gets the lock, and none takes it while a file is removed. On a file system without
// such guards it does nothing: the protocol of F6.9 alone never lets two processes have the lock.
func (Real) Guard(folder string) (release func(), free bool) {
	dir, err := os.Open(folder)
	if err != nil {
		return func() {}, true
	}
	release = func() { _ = dir.Close() } // gives it back
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

// Guarding asks Linux for it.
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
