// Package convert implements the command convert, which translates files of other tools to programs.
package convert
