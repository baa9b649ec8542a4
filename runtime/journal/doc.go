// Package journal is the append-only log of a running operation, from which a snapshot can be made at any time.
//
// An Entry records the beginning or the end of one step. Replay applies entries to a base snapshot and is pure: every
// prefix of a journal replays to a valid snapshot; a Replayer does the same one entry at a time. A Log appends entries
// to a file, durably and each with a checksum; concurrent entries share a sync. Read decodes a journal file, also after
// a crash. The cost of an entry does not depend on the size of the stack (decision D9).
//
// # The file
//
// A journal begins with a signature of eight bytes; the last byte is the version of the format. Records follow. A
// record consists of the length of its payload (4 bytes, little-endian), the CRC-32C of the payload (4 bytes), and the
// payload: one byte for its kind, then JSON. The first record is the Header. Secrets are sealed as in the state file.
// Everything after the last complete record with a correct checksum is a torn tail: it was never acknowledged.
package journal
