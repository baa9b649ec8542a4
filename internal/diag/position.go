package diag

import (
	"sort"
	"unicode/utf16"
	"unicode/utf8"
)

// Position is a line and a column of a text.
type Position struct {
	Line   int // 1-based
	Column int // 1-based, in Unicode code points
}

// A mark is a character of a line: its byte offset in the text, and how many code points and UTF-16 code units of its
// line are before it.
type mark struct{ offset, runes, units int }

// stride is the distance between the places of two marks in a line, in bytes. A mark is the first character that begins
// at its place or behind it. Lines that are not longer have only the mark at their start.
const stride = 1 << 10

// marksOf returns the marks of the 0-based line in [start, end) if it is long, in order; nil if it is not. The caller
// does not modify them.
//
// The marks of a long line are kept. Generated programs are often one line, and counting from its start for each place
// would take time with the square of its length.
func (s *Source) marksOf(line, start, end int) []mark {
	if end-start <= stride {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	marks, known := s.marks[line]
	if !known {
		text, at := s.pieces.slice(start, end), mark{offset: start}
		for next := start; at.offset < end; {
			if at.offset >= next {
				marks, next = append(marks, at), next+stride
			}
			r, size := utf8.DecodeRune(text[at.offset-start:])
			at = mark{at.offset + size, at.runes + 1, at.units + utf16.RuneLen(r)}
		}
		if s.marks == nil {
			s.marks = map[int][]mark{}
		}
		s.marks[line] = marks
	}
	return marks
}

// Position converts a byte offset. An offset outside of the text is moved to the nearest end.
func (s *Source) Position(offset int) Position {
	line, from, rest := s.lineTo(offset)
	return Position{Line: line + 1, Column: from.runes + utf8.RuneCount(rest) + 1}
}

// PositionUTF16 converts a byte offset to a 0-based line and a 0-based column in UTF-16 code units, as editors count.
func (s *Source) PositionUTF16(offset int) (line, column int) {
	line, from, rest := s.lineTo(offset)
	column = from.units
	for _, r := range string(rest) {
		column += utf16.RuneLen(r)
	}
	return line, column
}

// LineOf returns the 1-based line of a byte offset, as Position does, without counting the characters before it.
func (s *Source) LineOf(offset int) int {
	return s.pieces.lineOf(min(max(offset, 0), s.Len())) + 1
}

// lineTo returns the 0-based line of an offset, a mark in that line, and the text between the mark and the offset.
func (s *Source) lineTo(offset int) (line int, from mark, rest []byte) {
	offset = min(max(offset, 0), s.Len())
	line = s.pieces.lineOf(offset)
	start, end := s.lineBounds(line + 1)
	from = mark{offset: start}
	if marks := s.marksOf(line, start, end); marks != nil {
		// Without a search: a check asks for many places, and the work of a search would grow with the line.
		i := min((offset-start)/stride, len(marks)-1)
		if marks[i].offset > offset {
			i--
		}
		from = marks[i]
	}
	return line, from, s.pieces.slice(from.offset, offset)
}

// Offset converts a position to a byte offset. A position outside of the text is moved to the nearest one inside, and a
// column after the end of its line to that end.
func (s *Source) Offset(p Position) int {
	return s.offsetOf(p.Line-1, p.Column-1, func(m mark) int { return m.runes }, func(rune) int { return 1 })
}

// OffsetUTF16 converts a 0-based line and a 0-based column in UTF-16 code units to a byte offset. A position outside of
// the text is moved to the nearest one inside.
func (s *Source) OffsetUTF16(line, column int) int {
	return s.offsetOf(line, column, func(m mark) int { return m.units }, utf16.RuneLen)
}

// offsetOf returns the byte offset of a 0-based line and column. before returns the number of columns before a mark,
// and width that of a character.
func (s *Source) offsetOf(line, column int, before func(mark) int, width func(rune) int) int {
	if line < 0 {
		return 0
	}
	if line >= s.Lines() {
		return s.Len()
	}
	column = max(column, 0)
	start, end := s.lineBounds(line + 1)
	from := mark{offset: start}
	if marks := s.marksOf(line, start, end); marks != nil {
		from = marks[sort.Search(len(marks), func(i int) bool { return before(marks[i]) > column })-1]
	}
	// The next mark is not behind this text.
	text := s.pieces.slice(from.offset, min(end, from.offset+stride+utf8.UTFMax))
	i := 0
	for units := before(from); i < len(text) && units < column; {
		r, size := utf8.DecodeRune(text[i:])
		units += width(r)
		i += size
	}
	return from.offset + i
}
