// Package lsp implements the command lsp, a language server for editors. ProgramOpener (lsp.go) opens programs for it
// and for the command mcp: settings.go those files that are no programs, and state.go the state of the selected stack.
package lsp
