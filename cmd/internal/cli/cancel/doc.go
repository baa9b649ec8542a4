// Package cancel has the command line of cancel: ending another run.
// Each command has its flags, options and run function side by side.
package cancel
