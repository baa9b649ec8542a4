// Package fleet runs a command on many stacks: those of all projects below a folder, or of projects given by name.
//
//	Selection (flags) -> projects.Graph -> schedule (pure) -> one operation for each stack -> one report
//
// Each stack has its own console, log and report, so that provider messages and the masking of secrets do not mix
// between stacks. No provider process serves two stacks. The central types are Selection, Command and schedule. The
// package knows no particular operation: Command.Each performs it.
package fleet
