// Package functions implements what built-in functions (package builtins) and functions of the package std (package
// embedded) have in common: digests, strings, lists, maps, numbers and regular expressions. Networks are in package
// cidr.
//
// The functions work on plain Go data and values. They know nothing about arguments, secrets or budgets, and each
// caller phrases its own error messages.
package functions
