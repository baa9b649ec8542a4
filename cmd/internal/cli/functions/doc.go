// Package functions implements the command functions, which describes the functions of the language from the table of
// package builtins.
package functions
