// Package jsontext reads and writes JSON. Scanner decodes a whole text and locates the first fault. Passage and the
// functions around it skip values without decoding them, even in a text that is still incomplete. Write and the related
// functions write all JSON that other programs or people read. The package does not know what the texts mean.
package jsontext
