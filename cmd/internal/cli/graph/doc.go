// Package graph has the command line of graph: what depends on what in a program.
// Each command has its flags, options and run function side by side.
package graph
