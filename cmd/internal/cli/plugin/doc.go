// Package plugin has the command line of plugin and what is below it.
// Each command has its flags, options and run function side by side.
package plugin
