//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package backend

import (
	"os"
	"syscall"
	"time"
)

// guardLimit is how long to wait for others that are about to take a lock: reading a few files does not take longer.
const guardLimit = 2 * time.Second

// Guard keeps others of this machine from taking locks in a folder meanwhile, so that of two that come at the same moment
// one gets the lock and not neither. Where the file system knows no such thing, it does nothing: the protocol of F6.9 alone
// never lets two have the lock.
func (realDisk) Guard(folder string) (release func()) {
	dir, err := os.Open(folder)
	if err != nil {
		return func() {}
	}
	for until := time.Now().Add(guardLimit); ; time.Sleep(time.Millisecond) {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR || time.Now().After(until) {
			return func() { _ = dir.Close() } // gives it back
		}
	}
}
