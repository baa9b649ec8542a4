package cli

import (
	"slices"
)

// coreDumpsKey is the environment variable with which a user asks for core dumps of yamlhost, for those who look for a
// fault in it: nothing else about them is ours to decide.
const coreDumpsKey = "YAMLHOST_CORE_DUMPS"

// keepMemoryToOurselves makes sure that a crash writes no image of our memory to a disk: secrets are in it in plain
// text (D9). Each system has a file of its own for this. environ is as in os.Environ.
func keepMemoryToOurselves(environ []string) {
	if slices.Contains(environ, coreDumpsKey+"=true") || slices.Contains(environ, coreDumpsKey+"=1") {
		return
	}
	forbidCoreDumps()
}
