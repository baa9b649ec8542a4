// Package engine carries out what a program asks for: it plans and applies (rules E2–E8).
//
// A Deployment implements monitor.Monitor. The planner is pure: an old state, a goal and a provider's answers go in,
// Steps come out, which are data. The executor carries steps out, bounded in number, and tells the journal before and
// after each. A preview is the same path with an executor that acts on nothing. Events tell a view what happens. The
// package knows nothing of YAML, files or terminals.
package engine
