// Package jsontext reads JSON: Scanner a whole text, with the place of every fault; Passage and the functions around it
// pass over values in bytes, also before all of a text is there, without decoding what nobody asked for. It knows
// nothing of what the texts are for.
package jsontext
