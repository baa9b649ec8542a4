//go:build unix || windows

package supervise

import "os/exec"

// Group is a running command with the processes that it has started. On Linux the command ends when this process ends;
// on Windows so do all processes of the group. Its methods may be called from any goroutine.
type Group struct{ group }

// Begin starts cmd without a supervisor, in a process group of its own, which an interrupt at the terminal does not
// reach. The caller waits for the process and calls End then.
func Begin(cmd *exec.Cmd) (*Group, error) {
	g := &Group{}
	if err := g.begin(cmd); err != nil {
		return nil, unlessGone(cmd, err)
	}
	return g, nil
}

// Interrupt asks the group to end. It returns false if the system cannot ask.
func (g *Group) Interrupt() bool { return g.interrupt() }

// Kill kills the group.
func (g *Group) Kill() { g.kill() }

// End kills what is left of the group once the command's own process has ended.
func (g *Group) End() { g.end() }
