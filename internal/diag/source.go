package diag

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Source is a named text. It is immutable except for the set of hidden ranges, and safe for concurrent use.
type Source struct {
	name   string
	pieces *pieces

	joining sync.Once // guards the initialization of text
	text    []byte

	mu     sync.Mutex // guards hidden
	hidden map[Range]struct{}
}

// Hide masks a range, such as a secret in a program, in everything that is rendered.
func (s *Source) Hide(r Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hidden == nil {
		s.hidden = map[Range]struct{}{}
	}
	s.hidden[r] = struct{}{} // a set, because a text may be read twice
}

func (s *Source) hides() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.hidden) > 0
}

// Hidden reports whether exactly this range is hidden.
func (r Range) Hidden() bool {
	if r.Source == nil {
		return false
	}
	r.Source.mu.Lock()
	defer r.Source.mu.Unlock()
	_, hidden := r.Source.hidden[r]
	return hidden
}

// hiddenTexts returns the texts of the hidden ranges that ranges touch, each as it is written and as it is read,
// without those that are too short to be told from other words.
func hiddenTexts(ranges ...Range) []string {
	const least = 4
	var texts []string
	for _, r := range ranges {
		if r.Source == nil {
			continue
		}
		r.Source.mu.Lock()
		for h := range r.Source.hidden {
			if h.Start > r.End || r.Start > h.End {
				continue
			}
			written := string(r.Source.pieces.slice(int(h.Start), int(h.End)))
			for line := range strings.Lines(written) {
				line = strings.TrimSpace(line)
				line = strings.Trim(line, "[]") // of an index
				read, err := strconv.Unquote(line)
				if err != nil {
					read = strings.Trim(line, `"'`)
				}
				quoted := strconv.Quote(read)
				for _, form := range []string{read, quoted[1 : len(quoted)-1], strings.Trim(line, `"'`)} {
					if len(form) >= least && !slices.Contains(texts, form) {
						texts = append(texts, form)
					}
				}
			}
		}
		r.Source.mu.Unlock()
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return texts
}

// without returns a message without texts, of which it may have the beginning only.
func without(message string, texts []string) string {
	const secret, recognized = "[secret]", 12
	for _, text := range texts {
		begin := text[:min(len(text), recognized)]
		for from := 0; ; {
			i := strings.Index(message[from:], begin)
			if i < 0 {
				break
			}
			i += from
			end := i + len(begin)
			for end < len(message) && end-i < len(text) && message[end] == text[end-i] {
				end++
			}
			message = message[:i] + secret + message[end:]
			from = i + len(secret)
		}
	}
	return message
}

// shown returns the bytes in [start, end) for display. Every hidden byte that is not white space is replaced by an
// asterisk, so that positions do not change.
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

// NewSource returns a Source. name is the path as the user should see it. NewSource takes ownership of text.
func NewSource(name string, text []byte) *Source {
	return &Source{name: name, pieces: joined([]*piece{newPiece(text)})}
}

// Edited returns a new Source in which the bytes in [start, end), which must exist, are replaced. It shares the memory
// of everything that is not near the edit, so that its cost hardly depends on the size of the text.
func (s *Source) Edited(start, end int, replacement string) *Source {
	return &Source{name: s.name, pieces: s.pieces.edited(start, end, replacement)}
}

// Name returns the path as the user should see it.
func (s *Source) Name() string { return s.name }

// Renamed returns the same text under another name. Hidden ranges stay hidden.
func (s *Source) Renamed(name string) *Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Source{name: name, pieces: s.pieces, hidden: maps.Clone(s.hidden)}
}

// Text returns the whole text, which the caller must not modify. The text of an edited Source is assembled on the first
// call.
func (s *Source) Text() []byte {
	s.joining.Do(func() { s.text = s.pieces.slice(0, s.pieces.size) })
	return s.text
}

// Len returns the length of the text in bytes.
func (s *Source) Len() int { return s.pieces.size }

