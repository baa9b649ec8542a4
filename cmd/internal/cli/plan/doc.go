// Package plan has the command line of saved plans.
// Each command has its flags, options and run function side by side.
package plan
