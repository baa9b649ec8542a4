//go:build unix && !linux

package supervise

import "syscall"

// needsGuard reports whether groups need a guard (see guardWord).
var needsGuard = true

// adoptOrphans does nothing, because this system has no way to adopt orphans.
func adoptOrphans() {}

// attributes make the command the leader of a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killAll kills the command's process group. It does not find processes that have left the group.
func killAll(child int) { _ = syscall.Kill(-child, syscall.SIGKILL) }
