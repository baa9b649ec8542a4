// Package jsontext reads JSON. Scanner reads a whole text and locates every fault. Passage and the functions around
// it skip values in bytes without decoding them, also before the whole text is there. The package does not depend on
// the texts' meaning.
package jsontext
