// Package migrate implements the command migrate, which reports how a Pulumi project and its stacks would work here.
// The command's flags, options and run function stand together.
package migrate
