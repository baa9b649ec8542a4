// Package deploy implements the command lines of the operations on stacks: run, preview, plan, up, refresh, drift,
// destroy and import. What they do is in cmd/internal/operation, for several projects in cmd/internal/fleet.
//
// operations.go has the commands, flags.go their flags and the checks before each operation, several.go the operations
// on several projects, and import.go the command import with its query (query.go) and its output (importcode.go).
package deploy
