//go:build unix

package supervise

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// group is a process group. With a guard, that leads it; otherwise the command does.
type group struct {
	pid   int // of its leader
	guard *exec.Cmd
	pipe  *os.File // ends the guard when it closes
}

// guardWord is the argument after Word of a guard: a process that kills its own group, with itself, when its input
// ends, which is at the latest when the process that started it has ended. The command joins the group of its guard
// before it runs, so that there is no instant at which it could stay behind.
const guardWord = "guard"

func (g *group) begin(cmd *exec.Cmd, supervisor []string) error {
	cmd.SysProcAttr = attributes()
	if needsGuard && len(supervisor) > 0 {
		g.startGuard(supervisor) // a machine that cannot start it goes without
		cmd.SysProcAttr.Pgid = g.pid
	}
	if err := cmd.Start(); err != nil {
		g.end()
		return err
	}
	if g.guard == nil {
		g.pid = cmd.Process.Pid
	}
	return nil
}

func (g *group) startGuard(supervisor []string) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return
	}
	guard := exec.Command(supervisor[0], append(supervisor[1:len(supervisor):len(supervisor)], guardWord)...)
	guard.Stdin, guard.Dir, guard.Env = theirs, "/", []string{}
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = guard.Start()
	_ = theirs.Close()
	if err != nil {
		_ = ours.Close()
		return
	}
	g.guard, g.pipe, g.pid = guard, ours, guard.Process.Pid
}

// runGuard is the life of a guard. Interrupts of its group are for the command.
func runGuard() int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if syscall.Getpgrp() != syscall.Getpid() {
		return 2 // the group of somebody else
	}
	for word := make([]byte, 1); ; {
		if n, err := os.Stdin.Read(word); n == 0 || err != nil {
			break
		}
	}
	_ = syscall.Kill(0, syscall.SIGKILL)
	select {}
}

func (g *group) interrupt() bool { return g.signal(syscall.SIGINT) }

func (g *group) kill() { g.signal(syscall.SIGKILL) }

func (g *group) signal(s syscall.Signal) bool { return g.pid != 0 && syscall.Kill(-g.pid, s) == nil }

// end kills what is left of the group, and its guard.
func (g *group) end() {
	g.kill()
	if g.guard != nil {
		_ = g.pipe.Close()
		_ = g.guard.Wait()
	}
}
