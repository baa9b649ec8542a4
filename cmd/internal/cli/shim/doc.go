// Package shim has the command line of shim: the program under the name of the Pulumi CLI.
package shim
