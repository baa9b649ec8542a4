// Package cancel implements the command line of cancel: ending another run.
// The flags, options and run function of each command stand together.
package cancel
