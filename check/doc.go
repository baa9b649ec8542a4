// Package check finds out what a program means: names, types, and the dependency graph (rules L7, L8, L9.A).
//
// Check turns a tree into a Program, which is immutable and serves the command line, the evaluator, the language host
// and the editor. The body of a component is checked once, like a program, however often it is used; its users see a
// resource with a schema. After Check no name is looked up by its text again. The package knows nothing of engines,
// state or previews.
//
// The work is done in three packages, each of which owns one kind of knowledge: names (declarations, references, the
// graph), packages (which schema a token means) and types (expressions). They fill a Program of the package program, in
// the order that Recheck spells out. This package owns that order, the components and dynamic types of a text, what a
// check may take over from an earlier one, and the findings that compare declarations with each other.
package check
