//go:build unix

package cli

import (
	"syscall"
)

// limitCoreDumps sets the soft limit of core dumps to zero. Child processes may raise it again.
func limitCoreDumps() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) != nil {
		return
	}
	limit.Cur = 0
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit) // a process may always lower its own limit
}
