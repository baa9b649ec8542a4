// Package ast is the tree of a program as it was written.
//
// File is a whole program, Expr an expression in it. Every node keeps its own range and the ranges of its parts, so
// that a message can point at a key and not at the whole map. The tree is immutable once the parser has handed it out
// and safe for concurrent use. It knows nothing of types, names' meanings or values.
package ast
