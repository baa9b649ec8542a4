// Package report writes reports of a command: text, JSON, events, Markdown, JUnit, SARIF, annotations, code quality and
// HTML. One run can write any number of them.
//
// All reports have the same input: a Set receives the phases of an operation with the engine's events, the findings of
// the checker, and the result of the command. A Record holds everything received so far; every report that is written
// at the end is a pure function of it. Secrets are masked in all reports.
package report
