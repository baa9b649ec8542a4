// Package workspace turns a folder into a checked program (check.Program). It finds and reads the project file, the
// program's text, the packages declared beside the program and the packages that the project uses by path, and passes
// them to the parser and the checker. The command line and the language host both use it.
//
// folder -> project file -> program text (or compiler) -> packages -> parser -> checker -> check.Program
//
// The package does not depend on terminals, backends, the engine or plugins, and starts no process: callers pass
// functions for processes that may be started (Options.Compile, CheckOptions.Parameterize). Its central types are
// Workspace and Options.
package workspace
