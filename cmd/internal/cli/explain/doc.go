// Package explain has the command line of explain: the pages of the codes.
// Each command has its flags, options and run function side by side.
package explain
