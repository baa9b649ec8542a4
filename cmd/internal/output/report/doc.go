// Package report writes what a command did as files: text, JSON, events, Markdown, JUnit, SARIF, annotations, code
// quality and HTML. One run yields any number of them.
//
// All reports are fed by the same stream: a Set takes the phases of an operation with the engine's events, the
// findings of the checker, and how the command ended. A Record holds everything received so far; every report that is
// written at the end is a pure function of it, in a file of its own. Secrets are masked in each.
package report
