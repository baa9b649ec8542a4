//go:build unix

package confine

import "syscall"

// withoutWaiting opens a pipe at once, also without its other end.
const withoutWaiting = syscall.O_NONBLOCK | syscall.O_NOCTTY

// wildcards are the characters that make a path a pattern.
const wildcards = `*?[\`
