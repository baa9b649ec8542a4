// Package reading is what every way from a project on disk to a checked program shares: the text of the program, which
// may be the project file itself, the packages that are declared beside it, and the configuration that the project file
// declares for it. The command line and the language host each put their own around it: what they are told of a stack,
// compilers, packages of components. It knows nothing of stacks, engines or the checker.
package reading
