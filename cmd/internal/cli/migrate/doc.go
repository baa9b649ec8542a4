// Package migrate has the command line of migrate: what a project and its stacks would meet here.
// The command has its flags, options and run function side by side.
package migrate
