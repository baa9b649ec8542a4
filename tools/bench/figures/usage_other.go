//go:build !linux

package main

import (
	"os"
	"time"
)

// bytesWritten is known on Linux only.
func bytesWritten(int) int64 { return 0 }

// usage returns the CPU time of a process; its memory is known on Linux only.
func usage(s *os.ProcessState) (cpu time.Duration, peak int64) {
	return s.UserTime() + s.SystemTime(), 0
}

// adoptOrphans does nothing: only Linux can adopt the processes that measured ones leave behind.
func adoptOrphans() {}
func reapOrphans()  {}

func cpuOfChildren() time.Duration { return 0 }

func load() string { return "unknown" }
