// Package about implements the command about, which shows versions, the machine, the backend and the stack. What cannot
// be found out is a line of the answer, not an error.
package about
