// Package workspace is the one way from a folder to a checked program (check.Program): it finds and reads the project
// file, the text of the program, the packages that are declared beside it and those that the project uses by path, and
// hands all of that to the parser and the checker. The command line and the language host both use it.
//
//	folder -> project file -> program text (or compiler) -> packages -> parser -> checker -> check.Program
//
// It knows nothing of terminals, stacks in a backend, engines or plugins, and starts no process: what may be started is
// handed in as functions (Options.Compile, Plugins). Its central types are Workspace and Options.
package workspace
