// Package mcp serves package editor over the Model Context Protocol, for tools that write programs with a language
// model. It answers questions about one folder and rejects paths outside of it. No other package imports the protocol's
// library. server.go has the tools, lines.go the transport.
package mcp
