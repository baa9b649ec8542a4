package plugin

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own (F2.4).
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interruptGroup does nothing: Windows has no interrupt for a single process. Closing its input asks it to end.
func interruptGroup(*os.Process) {}

func killGroup(p *os.Process) { _ = p.Kill() }
