// Package cli is the command line: one file per command, and the only place where everything is wired together.
//
// Run takes arguments, Streams and a World, which is all that a command may know of the machine, so that every command
// can be tested in process. A command's file holds its flags, an options struct and what it does; pipeline.go spells out
// the way from a project's text to an operation; workspace.go finds projects, backends and stacks.
package cli
