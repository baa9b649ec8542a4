//go:build !linux

package main

import "os"

// memoryOf returns 0: the peak memory is not known on this system.
func memoryOf(*os.ProcessState) int64 { return 0 }
