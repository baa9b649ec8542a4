// Package ui implements the command ui, and the flag --ui of operations, which shows them on the same page (Beside).
// The server is in cmd/internal/ui.
package ui
