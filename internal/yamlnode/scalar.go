package yamlnode

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// The text of a scalar differs from its source because of escapes, folded lines and indentation. A textMap converts
// positions in the text to positions in the source. It is built by decoding the source again, by the rules of the YAML
// parser, and only for scalars in which a message needs a position.

// textMap maps byte offsets in a scalar's text to byte offsets in its source. Its segments are in ascending order.
type textMap struct {
	segments []segment
	decoded  int // length of the mapped text
	end      int // source offset after the scalar's last character, before any closing quote
}

// segment maps a range of the text to a range of the source: byte by byte or, if unit is set, as a whole.
type segment struct {
	decoded, length int32
	source, width   int32
	unit            bool
}

// copied records that the next n bytes of text are identical in the source.
func (m *textMap) copied(source, n int) {
	if n == 0 {
		return
	}
	if last := len(m.segments) - 1; last >= 0 {
		if s := &m.segments[last]; !s.unit && int(s.source+s.width) == source {
			s.length += int32(n)
			s.width += int32(n)
			m.decoded += n
			return
		}
	}
	m.segments = append(m.segments,
		segment{decoded: int32(m.decoded), length: int32(n), source: int32(source), width: int32(n)})
	m.decoded += n
}

// unit records that the next n bytes of text come from width bytes of source, which cannot be divided.
func (m *textMap) unit(source, width, n int) {
	if n == 0 {
		return
	}
	m.segments = append(m.segments,
		segment{decoded: int32(m.decoded), length: int32(n), source: int32(source), width: int32(width), unit: true})
	m.decoded += n
}

// segment returns the segment that contains a text offset.
func (m *textMap) segment(offset int) *segment {
	i := sort.Search(len(m.segments), func(i int) bool { return int(m.segments[i].decoded) > offset })
	return &m.segments[max(i-1, 0)]
}

// start returns the source offset at which the character at a text offset begins.
func (m *textMap) start(offset int) int {
	if offset >= m.decoded {
		return m.end
	}
	s := m.segment(offset)
	if s.unit {
		return int(s.source)
	}
	return int(s.source) + offset - int(s.decoded)
}

// stop returns the source offset at which the character before a text offset ends.
func (m *textMap) stop(offset int) int {
	if offset <= 0 || len(m.segments) == 0 {
		return m.start(0)
	}
	s := m.segment(min(offset, m.decoded) - 1)
	if s.unit {
		return int(s.source + s.width)
	}
	return int(s.source) + offset - int(s.decoded)
}

// ScalarText is the text of a scalar node, with a lazily built map to its source.
type ScalarText struct {
	In   *Text
	Node *Node
	Text string
	from *textMap // built on first use
	lost bool     // the map cannot be built: every position is the whole scalar
	// whole is the range of the alias through which the scalar is read; zero if there is none.
	Whole diag.Range
}

// At returns the source range of a part of the scalar's text.
func (s *ScalarText) At(from, to int) diag.Range {
	if s.from == nil && !s.lost {
		s.from = mapScalar(s.In.Bytes, s.Node)
		s.lost = s.from == nil
	}
	if s.lost {
		return s.In.Span(s.Node)
	}
	start := s.from.start(from)
	if to <= from {
		return s.In.At(start, start)
	}
	return s.In.At(start, s.from.stop(to))
}

// mapScalar builds the map of a scalar. It returns nil if the decoded text differs from that of the YAML parser; a fuzz
// test verifies that this does not happen.
func mapScalar(source []byte, n *Node) *textMap {
	start := contentStart(source, n)
	var text string
	var m *textMap
	switch {
	case n.singleQuoted():
		text, m = quotedMap(source, start, '\'')
	case n.doubleQuoted():
		text, m = quotedMap(source, start, '"')
	case n.Multiline():
		text, m = blockMap(source, start, int(n.indent))
	default:
		return plainMap(source, start, n.Value)
	}
	if m == nil || text != n.Value {
		return nil
	}
	return m
}

// lineBreak returns the text that a line break of n bytes at i is decoded to.
func lineBreak(text []byte, i, n int) string {
	if n == 3 {
		return string(text[i : i+3])
	}
	return "\n"
}

// fold reads blanks and line breaks from i up to the next line with content. ok is false if there is no line break.
// text is the result of the folding; escaped reports whether a backslash has removed the first line break.
func fold(source []byte, i int, escaped bool) (text string, next int, ok bool) {
	var first string
	var rest strings.Builder
	for i < len(source) {
		if IsBlank(source[i]) {
			i++
			continue
		}
		n := BreakAt(source, i)
		if n == 0 {
			break
		}
		if first == "" && !escaped {
			first = lineBreak(source, i, n)
		} else {
			rest.WriteString(lineBreak(source, i, n))
		}
		ok = true
		i += n
	}
	switch {
	case first == "\n" && rest.Len() == 0:
		text = " "
	case first == "\n":
		text = rest.String()
	default:
		text = first + rest.String()
	}
	return text, i, ok || escaped
}

