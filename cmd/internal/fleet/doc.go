// Package fleet carries out a command over many stacks: the projects below a folder, or those that are named.
//
//	Selection (flags) -> projects.Graph -> schedule (pure) -> one operation for each stack -> one report
//
// Each stack has a console, a log and a report of its own, so that what providers say and the masking of secrets stay
// with their stack; no provider process serves two stacks. Its central types are Selection, Command and schedule. It
// knows no operation: Command.Each is one.
package fleet
