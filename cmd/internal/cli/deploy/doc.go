// Package deploy implements the command line of run, preview, up, refresh, destroy and import.
// The flags, options and run function of each command stand together.
package deploy
