// Package mcp speaks the Model Context Protocol over package editor: what tools for writing programs with a language
// model ask. It answers about one folder, and refuses paths that lead out of it. It is the only package that imports
// the library of the protocol.
package mcp
