package cli

// limitCoreDumps does nothing: Windows has no such limit.
func limitCoreDumps() {}
