package diag

import (
	"bytes"
	"maps"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Source is one text with a name. It is immutable, except that Hide adds what is hidden, and safe for concurrent use.
type Source struct {
	name   string
	pieces *pieces

	joining sync.Once // makes text
	text    []byte

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
	text := s.pieces.slice(start, end)
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
	return &Source{name: name, pieces: joined([]*piece{newPiece(text)})}
}

// Edited is the text with the bytes from start up to but not including end replaced, which must lie in it. It shares
// all but what is around the edit with the text before, so that it costs little however long that is.
func (s *Source) Edited(start, end int, replacement string) *Source {
	return &Source{name: s.name, pieces: s.pieces.edited(start, end, replacement)}
}

// Name is the path as the user should see it.
func (s *Source) Name() string { return s.name }

// Renamed returns the same text under another name. Hidden parts stay hidden.
func (s *Source) Renamed(name string) *Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Source{name: name, pieces: s.pieces, hidden: maps.Clone(s.hidden)}
}

// Text is the whole text, which the caller must not modify. Of an edited text it is put together once it is asked for.
func (s *Source) Text() []byte {
	s.joining.Do(func() { s.text = s.pieces.slice(0, s.pieces.size) })
	return s.text
}

// Len is how many bytes the text has.
func (s *Source) Len() int { return s.pieces.size }

// Lines is the number of lines; a text that ends in a newline has an empty last line.
func (s *Source) Lines() int { return s.pieces.breaks + 1 }

// Position is a place in a text as people name it.
type Position struct {
	Line   int // 1-based
	Column int // 1-based, in Unicode code points
}

// Position converts a byte offset; an offset outside of the text is moved to its nearest end.
func (s *Source) Position(offset int) Position {
	line, before := s.lineTo(offset)
	return Position{Line: line + 1, Column: utf8.RuneCount(before) + 1}
}

// lineTo is the 0-based line of an offset, and the text of the line up to there.
func (s *Source) lineTo(offset int) (line int, before []byte) {
	offset = min(max(offset, 0), s.Len())
	line = s.pieces.lineOf(offset)
	return line, s.pieces.slice(s.pieces.lineStart(line), offset)
}

// Offset converts a place to a byte offset. Places outside of the text are moved to the nearest one inside: a column
// behind the end of its line to that end.
func (s *Source) Offset(p Position) int {
	return s.offsetOf(p.Line-1, p.Column-1, func(rune) int { return 1 })
}

// offsetOf is the byte offset of a 0-based line and column, where a character has so many columns as width says.
func (s *Source) offsetOf(line, column int, width func(rune) int) int {
	if line < 0 {
		return 0
	}
	if line >= s.Lines() {
		return s.Len()
	}
	start, end := s.lineBounds(line + 1)
	text := s.pieces.slice(start, end)
	i := 0
	for units := 0; i < len(text) && units < column; {
		r, size := utf8.DecodeRune(text[i:])
		units += width(r)
		i += size
	}
	return start + i
}

// PositionUTF16 converts a byte offset to a 0-based line and a 0-based column in UTF-16 code units, as editors count.
func (s *Source) PositionUTF16(offset int) (line, column int) {
	line, before := s.lineTo(offset)
	for _, r := range string(before) {
		column += utf16.RuneLen(r)
	}
	return line, column
}

// OffsetUTF16 converts a 0-based line and a 0-based column in UTF-16 code units to a byte offset, moving places outside
// of the text to the nearest one inside.
func (s *Source) OffsetUTF16(line, column int) int { return s.offsetOf(line, column, utf16.RuneLen) }

// ShownLine is Line with a star for every byte that is hidden.
func (s *Source) ShownLine(line int) []byte {
	if line < 1 || line > s.Lines() {
		return nil
	}
	return s.shown(s.lineBounds(line))
}

// Line is the text of a 1-based line without its line break; nil outside of the text.
func (s *Source) Line(line int) []byte {
	if line < 1 || line > s.Lines() {
		return nil
	}
	start, end := s.lineBounds(line)
	return s.pieces.slice(start, end)
}

func (s *Source) lineBounds(line int) (start, end int) {
	start, end = s.pieces.lineStart(line-1), s.Len()
	if line < s.Lines() {
		end = s.pieces.lineStart(line) - 1
	}
	if end > start && s.pieces.slice(end-1, end)[0] == '\r' {
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

// name is the name of the source; empty for no place at all.
func (r Range) name() string {
	if r.Source == nil {
		return ""
	}
	return r.Source.Name()
}

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
	if r.Source == nil || r.Start < 0 || int(r.End) > r.Source.Len() || r.Start > r.End {
		return ""
	}
	return string(r.Source.pieces.slice(int(r.Start), int(r.End)))
}

// Word returns the place of a word in the range, without the quotes around it. ok is false where the range writes the
// word in another way, such as with escapes, or holds something else.
func (r Range) Word(word string) (rng Range, ok bool) {
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
