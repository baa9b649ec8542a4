// Package projects works with all projects below a folder: it finds them, determines which stacks they read from each
// other, puts them in order, and selects a subset.
//
// folder -> []*Member -> Graph (edges with places, findings) -> order, selection
//
// A member is one project with the stack that a command uses. An edge from one member to another means that the second
// comes first: the first reads its stack through a stack reference, or uses a package by path that lies in its folder.
// The package starts no process and opens no backend; the names in stack references are determined from the program's
// text and the stack's configuration. Its central types are Member, Graph and Filter.
package projects
