// Package lsp has the command line of lsp: answers to an editor.
// Each command has its flags, options and run function side by side.
package lsp
