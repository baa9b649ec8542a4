package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// SyntaxError says where a state file is no JSON, or is not of the shape that a state has.
type SyntaxError struct {
	Offset  int // 0-based, in bytes
	Line    int // 1-based
	Column  int // 1-based, in bytes
	Problem string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d (byte %d): %s", e.Line, e.Column, e.Offset, e.Problem)
}

// scanner reads JSON from a text in one pass. Strings without escapes are parts of the text, not copies. The first fault
// stays in err, and everything after it reads as empty, so that callers check once.
type scanner struct {
	text  string
	pos   int
	err   error
	depth int
	blank int // how many blanks were skipped, to know whether a raw value is compact
}

func newScanner(text string) *scanner {
	s := &scanner{text: text}
	if !utf8.ValidString(text) { // replacing it would make another ID or name of it
		for at, r := range text {
			if _, size := utf8.DecodeRuneInString(text[at:]); r == utf8.RuneError && size == 1 {
				s.failAt(at, "byte 0x%02x is not UTF-8: the file is damaged, or was written in another encoding", text[at])
				return s
			}
		}
	}
	if strings.HasPrefix(text, "\ufeff") {
		s.pos = len("\ufeff")
	}
	return s
}

func (s *scanner) fail(format string, args ...any) { s.failAt(s.pos, format, args...) }

func (s *scanner) failAt(offset int, format string, args ...any) {
	if s.err != nil {
		return
	}
	before := s.text[:offset]
	s.err = &SyntaxError{
		Offset:  offset,
		Line:    1 + strings.Count(before, "\n"),
		Column:  offset - strings.LastIndexByte(before, '\n'),
		Problem: fmt.Sprintf(format, args...),
	}
	s.pos = len(s.text)
}

// stop ends the reading with an error that is not about syntax.
func (s *scanner) stop(err error) {
	if s.err == nil {
		s.err = err
		s.pos = len(s.text)
	}
}

// next is the first byte that is not blank, which stays unread; 0 at the end.
func (s *scanner) next() byte {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
			s.blank++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) unexpected(want string) {
	if s.next() == 0 && s.pos >= len(s.text) {
		s.fail("the text ends where %s should come", want)
		return
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:])
	s.fail("found %q where %s should come", r, want)
}

func (s *scanner) expect(c byte, want string) bool {
	if s.next() != c {
		s.unexpected(want)
		return false
	}
	s.pos++
	return true
}

// end checks that nothing follows.
func (s *scanner) end() {
	if s.err == nil && (s.next() != 0 || s.pos < len(s.text)) {
		s.unexpected("the end")
	}
}

func (s *scanner) enter() bool {
	if s.depth++; s.depth > maxDepth {
		s.fail("lists and objects are nested more than %d deep", maxDepth)
		return false
	}
	return true
}

// object calls member for each member of an object, whose value member has to read. A null is an object without members.
func (s *scanner) object(member func(key string)) {
	if s.null() {
		return
	}
	if !s.expect('{', "an object") || !s.enter() {
		return
	}
	defer func() { s.depth-- }()
	if s.next() == '}' {
		s.pos++
		return
	}
	for s.err == nil {
		key := s.key()
		if s.err != nil {
			return
		}
		member(key)
		if !s.more('}') {
			return
		}
	}
}

func (s *scanner) key() string {
	if s.next() != '"' {
		s.unexpected("a key")
		return ""
	}
	key := s.string()
	s.expect(':', `":"`)
	return key
}

// more steps over a comma, or over the end of a list or object.
func (s *scanner) more(end byte) bool {
	switch c := s.next(); {
	case c == ',':
		s.pos++
		return true
	case c == end:
		s.pos++
		return false
	}
	s.unexpected(fmt.Sprintf(`"," or "%c"`, end))
	return false
}

// list calls item for each item of a list, which item has to read. A null is a list without items.
func (s *scanner) list(item func()) {
	if s.null() {
		return
	}
	if !s.expect('[', "a list") || !s.enter() {
		return
	}
	defer func() { s.depth-- }()
	if s.next() == ']' {
		s.pos++
		return
	}
	for s.err == nil {
		item()
		if !s.more(']') {
			return
		}
	}
}

func (s *scanner) word(w string) bool {
	if !strings.HasPrefix(s.text[s.pos:], w) {
		s.unexpected("a value")
		return false
	}
	s.pos += len(w)
	return true
}

// null steps over a null and reports whether there was one.
func (s *scanner) null() bool { return s.next() == 'n' && s.word("null") }

func (s *scanner) bool() bool {
	switch s.next() {
	case 't':
		return s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.unexpected("true or false")
	}
	return false
}

// optional is a string; null counts as an empty one.
func (s *scanner) optional() string {
	if s.null() {
		return ""
	}
	if s.next() != '"' {
		s.unexpected("a string")
		return ""
	}
	return s.string()
}

