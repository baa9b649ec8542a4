// Package diag says what is wrong with a user's text and where.
//
// A Diagnostic has a stable code, a one-line summary, what to do about it, an exact Range, related places and, where
// one is certain, a fix. A Source is one text and the only code that converts bytes, lines, columns and UTF-16 units
// into each other. Renderers for terminals and machines live here too. The package knows nothing of YAML, types or
// state.
package diag
