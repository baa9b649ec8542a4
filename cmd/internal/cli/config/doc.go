// Package config implements the command config and its subcommands. config.go opens and locks settings for all of them
// and has the environments that a stack imports; show.go has ls and get, set.go set, set-all and rm, and copy.go copy
// and refresh. A command that changes settings saves them once, at its end, so that an error changes nothing.
package config
