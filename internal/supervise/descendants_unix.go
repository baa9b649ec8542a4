//go:build unix && !linux

package supervise

import "syscall"

// adoptOrphans has nothing to go by on this system.
func adoptOrphans() {}

// attributes make the command the head of a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killAll kills the command's group. Who has left it is not found.
func killAll(child int) { _ = syscall.Kill(-child, syscall.SIGKILL) }
