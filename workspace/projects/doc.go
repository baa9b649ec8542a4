// Package projects knows the projects below a folder: it finds them, says which stacks of each other they read, puts
// them in order, and selects some of them.
//
//	folder -> []*Member -> Graph (edges with places, findings) -> order, selection
//
// A member is one project with the stack that a command takes of it. An edge says that one member has to come before
// another: its stack is read by a stack reference, or a package that is used by its path lies in its folder. The
// package starts nothing and opens no backend; what a stack reference names is read from the program's text and the
// stack's configuration. Its central types are Member, Graph and Filter.
package projects
