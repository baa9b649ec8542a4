package supervise

import "os/exec"

// system is a command in a job object, which needs no supervisor.
type system struct {
	group *group
	err   error // how the process ended
}

func start(cmd *exec.Cmd, _ []string) (system, error) {
	s := system{group: &group{}}
	return s, s.group.begin(cmd, nil)
}

// Wait waits for the started process to end. Processes that it has started may still be running.
func (s *system) Wait() { s.err = s.group.cmd.Wait() }

// Ask asks the process and its group to end. If there is no way to ask, it kills them.
func (s *system) Ask() {
	if !s.group.interrupt() {
		s.Kill()
	}
}

// Kill kills the process and its descendants.
func (s *system) Kill() { s.group.kill() }

// Finish lets go of the command after Wait, and returns how it ended: nil or an *exec.ExitError.
func (s *system) Finish() error {
	s.group.release()
	return s.err
}
