// Package functions implements the command functions, which describes the fn:: functions. The flags, options and run
// function of each command stand together.
package functions
