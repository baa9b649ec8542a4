//go:build unix

package embedded

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the process the head of a group of its own, so that its children end with it and a Ctrl-C on the
// terminal reaches only us.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// askGroup asks everyone in the group to end.
func askGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }

// killGroup ends who is left of the group.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
