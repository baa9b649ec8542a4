// Package dynamic has providers whose code is a source file beside the program (D15).
//
// A Definition says which source serves which type; a provider made of one is an ordinary provider.Provider. Each
// source has one process of its own, node or python3, that starts with the first call which needs it. Requests and
// answers are lines of JSON on two pipes, so nothing has to be installed beside the interpreter.
//
// A preview never runs the author's create or update, unless the author's object says that it can be previewed.
// The package refuses to know programs, files of the project and engines; package bundle makes the code.
package dynamic
