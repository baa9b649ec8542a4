// Package editor implements the features of an editor for programs: findings, completion, definitions and others. It
// knows no protocol: positions are byte offsets, answers are plain values.
//
// A Session holds the open texts. Each edit makes a new Snapshot, which is immutable; every feature is a function of a
// snapshot, a file and an offset, and has a source file of its own. The command line implements Opener, which reads
// programs, so that both see the same program.
//
// The package starts no process, opens no socket, and writes nothing.
package editor
