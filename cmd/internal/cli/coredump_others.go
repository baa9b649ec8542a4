//go:build !linux

package cli

// forbidCoreDumps does what there is to do: on Windows nothing is dumped unless the whole machine was set up for it.
func forbidCoreDumps() { limitCoreDumps() }
