//go:build unix

package plugin

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own, so that an interrupt at the terminal reaches only this process (F2.4).
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithUs(command.SysProcAttr)
}

func interruptGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGINT) }

func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
