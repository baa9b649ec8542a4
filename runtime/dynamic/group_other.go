//go:build !unix

package dynamic

import (
	"os"
	"os/exec"
)

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

func killGroup(p *os.Process) { _ = p.Kill() }
