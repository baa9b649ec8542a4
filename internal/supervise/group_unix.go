//go:build unix

package supervise

import (
	"os/exec"
	"syscall"
)

// group is a process group, by the number of its leader.
type group struct{ pid int }

func (g *group) begin(cmd *exec.Cmd) error {
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return err
	}
	g.pid = cmd.Process.Pid
	return nil
}

func (g *group) interrupt() bool { return syscall.Kill(-g.pid, syscall.SIGINT) == nil }

func (g *group) kill() { _ = syscall.Kill(-g.pid, syscall.SIGKILL) }

func (g *group) end() { g.kill() }
