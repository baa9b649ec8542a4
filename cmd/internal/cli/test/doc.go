// Package test implements the command test, which runs the tests of programs.
package test
