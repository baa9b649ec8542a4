// Package editor answers questions about programs that are being written: what is wrong, what may stand here, where a
// name comes from. It knows no protocol: places are byte offsets, answers are plain values.
//
// A Session holds the texts that are open. Each edit makes a new Snapshot, which is immutable; every feature is a
// function of a snapshot, a file and an offset, and has a file of its own. How a text becomes a program is handed in as
// an Opener, which the command line implements, so that both see the same program.
//
// The package starts no process, opens no socket, and writes nothing.
package editor
