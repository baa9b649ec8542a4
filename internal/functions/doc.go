// Package functions has the bodies that functions of the language (package builtins) and functions of the package std
// (package embedded) share: digests, texts, lists, maps, numbers and regular expressions. Networks are in package cidr.
//
// The bodies take and give plain Go data and values. They know nothing of arguments, secrets or budgets. Each caller
// words its own errors.
package functions
