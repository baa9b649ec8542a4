// Package builtins is the table of functions that programs can call (rules L6).
//
// Func is one function with everything there is to know of it: checker, evaluator, command line, editor and
// documentation read the same record. A shell around each body deals with arity, conversion, unknown and secret
// arguments and dependencies, so that bodies see plain values. Effects reach a body through Env alone.
package builtins

//go:generate go test . -run ^TestPage$ -update
