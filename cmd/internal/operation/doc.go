// Package operation is the path from options to a finished operation of the engine:
//
//	prepare -> plan -> ask -> apply; resolve pending creations before it, rescue the state after it
//
// An operation walks through typed stages (stages.go, planned.go, apply.go); commands.go has the walks. Each run of the
// engine, for a plan or for the operation itself, has the features in the table of execution.go. Providers chooses the
// provider of a package. The package does not depend on commands.
package operation
