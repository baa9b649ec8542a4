package cli

import (
	"syscall"
)

// forbidCoreDumps forbids core dumps in two ways. The resource limit is inherited by the plugins and commands that we
// start, which know the same secrets, but has no effect where the system pipes dumps to another program. Marking the
// process as not dumpable works there too, and keeps other processes of the user from reading its memory.
func forbidCoreDumps() {
	const setDumpable = 4 // PR_SET_DUMPABLE
	limitCoreDumps()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setDumpable, 0, 0) // ignored: old kernels lack it
}
