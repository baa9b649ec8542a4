// Package serve has the command line of serve: what this program offers to others.
// Each command has its flags, options and run function side by side.
package serve
