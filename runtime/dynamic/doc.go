// Package dynamic runs providers whose code is a source file beside the program (D15).
//
// A Definition maps types to the sources that serve them; NewLoader and NewPackaged make ordinary providers of it. Each
// source has its own process, node or python3, which starts at the first call that needs it. Requests and answers are
// lines of JSON on two pipes, so only the interpreter must be installed.
//
// A preview runs the author's create or update only if the author's object supports previews. The package knows nothing
// of programs, project files or engines; package bundle makes the code.
package dynamic