// special tells the bytes at which reading a string has to stop and think.
var special = func() (table [256]bool) {
	for c := range table {
		table[c] = c < 0x20 || c == '"' || c == '\\'
	}
	return table
}()

// string reads a string whose opening quote is next.
func (s *scanner) string() string {
	start := s.pos + 1
	i := start
	for i < len(s.text) && !special[s.text[i]] {
		i++
	}
	if i < len(s.text) && s.text[i] == '"' {
		s.pos = i + 1
		return s.text[start:i]
	}
	return s.escaped(start, i)
}

func (s *scanner) escaped(start, i int) string {
	buf := append(make([]byte, 0, i-start+32), s.text[start:i]...)
	for i < len(s.text) {
		c := s.text[i]
		switch {
		case c == '"':
			s.pos = i + 1
			return string(buf)
		case c < 0x20:
			s.failAt(i, "a control character stands in a string")
			return ""
		case c == '\\':
			var ok bool
			if buf, i, ok = s.escape(buf, i); !ok {
				return ""
			}
		default:
			end := i
			for end < len(s.text) && !special[s.text[end]] {
				end++
			}
			buf = append(buf, s.text[i:end]...)
			i = end
		}
	}
	s.failAt(start-1, "the string that begins here does not end")
	return ""
}

func (s *scanner) escape(buf []byte, i int) ([]byte, int, bool) {
	if i+1 < len(s.text) {
		switch c := s.text[i+1]; c {
		case '"', '\\', '/':
			return append(buf, c), i + 2, true
		case 'b':
			return append(buf, '\b'), i + 2, true
		case 'f':
			return append(buf, '\f'), i + 2, true
		case 'n':
			return append(buf, '\n'), i + 2, true
		case 'r':
			return append(buf, '\r'), i + 2, true
		case 't':
			return append(buf, '\t'), i + 2, true
		case 'u':
			if r, ok := s.hex4(i); ok {
				i += 6
				if utf16.IsSurrogate(r) {
					low, _ := s.hex4(i)
					if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
						i += 6
					}
				}
				return utf8.AppendRune(buf, r), i, true
			}
		}
	}
	s.failAt(i, "this is no escape that a string may have")
	return nil, 0, false
}

// hex4 is the code unit of an escape \uXXXX at i.
func (s *scanner) hex4(i int) (rune, bool) {
	if i+6 > len(s.text) || s.text[i] != '\\' || s.text[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s.text[i+2:i+6], 16, 16)
	return rune(n), err == nil && s.text[i+2] != '+'
}

// number reads a number of JSON's grammar.
func (s *scanner) number() float64 {
	s.next()
	start := s.pos
	literal := s.literal()
	if literal == "" {
		return 0
	}
	if n := len(literal); n <= 15 && isDigits(literal) {
		var i int64
		for _, c := range []byte(literal) {
			i = i*10 + int64(c-'0')
		}
		return float64(i)
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(f, 0) {
		s.failAt(start, "the number %s is too large", literal)
		return 0
	}
	return f
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// literal steps over a number and checks its grammar.
func (s *scanner) literal() string {
	start := s.pos
	digits := func() bool {
		from := s.pos
		for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
			s.pos++
		}
		return s.pos > from
	}
	at := func(c byte) bool {
		if s.pos < len(s.text) && s.text[s.pos] == c {
			s.pos++
			return true
		}
		return false
	}
	at('-')
	if !at('0') && !digits() {
		s.unexpected("a value")
		return ""
	}
	if at('.') && !digits() {
		s.unexpected("a digit")
		return ""
	}
	if at('e') || at('E') {
		if !at('+') {
			at('-')
		}
		if !digits() {
			s.unexpected("a digit")
			return ""
		}
	}
	if s.err != nil {
		return ""
	}
	return s.text[start:s.pos]
}

// skip steps over a value of any kind, checking its grammar.
func (s *scanner) skip() {
	switch c := s.next(); c {
	case '{':
		s.object(func(string) { s.skip() })
	case '[':
		s.list(s.skip)
	case '"':
		s.string()
	case 't', 'f':
		s.bool()
	case 'n':
		s.null()
	default:
		s.literal()
	}
}

// raw is the text of the next value, compact.
func (s *scanner) raw() json.RawMessage {
	s.next()
	start, blank := s.pos, s.blank
	s.skip()
	if s.err != nil {
		return nil
	}
	text := json.RawMessage(s.text[start:s.pos])
	if s.blank == blank {
		return text
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return text
	}
	return compact.Bytes()
}

func scanTexts[T ~string](s *scanner) []T {
	var list []T
	s.list(func() { list = append(list, T(s.optional())) })
	return list
}

func scanTextMap[T ~string](s *scanner) map[string][]T {
	var m map[string][]T
	s.object(func(key string) {
		if m == nil {
			m = map[string][]T{}
		}
		list := scanTexts[T](s)
		if list == nil {
			list = []T{}
		}
		m[key] = list
	})
	return m
}
