// Package graph implements the command graph, which shows the dependencies in a program or between projects. The flags,
// options and run function of each command stand together.
package graph
