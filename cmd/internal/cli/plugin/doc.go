// Package plugin implements the command line of plugin and its subcommands. The flags, options and run function of each
// command stand together.
package plugin
