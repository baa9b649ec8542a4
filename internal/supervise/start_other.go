//go:build !unix && !windows

package supervise

import "os/exec"

// system is a command without a supervisor: this system offers no way to end it together with this process.
type system struct {
	cmd *exec.Cmd
	err error // how the process ended
}

func start(cmd *exec.Cmd, _ []string) (system, error) { return system{cmd: cmd}, cmd.Start() }

// Wait waits for the started process to end.
func (s *system) Wait() { s.err = s.cmd.Wait() }

// Ask kills the process.
func (s *system) Ask() { s.Kill() }

// Kill kills the process.
func (s *system) Kill() { _ = s.cmd.Process.Kill() }

// Finish returns how the process ended: nil or an *exec.ExitError.
func (s *system) Finish() error { return s.err }
