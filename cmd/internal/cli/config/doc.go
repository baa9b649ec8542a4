// Package config implements the command line of config and its subcommands. The flags, options and run function of each
// command stand together.
package config
