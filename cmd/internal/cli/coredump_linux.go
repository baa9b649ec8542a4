package cli

import (
	"syscall"
)

// forbidCoreDumps forbids them in two ways. The limit also holds for the plugins and commands that we start, which know
// the same secrets, but not where the system hands dumps to another program; what is said of the process alone holds
// there too, and keeps other processes of the user from reading our memory.
func forbidCoreDumps() {
	const setDumpable = 4 // PR_SET_DUMPABLE
	limitCoreDumps()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setDumpable, 0, 0) // an old kernel without it has nothing better
}
