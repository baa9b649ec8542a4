// Package journal is the log of what a running operation has done, from which a snapshot can be made at any moment.
//
// An Entry tells of the beginning or the end of one step. Replay applies entries to a base snapshot and is pure: every
// prefix of a journal replays to a snapshot that verifies. A Log appends entries to a file, durably and with a checksum
// each; Recover reads what a crash left of one. The cost of an entry does not depend on the size of the stack
// (decision D9).
package journal