// plainMap returns the map of a plain scalar with the given text, or nil if the source does not decode to that text.
func plainMap(source []byte, start int, text string) *textMap {
	m := &textMap{}
	i := start
	for d := 0; d < len(text); {
		if i >= len(source) {
			return nil
		}
		if !IsBlank(source[i]) && BreakAt(source, i) == 0 {
			from := i
			for i < len(source) && d < len(text) && source[i] == text[d] && !IsBlank(source[i]) &&
				BreakAt(source, i) == 0 {
				i++
				d++
			}
			if i == from {
				return nil
			}
			m.copied(from, i-from)
			continue
		}
		if folded, next, ok := fold(source, i, false); ok {
			if !strings.HasPrefix(text[d:], folded) {
				return nil
			}
			m.unit(i, next-i, len(folded))
			i, d = next, d+len(folded)
			continue
		}
		from := i
		for i < len(source) && d < len(text) && IsBlank(source[i]) && source[i] == text[d] {
			i++
			d++
		}
		if i == from {
			return nil
		}
		m.copied(from, i-from)
	}
	m.end = i
	return m
}

// quotedMap decodes the quoted scalar that begins at start. The map is nil if the scalar is malformed.
func quotedMap(source []byte, start int, quote byte) (string, *textMap) {
	m := &textMap{}
	if start >= len(source) || source[start] != quote {
		return "", nil
	}
	var text strings.Builder
	i := start + 1
	for i < len(source) {
		c := source[i]
		switch {
		case c == quote && quote == '\'' && i+1 < len(source) && source[i+1] == quote:
			text.WriteByte(quote)
			m.unit(i, 2, 1)
			i += 2
		case c == quote:
			m.end = i
			return text.String(), m
		case c == '\\' && quote == '"' && i+1 < len(source) && BreakAt(source, i+1) > 0:
			folded, next, _ := fold(source, i+1+BreakAt(source, i+1), true)
			text.WriteString(folded)
			m.unit(i, next-i, len(folded))
			i = next
		case c == '\\' && quote == '"':
			char, width := Unescape(source[i:])
			if width == 0 {
				return "", nil
			}
			text.WriteString(char)
			m.unit(i, width, len(char))
			i += width
		case IsBlank(c) || BreakAt(source, i) > 0:
			folded, next, ok := fold(source, i, false)
			if !ok {
				folded = string(source[i:next])
				m.copied(i, next-i)
			} else {
				m.unit(i, next-i, len(folded))
			}
			text.WriteString(folded)
			i = next
		default:
			from := i
			for i < len(source) && source[i] != quote && source[i] != '\\' && !IsBlank(source[i]) &&
				BreakAt(source, i) == 0 {
				i++
			}
			if i == from {
				i++ // a backslash in single quotes
			}
			text.Write(source[from:i])
			m.copied(from, i-from)
		}
	}
	return "", nil
}

// escapes maps the byte after a backslash in double quotes to the text that the escape stands for.
var escapes = map[byte]string{'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f",
	'r': "\r", 'e': "\x1b", ' ': " ", '"': "\"", '\'': "'", '\\': "\\", '/': "/", 'N': "\u0085", '_': "\u00a0",
	'L': "\u2028", 'P': "\u2029"}

// hexEscapes maps the letters of escapes with a code point to the number of hexadecimal digits.
var hexEscapes = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// Unescape decodes an escape sequence of a double-quoted scalar. It returns the text and the length of the escape,
// which is 0 if it is invalid.
func Unescape(source []byte) (string, int) {
	if len(source) < 2 {
		return "", 0
	}
	if char := escapes[source[1]]; char != "" {
		return char, 2
	}
	digits := hexEscapes[source[1]]
	if digits == 0 {
		return "", 0
	}
	if len(source) < 2+digits {
		return "", 0
	}
	r, err := strconv.ParseUint(string(source[2:2+digits]), 16, 32)
	if err != nil || r > utf8.MaxRune {
		return "", 0
	}
	if !utf16.IsSurrogate(rune(r)) {
		return string(rune(r)), 2 + digits
	}
	if digits != 4 || len(source) < pairWidth || string(source[6:8]) != `\u` {
		return "", 0
	}
	low, err := strconv.ParseUint(string(source[8:pairWidth]), 16, 32)
	if err != nil {
		return "", 0
	}
	whole := utf16.DecodeRune(rune(r), rune(low))
	if whole == utf8.RuneError {
		return "", 0
	}
	return string(whole), pairWidth
}

