// Package deploy has the command line of run, preview, up, refresh, destroy and import.
// Each command has its flags, options and run function side by side.
package deploy
