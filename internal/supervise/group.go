//go:build unix || windows

package supervise

import "os/exec"

// Group is a running command with the processes that it has started. When this process ends, the command ends on Linux,
// and all processes of the group on other systems. Its methods may be called from any goroutine.
type Group struct{ group }

// Begin starts cmd without a supervisor in between, in a process group of its own, which an interrupt at the terminal
// does not reach. The caller waits for the process and calls End once then. supervisor is the command line of a process
// that kills the groups of this one, where the system does not do so itself; nil for none.
func Begin(cmd *exec.Cmd, supervisor []string) (*Group, error) {
	g := &Group{}
	if err := g.begin(cmd, supervisor); err != nil {
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
