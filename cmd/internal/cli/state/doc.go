// Package state implements the command line of state and its subcommands. The flags, options and run function of each
// command stand together.
package state
