// Package convert implements the command convert, which translates files of other tools to programs: with
// cmd/internal/convert, from PCL, or through a converter plugin, whose output is PCL (plugin.go, which also writes
// projects in other languages). Whatever the input is, the program is checked before anything is written.
package convert
