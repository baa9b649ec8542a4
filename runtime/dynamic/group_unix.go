//go:build unix

package dynamic

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the process the head of a group, so that what it starts ends with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
