// Package state has the command line of state and what is below it.
// Each command has its flags, options and run function side by side.
package state
