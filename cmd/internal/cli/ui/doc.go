// Package ui has the command ui, and what other commands do for --ui.
package ui
