// Package check implements the command line of check, which reports all findings about a program and applies fixes, and
// of fmt. The flags, options and run function of each command stand together.
package check
