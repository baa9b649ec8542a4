// Package check has the command line of check: everything that is wrong with a program, and the fixes.
// Each command has its flags, options and run function side by side.
package check
