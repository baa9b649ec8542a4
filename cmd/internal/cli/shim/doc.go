// Package shim implements the command shim, which installs this program under the name of the Pulumi CLI.
package shim
