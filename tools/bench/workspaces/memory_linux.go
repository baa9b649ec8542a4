package main

import (
	"os"
	"syscall"
)

// memoryOf returns the peak memory of a process in bytes.
func memoryOf(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}
