// Package about has the command line of about: versions, the stack and what is installed.
// Each command has its flags, options and run function side by side.
package about
