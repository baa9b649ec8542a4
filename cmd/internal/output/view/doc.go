// Package view shows an operation to users and programs.
//
// A View listens to the engine's events. There are three: a live tree for terminals, plain lines for logs, and JSON for
// programs; all mask secrets. The package makes no decisions about the operation.
package view
