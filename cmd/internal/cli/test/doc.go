// Package test has the command that runs the tests of programs.
package test
