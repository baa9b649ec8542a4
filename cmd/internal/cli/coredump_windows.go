package cli

func limitCoreDumps() {}
