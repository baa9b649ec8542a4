package service

import "unicode/utf8"

// edit replaces a span of bytes of a text. Only the offsets of the span are set: nobody needs lines and columns.
type edit struct {
	Span    span
	NewText string
}

type span struct {
	URI   string `json:"uri"`
	Start point  `json:"start"`
	End   point  `json:"end"`
}

type point struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

// deltaOf returns the edits that turn one text into another: what lies between the common beginning and the common end.
func deltaOf(from, to []byte) []edit {
	start := 0
	for start < min(len(from), len(to)) && from[start] == to[start] {
		start++
	}
	end := 0
	for end < min(len(from), len(to))-start && from[len(from)-1-end] == to[len(to)-1-end] {
		end++
	}
	// An edit is text: it must not begin or end in the middle of a character.
	for start > 0 && !(boundary(from, start) && boundary(to, start)) {
		start--
	}
	for end > 0 && !(boundary(from, len(from)-end) && boundary(to, len(to)-end)) {
		end--
	}
	if start == len(from) && start == len(to) {
		return []edit{}
	}
	return []edit{{Span: span{Start: point{Offset: start}, End: point{Offset: len(from) - end}},
		NewText: string(to[start : len(to)-end])}}
}

// boundary reports whether a character begins at an offset, or the text ends there.
func boundary(text []byte, offset int) bool {
	return offset == len(text) || utf8.RuneStart(text[offset])
}
