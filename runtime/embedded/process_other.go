//go:build !unix

package embedded

import (
	"os"
	"os/exec"
)

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// askGroup kills the process; where there are no groups its children go on.
func askGroup(p *os.Process) error { return p.Kill() }

// killGroup has nothing left to do.
func killGroup(*os.Process) {}