// pairWidth is the length of an escaped surrogate pair, as in JSON.
const pairWidth = len(`\ud83d\ude00`)

// header is the parsed header of a literal or folded scalar.
type header struct {
	literal   bool
	chomping  byte // '+', '-' or 0
	increment int  // indentation indicator; 0 if the text determines the indentation
	end       int  // offset after the indicators
	body      int  // offset of the next line
}

func blockHeader(source []byte, start int) header {
	h := header{literal: start < len(source) && source[start] == '|'}
	i := min(start+1, len(source))
	for ; i < len(source); i++ {
		if c := source[i]; c == '+' || c == '-' {
			h.chomping = c
		} else if c >= '1' && c <= '9' {
			h.increment = int(c - '0')
		} else {
			break
		}
	}
	h.end = i
	i = LineEnd(source, i)
	h.body = i + BreakAt(source, i)
	return h
}

// width returns the indentation of the text after a header, in spaces. parent is the indentation of the collection
// around it, or -1 if there is none.
func (h header) width(source []byte, parent int) int {
	if h.increment > 0 {
		return max(parent, 0) + h.increment
	}
	deepest := 0
	for i := h.body; i < len(source); {
		line := i
		i = SkipSpaces(source, i)
		deepest = max(deepest, i-line)
		n := BreakAt(source, i)
		if n == 0 {
			break
		}
		i += n
	}
	return max(deepest, parent+1, 1)
}

// blockMap decodes the literal or folded scalar that begins at start.
func blockMap(source []byte, start, parent int) (string, *textMap) {
	h := blockHeader(source, start)
	width := h.width(source, parent)
	m := &textMap{end: h.end}
	var text, trailing strings.Builder
	// breaks reads empty lines and the indentation of the next line. It reports whether that line belongs to the
	// scalar.
	breaks := func(i int) (int, bool) {
		for {
			line := i
			for i < len(source) && i-line < width && source[i] == ' ' {
				i++
			}
			n := BreakAt(source, i)
			if n == 0 {
				return i, i-line == width && i < len(source)
			}
			trailing.WriteString(lineBreak(source, i, n))
			i += n
		}
	}
	leading, lastEnd := "", h.body
	leadingBlank := false
	i, more := breaks(h.body)
	for more {
		blankLine := IsBlank(source[i])
		joint := leading + trailing.String()
		if !h.literal && !leadingBlank && !blankLine && leading == "\n" {
			if joint = trailing.String(); joint == "" {
				joint = " "
			}
		}
		trailing.Reset()
		text.WriteString(joint)
		m.unit(lastEnd, i-lastEnd, len(joint))
		leadingBlank = blankLine
		from := i
		i = LineEnd(source, i)
		text.Write(source[from:i])
		m.copied(from, i-from)
		lastEnd, m.end = i, i
		n := BreakAt(source, i)
		leading = ""
		if n > 0 {
			leading = lineBreak(source, i, n)
		}
		i, more = breaks(i + n)
	}
	tail := ""
	if h.chomping != '-' {
		tail = leading
	}
	if h.chomping == '+' {
		tail += trailing.String()
	}
	text.WriteString(tail)
	m.unit(m.end, 0, len(tail)) // kept line breaks follow the last line, which ends the node
	return text.String(), m
}

// contentStart returns the offset of a node's content, after its anchor and tag. It uses only the start, kind, value
// and style of the node.
func contentStart(text []byte, n *Node) int {
	i := n.Start
	if n.Kind == Alias {
		return i
	}
	for i < len(text) && (text[i] == '&' || text[i] == '!') {
		anchor := text[i] == '&'
		for i++; i < len(text) && (anchor && wordByte(text[i]) || !anchor && !BlankAt(text, i)); i++ {
		}
		if n.Kind == Scalar && n.Value == "" && n.Style&^TaggedStyle == 0 {
			// The empty node has no content after its anchor and tag.
			next := SkipBlanks(text, i)
			if next >= len(text) || text[next] != '&' && text[next] != '!' {
				return i
			}
			i = next
			continue
		}
		i = behindLines(text, i)
	}
	return i
}

// wordByte reports whether a byte may be part of an anchor's name.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// isRefused reports whether an escape of width bytes is valid only in JSON.
func isRefused(escape []byte, width int) bool { return escape[1] == '/' || width == pairWidth }

// refused is an escape that the YAML parser rejects.
type refused struct{ pos, width int }
