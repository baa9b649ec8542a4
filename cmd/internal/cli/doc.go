// Package cli is the command line: Run makes the tree of commands and carries one out. The commands are in a folder for
// each noun below; what they share is cmd/internal/console, and operations on stacks are cmd/internal/operation.
//
// Run takes arguments, Streams and a World, which is all that a command may know of the machine, so that every command
// can be tested in process.
package cli