// Lines returns the number of lines. A text that ends in a newline has an empty last line.
func (s *Source) Lines() int { return s.pieces.breaks + 1 }

// Position is a line and a column of a text.
type Position struct {
	Line   int // 1-based
	Column int // 1-based, in Unicode code points
}

// Position converts a byte offset. An offset outside of the text is moved to the nearest end.
func (s *Source) Position(offset int) Position {
	line, prefix := s.lineTo(offset)
	return Position{Line: line + 1, Column: utf8.RuneCount(prefix) + 1}
}

// LineOf returns the 1-based line of a byte offset, as Position does, without counting the characters before it.
func (s *Source) LineOf(offset int) int {
	return s.pieces.lineOf(min(max(offset, 0), s.Len())) + 1
}

// lineTo returns the 0-based line of an offset, and the text of that line before the offset.
func (s *Source) lineTo(offset int) (line int, prefix []byte) {
	offset = min(max(offset, 0), s.Len())
	line = s.pieces.lineOf(offset)
	return line, s.pieces.slice(s.pieces.lineStart(line), offset)
}

// Offset converts a position to a byte offset. A position outside of the text is moved to the nearest one inside, and a
// column after the end of its line to that end.
func (s *Source) Offset(p Position) int {
	return s.offsetOf(p.Line-1, p.Column-1, func(rune) int { return 1 })
}

// offsetOf returns the byte offset of a 0-based line and column. width returns the number of columns of a character.
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
	line, prefix := s.lineTo(offset)
	for _, r := range string(prefix) {
		column += utf16.RuneLen(r)
	}
	return line, column
}

// OffsetUTF16 converts a 0-based line and a 0-based column in UTF-16 code units to a byte offset. A position outside of
// the text is moved to the nearest one inside.
func (s *Source) OffsetUTF16(line, column int) int { return s.offsetOf(line, column, utf16.RuneLen) }

// ShownLine returns a 1-based line like Line, with an asterisk for every hidden byte.
func (s *Source) ShownLine(line int) []byte {
	if line < 1 || line > s.Lines() {
		return nil
	}
	return s.shown(s.lineBounds(line))
}

// Line returns the text of a 1-based line without its line break, or nil if there is no such line.
func (s *Source) Line(line int) []byte {
	if line < 1 || line > s.Lines() {
		return nil
	}
	return s.pieces.slice(s.lineBounds(line))
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

// Range is the bytes of Source in [Start, End). The zero Range is no position at all.
type Range struct {
	Source     *Source
	Start, End int32
}

// NewRange returns the Range of s with the given byte offsets. If end is less than start, the range is empty.
func NewRange(s *Source, start, end int) Range {
	return Range{Source: s, Start: int32(start), End: int32(max(start, end))}
}

// IsZero reports whether r has no source.
func (r Range) IsZero() bool { return r.Source == nil }

// name returns the name of the source, or an empty string for a zero range.
func (r Range) name() string {
	if r.Source == nil {
		return ""
	}
	return r.Source.Name()
}

// StartPosition returns the position of the first character, or the zero Position for a zero range.
func (r Range) StartPosition() Position {
	if r.Source == nil {
		return Position{}
	}
	return r.Source.Position(int(r.Start))
}

// EndPosition returns the position after the last character, or the zero Position for a zero range.
func (r Range) EndPosition() Position {
	if r.Source == nil {
		return Position{}
	}
	return r.Source.Position(int(r.End))
}

// Text returns the text of the range. It is empty for a zero range and for a range outside of its source.
func (r Range) Text() string {
	if r.Source == nil || r.Start < 0 || int(r.End) > r.Source.Len() || r.Start > r.End {
		return ""
	}
	return string(r.Source.pieces.slice(int(r.Start), int(r.End)))
}

// Word returns the range of a word in r, without quotes around it. ok is false if r contains anything else, including
// the word written with escapes.
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

// Contains reports whether the byte offset is in the range or at its end.
func (r Range) Contains(offset int) bool {
	return r.Source != nil && int(r.Start) <= offset && offset <= int(r.End)
}
