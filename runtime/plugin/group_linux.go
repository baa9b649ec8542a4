package plugin

import "syscall"

// endWithUs has the system end the process when we end without having done so. The signal is tied to the thread that
// started the process; the Go runtime keeps its threads unless a goroutine locked to one ends, which none of ours does.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
