// Package schema has the command line of schema: what resources and functions take and give.
// Each command has its flags, options and run function side by side.
package schema
