// Package ast defines the syntax tree of a program.
//
// A File is a whole program and an Expr an expression in it. Every node keeps its own range and the ranges of its
// parts, so that a message can point at a key rather than at the whole map. The tree is immutable once the parser has
// returned it, and safe for concurrent use. It carries no types, resolved names or values.
package ast
