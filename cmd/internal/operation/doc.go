// Package operation is the path from options to a finished operation of the engine:
//
//	Prepare -> plan -> confirm -> apply; resolve pending creations before it, rescue the state after it
//
// It opens the workspace and the stack, creates the providers, checks the program, plans, asks, applies, writes state
// and history, and reads and writes plan files. Its central types are Pipeline, a stack with everything that an
// operation on it needs; Options; and Providers, which chooses the provider of a package. It does not depend on
// commands.
package operation
