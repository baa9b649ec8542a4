// Package diag represents and renders findings about the texts of users.
//
// A Diagnostic has a stable code, a one-line summary, advice, an exact Range, related ranges and, if the solution is
// certain, a fix. A Source is one text; only Source converts between bytes, lines, columns and UTF-16 units. The
// renderers for terminals and machines are in this package too. It knows nothing about YAML, types or state.
package diag
