// Package cli implements the command line: Run builds the tree of commands and executes one. The commands are in
// folders below this one, a folder for each noun: flags, options and run function of a command stand together there.
// They share cmd/internal/console; operations on stacks are in cmd/internal/operation.
//
// Run takes arguments, Streams and a World. A command sees nothing else of the machine, so that tests can run every
// command in process.
//
// cli.go has Run and the list of commands. system.go makes the World of the real process, with output_*.go for consoles
// and coredump*.go for its memory. help.go and flaggroups.go write the help, complete.go completes arguments and
// bash.go writes the scripts for that, and streams.go decides what goes to standard output under the name of the Pulumi
// CLI.
package cli
