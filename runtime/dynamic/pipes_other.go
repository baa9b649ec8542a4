//go:build !windows

package dynamic

import (
	"errors"
	"io"
	"os"
	"os/exec"
)

// pipes are what the host script reads requests from and writes answers to: its descriptors 3 and 4.
type pipes struct {
	requests io.WriteCloser
	answers  io.ReadCloser
	theirs   []*os.File
}

// openPipes gives a command that is not started yet its ends.
func openPipes(cmd *exec.Cmd) (*pipes, error) {
	in, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), requests.Close())
	}
	cmd.ExtraFiles = []*os.File{in, out}
	return &pipes{requests, answers, cmd.ExtraFiles}, nil
}

// started is called once the command is started, or could not be.
func (p *pipes) started() { closeAll(p.theirs) }

// ended is called when the command has ended.
func (p *pipes) ended() {}
