// Package stack implements the command line of stack and its subcommands. The flags, options and run function of each
// command stand together.
package stack
