// Package lsp implements the command lsp, a language server for editors. The flags, options and run function of each
// command stand together.
package lsp
