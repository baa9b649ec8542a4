// Package builtins implements the functions that programs can call (rules L6).
//
// A Func describes one function completely: the checker, evaluator, command line, editor and documentation all use the
// same record. Apply handles arity, type checks, unknown and secret arguments and dependencies, so that the bodies of
// functions see plain values. Bodies access files, the environment and the engine only through Env.
package builtins

//go:generate go test . -run ^TestPage$ -update
