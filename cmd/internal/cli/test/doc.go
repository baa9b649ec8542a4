// Package test implements the command test, which runs the tests of programs. How a case is read and run is in
// cmd/internal/suite.
package test
