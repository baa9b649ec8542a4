// Package view shows people and machines what an operation does.
//
// A View listens to the engine's events. There are three: a live tree for terminals, plain lines for logs, and JSON for
// programs; all mask secrets. The package decides nothing: it only shows.
package view
