// Package graph implements the command graph, which shows the dependencies in a program or between projects, as DOT,
// Mermaid or JSON. Pictures are drawn by cmd/internal/output/picture.
package graph
