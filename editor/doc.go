// Package editor answers an editor's questions about a program: its diagnostics, completions, definitions and so on. It
// knows no protocol: positions are 0-based byte offsets, answers are plain values.
//
// A Session holds the open texts. Each edit makes a new Snapshot, which is immutable; every feature is a function of a
// snapshot, a file and an offset, and has a file of its own. An Opener turns a text into a program. The command line
// implements it, so that editors and commands see the same program.
//
// The package starts no process, opens no socket, and writes nothing.
package editor
