// Package state implements the command state and its subcommands: state_repair.go has verify and repair, stateedit.go
// the edits by hand, and state.go the upgrade of a backend. None of them reads or changes a real resource.
package state
