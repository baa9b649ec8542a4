// Package migrate implements the command migrate, which reports how a project of the Pulumi CLI and its stacks would
// work here. It reads only, and takes no lock.
package migrate
