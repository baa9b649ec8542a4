package diag

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Source is a named text. It is immutable except for the set of hidden ranges, and safe for concurrent use.
type Source struct {
	name   string
	pieces *pieces

	joining sync.Once // guards the initialization of text
	text    []byte

	mu      sync.Mutex // guards the rest
	hidden  map[Range]struct{}
	ordered []Range        // hidden by its starts, if it has as many; hidden only grows
	longest int            // the length of the longest of ordered
	marks   map[int][]mark // of long lines, each by its 0-based number
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

// SoundsSecret reports whether the values of a key are probably secret, by its name. It decides what is hidden where no
// schema and no declaration does, and which values of configuration are not stored in plain text (F3.15).
func SoundsSecret(key string) bool {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
	return slices.ContainsFunc(soundingSecret, func(word string) bool { return strings.Contains(plain, word) })
}

var soundingSecret = []string{"pass", "pwd", "secret", "token", "credential", "privatekey", "apikey", "accesskey"}

// touching returns the hidden ranges that begin in [start, end], or before it and may reach into it, in their order.
// The caller holds mu.
func (s *Source) touching(start, end int) []Range {
	if len(s.ordered) != len(s.hidden) {
		s.ordered, s.longest = slices.SortedFunc(maps.Keys(s.hidden), func(a, b Range) int {
			return cmp.Or(int(a.Start-b.Start), int(a.End-b.End))
		}), 0
		for _, r := range s.ordered {
			s.longest = max(s.longest, int(r.End-r.Start))
		}
	}
	begins := func(r Range, at int) int { return int(r.Start) - at }
	from, _ := slices.BinarySearchFunc(s.ordered, start-s.longest, begins)
	to, _ := slices.BinarySearchFunc(s.ordered, end+1, begins)
	return s.ordered[from:max(from, to)]
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
		for _, h := range r.Source.touching(int(r.Start), int(r.End)) {
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
	for _, r := range s.touching(start, end) {
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

// Len returns the length of the text in bytes; 0 for no source.
func (s *Source) Len() int {
	if s == nil {
		return 0
	}
	return s.pieces.size
}

// Lines returns the number of lines. A text that ends in a newline has an empty last line.
func (s *Source) Lines() int { return s.pieces.breaks + 1 }

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
