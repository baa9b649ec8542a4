// Package config has the command line of config and what is below it.
// Each command has its flags, options and run function side by side.
package config
