// Package check implements the commands check, which reports all findings about programs and applies fixes (aliases.go
// finds aliases that are no longer needed), and fmt (format.go). CheckTarget is the check that other commands make,
// too.
package check
