package diag

import (
	"bytes"
	"maps"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Source is one text with a name. It is immutable, except that Hide adds what is hidden, and safe for concurrent use.
type Source struct {
	name  string
	text  []byte
	lines []int32 // byte offset of the first byte of each line

	mu     sync.Mutex // guards what follows
	hidden map[Range]struct{}
}

// Hide keeps a range out of everything that is rendered: a secret that stands in a program.
func (s *Source) Hide(r Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hidden == nil {
		s.hidden = map[Range]struct{}{}
	}
	s.hidden[r] = struct{}{} // a text may be read twice
}

// shown is the text from start to end as people may see it: a star stands for every byte that is hidden, so that places
// stay what they are.
func (s *Source) shown(start, end int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text[start:end]
	copied := false
	for r := range s.hidden {
		from, to := max(int(r.Start), start), min(int(r.End), end)
		if from >= to {
			continue
		}
		if !copied {
			text, copied = bytes.Clone(text), true
		}
		for i := from - start; i < to-start; i++ {
			if c := text[i]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
				text[i] = '*'
			}
		}
	}
	return text
}

// NewSource makes a Source. name is the path as the user should see it. It takes ownership of text.
func NewSource(name string, text []byte) *Source {
	lines := make([]int32, 1, bytes.Count(text, []byte{'\n'})+1)
	return &Source{name: name, text: text, lines: appendLines(lines, text, 0)}
}

// appendLines adds the beginnings of the lines behind those line breaks that a text has, which begins at an offset.
func appendLines(lines []int32, text []byte, offset int) []int32 {
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return lines
		}
		at += n + 1
		lines = append(lines, int32(offset+at))
	}
}

// Edited is the text with the bytes from start up to but not including end replaced, which must lie in it. It is
// cheaper than NewSource: the places of the lines that stay are reused.
func (s *Source) Edited(start, end int, by string) *Source {
	text := make([]byte, 0, len(s.text)-(end-start)+len(by))
	text = append(append(append(text, s.text[:start]...), by...), s.text[end:]...)
	from, to := s.lineOf(start)+1, s.lineOf(end)+1
	lines := make([]int32, 0, len(s.lines)-(to-from)+strings.Count(by, "\n"))
	lines = appendLines(append(lines, s.lines[:from]...), text[start:start+len(by)], start)
	shift := int32(len(text) - len(s.text))
	for _, at := range s.lines[to:] {
		lines = append(lines, at+shift)
	}
	return &Source{name: s.name, text: text, lines: lines}
}

// lineOf is the 0-based line of an offset.
func (s *Source) lineOf(offset int) int {
	return sort.Search(len(s.lines), func(i int) bool { return int(s.lines[i]) > offset }) - 1
}

// Name is the path as the user should see it.
func (s *Source) Name() string { return s.name }

// Renamed is the same text under another name. What is hidden stays hidden.
func (s *Source) Renamed(name string) *Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Source{name: name, text: s.text, lines: s.lines, hidden: maps.Clone(s.hidden)}
}

// Text is the whole text, which the caller must not modify.
func (s *Source) Text() []byte { return s.text }

// Lines is the number of lines; a text that ends in a newline has an empty last line.
func (s *Source) Lines() int { return len(s.lines) }

// Position is a place in a text as people name it.
type Position struct {
	Line   int // 1-based
	Column int // 1-based, in Unicode code points
}

// Position converts a byte offset; an offset outside of the text is moved to its nearest end.
func (s *Source) Position(offset int) Position {
	offset = min(max(offset, 0), len(s.text))
	line := s.lineOf(offset)
	return Position{Line: line + 1, Column: utf8.RuneCount(s.text[s.lines[line]:offset]) + 1}
}

// Offset converts a place to a byte offset. Places outside of the text are moved to the nearest one inside: a column
// behind the end of its line to that end.
func (s *Source) Offset(p Position) int {
	if p.Line < 1 {
		return 0
	}
	if p.Line > len(s.lines) {
		return len(s.text)
	}
	start, end := s.lineBounds(p.Line)
	for column := 1; column < p.Column && start < end; column++ {
		_, size := utf8.DecodeRune(s.text[start:end])
		start += size
	}
	return start
}

// PositionUTF16 converts a byte offset to a 0-based line and a 0-based column in UTF-16 code units, as editors count.
func (s *Source) PositionUTF16(offset int) (line, column int) {
	offset = min(max(offset, 0), len(s.text))
	line = s.lineOf(offset)
	for _, r := range string(s.text[s.lines[line]:offset]) {
		column++
		if r > 0xFFFF {
			column++
		}
	}
	return line, column
}

// OffsetUTF16 converts a 0-based line and a 0-based column in UTF-16 code units to a byte offset, moving places outside
// of the text to the nearest one inside.
func (s *Source) OffsetUTF16(line, column int) int {
	if line < 0 {
		return 0
	}
	if line >= len(s.lines) {
		return len(s.text)
	}
	start, end := s.lineBounds(line + 1)
	for units := 0; start < end && units < column; {
		r, size := utf8.DecodeRune(s.text[start:end])
		units++
		if r > 0xFFFF {
			units++
		}
		start += size
	}
	return start
}

// Line is the text of a 1-based line without its line break; nil outside of the text.
func (s *Source) Line(line int) []byte {
	if line < 1 || line > len(s.lines) {
		return nil
	}
	start, end := s.lineBounds(line)
	return s.text[start:end]
}

func (s *Source) lineBounds(line int) (start, end int) {
	start, end = int(s.lines[line-1]), len(s.text)
	if line < len(s.lines) {
		end = int(s.lines[line]) - 1
	}
	if end > start && s.text[end-1] == '\r' {
		end--
	}
	return start, end
}

// Range is a stretch of a Source: the bytes from Start up to but not including End. The zero Range is no place at all.
type Range struct {
	Source     *Source
	Start, End int32
}

// NewRange makes a Range from byte offsets.
func NewRange(s *Source, start, end int) Range {
	return Range{Source: s, Start: int32(start), End: int32(max(start, end))}
}

// IsZero reports whether r is no place at all.
func (r Range) IsZero() bool { return r.Source == nil }

// StartPosition is where the range begins; the zero Position for no place at all.
func (r Range) StartPosition() Position {
	if r.Source == nil {
		return Position{}
	}
	return r.Source.Position(int(r.Start))
}

// EndPosition is just behind the range's last character; the zero Position for no place at all.
func (r Range) EndPosition() Position {
	if r.Source == nil {
		return Position{}
	}
	return r.Source.Position(int(r.End))
}

// Text is the range's text; empty for no place at all or a range outside of its source.
func (r Range) Text() string {
	if r.Source == nil || r.Start < 0 || int(r.End) > len(r.Source.text) || r.Start > r.End {
		return ""
	}
	return string(r.Source.text[r.Start:r.End])
}

// Word returns the place of a word in the range, without the quotes around it. ok is false where the range writes the
// word in another way, such as with escapes, or holds something else.
func (r Range) Word(word string) (at Range, ok bool) {
	text := r.Text()
	if n := len(text); n == len(word)+2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] &&
		text[1:n-1] == word {
		r.Start++
		r.End--
		return r, true
	}
	return r, text == word
}

// Contains reports whether the byte offset lies in the range, its end included.
func (r Range) Contains(offset int) bool {
	return r.Source != nil && int(r.Start) <= offset && offset <= int(r.End)
}
