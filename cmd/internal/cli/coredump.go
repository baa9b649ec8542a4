package cli

import (
	"slices"
)

// coreDumpsKey is the environment variable with which a developer allows core dumps of yamlhost. Their size and place
// remain settings of the system. It is read from the environment that is passed, not from a World, which does not exist
// this early.
const coreDumpsKey = "YAMLHOST_CORE_DUMPS"

// keepMemoryToOurselves prevents a crash from writing the process memory to disk, because it contains secrets in plain
// text (D9). Each operating system has its own implementation in a file of its own. environ is as returned by
// os.Environ.
func keepMemoryToOurselves(environ []string) {
	if slices.Contains(environ, coreDumpsKey+"=true") || slices.Contains(environ, coreDumpsKey+"=1") {
		return
	}
	forbidCoreDumps()
}
