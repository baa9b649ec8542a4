// Package engine carries out what a program asks for: it plans and applies (rules E2–E8).
//
// A Deployment implements monitor.Monitor. What decides is in internal/plan, which is pure: a prior state, a goal and a
// provider's answers go in, Steps come out, which are data. internal/apply takes the steps and tells the journal before
// and after each; internal/resources keeps what is known of resources, internal/providers the providers at work, and
// internal/slots bounds how much goes on at once. A preview is the same path with an executor that acts on nothing.
// Events tell a view what happens. The package knows nothing of YAML, files or terminals.
package engine
