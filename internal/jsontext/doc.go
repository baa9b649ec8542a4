// Package jsontext reads and writes JSON. Scanner reads a whole text and locates every fault. Passage and the functions
// around it skip values in bytes without decoding them, also before the whole text is there. Write and its kin are the
// one way to write JSON that other programs or people read. The package does not depend on the texts' meaning.
package jsontext
