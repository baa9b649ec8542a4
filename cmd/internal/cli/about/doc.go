// Package about implements the command line of about: versions, the stack and what is installed.
// The flags, options and run function of each command stand together.
package about
