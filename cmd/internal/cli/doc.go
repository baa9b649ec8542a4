// Package cli implements the command line: Run builds the tree of commands and executes one. The commands are in
// folders below this one, a folder for each noun. They share cmd/internal/console; operations on stacks are in
// cmd/internal/operation.
//
// Run takes arguments, Streams and a World. A command sees nothing else of the machine, so that tests can run every
// command in process.
package cli
