// Package functions has the command line of functions: what fn:: functions there are.
// Each command has its flags, options and run function side by side.
package functions
