// Package journal is the log of a running operation, from which a snapshot can be made at any moment.
//
// An Entry tells of the beginning or the end of one step. Replay applies entries to a base snapshot and is pure: every
// prefix of a journal replays to a snapshot that verifies; a Replayer does the same one entry at a time. A Log appends
// entries to a file, durably and with a checksum each, concurrent ones under one sync; Read gives back what a crash
// left of one. The cost of an entry does not depend on the size of the stack (decision D9).
//
// # The file
//
// A journal begins with eight bytes of signature; the last byte is the version of the format. Records follow. A
// record is the length of its payload (4 bytes, little-endian), the CRC-32C of the payload (4 bytes), and the
// payload: one byte that tells its kind, then JSON. The first record is the Header. Secrets are sealed as in the
// state file. Everything after the last whole record with a right checksum is a torn tail: it was never acknowledged.
package journal
