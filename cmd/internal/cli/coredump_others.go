//go:build !linux

package cli

// forbidCoreDumps sets the limit of core dumps if the system has one. Windows dumps nothing unless the whole machine is
// set up for it.
func forbidCoreDumps() { limitCoreDumps() }
