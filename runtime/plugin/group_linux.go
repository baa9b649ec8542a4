package plugin

import "syscall"

// endWithUs makes the kernel kill the process when this process ends first. The signal is tied to the thread that
// started the process; the Go runtime keeps its threads, unless a goroutine ends that is locked to one, and we lock
// none.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
