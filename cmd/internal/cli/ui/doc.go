// Package ui implements the command ui, and the option --ui of other commands.
package ui
