// Package check finds out what a program means: names, types, and the dependency graph (rules L7, L8, L9.A).
//
// Check turns a tree into a Program, which is immutable and serves the command line, the evaluator, the language host
// and the editor. The body of a component is checked once, like a program, however often it is used; its users see a
// resource with a schema. After Check no name is looked up by its text again. The package knows nothing of engines,
// state or previews.
package check
