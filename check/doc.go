// Package check finds out what a program means: names, types, and the dependency graph (rules L7, L8, L9.A).
//
// Check turns a tree into a Program, which is immutable and is read alike by the command line, the evaluator, the
// language host and the editor. Each component has a body of its own, which is checked once, like a program, however
// often it is used; those who use it see it as a resource with a schema. After Check nobody looks a name up by its text
// again. The package knows nothing of engines, state or previews.
package check
