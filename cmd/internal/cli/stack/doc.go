// Package stack has the command line of stack and what is below it.
// Each command has its flags, options and run function side by side.
package stack
