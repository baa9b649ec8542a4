//go:build !unix && !windows

package supervise

import "os/exec"

// system is a command by itself: this system has nothing that would end it with us.
type system struct {
	cmd *exec.Cmd
	err error // how the process ended
}

func start(cmd *exec.Cmd, _ []string) (system, error) { return system{cmd: cmd}, cmd.Start() }

// Wait waits until the process that was started has ended.
func (s *system) Wait() { s.err = s.cmd.Wait() }

// Ask kills the process.
func (s *system) Ask() { s.Kill() }

// Kill kills the process.
func (s *system) Kill() { _ = s.cmd.Process.Kill() }

// Finish returns how the process ended: nil or an *exec.ExitError.
func (s *system) Finish() error { return s.err }
