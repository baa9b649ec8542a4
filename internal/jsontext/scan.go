package jsontext

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

// Error describes a position at which a text is not valid JSON or does not have the expected structure.
type Error struct {
	Offset  int // 0-based, in bytes
	Line    int // 1-based
	Column  int // 1-based, in bytes
	Problem string
}

// Error returns the position and the problem.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d (byte %d): %s", e.Line, e.Column, e.Offset, e.Problem)
}

// Options configures a Scanner.
type Options struct {
	MaxDepth int  // maximum nesting depth of lists and objects
	Secret   bool // errors do not quote the text
}

// Scanner reads JSON from a text in one pass. Strings without escapes share the memory of the text; invalid UTF-8 is
// preserved. The first fault is recorded in Err, after which everything reads as empty, so that callers only need to
// check Err once. A Scanner must not be used by several goroutines at once.
type Scanner struct {
	Source string
	Pos    int   // 0-based, in bytes; may be set to continue elsewhere
	Err    error // the first fault, often an *Error
	Depth  int   // number of lists and objects around Pos
	// Inexact is the first integer that Number has read whose digits no float64 keeps; empty for none.
	Inexact string

	options Options
	blank   int // number of white-space bytes skipped, so that Raw knows whether a value is compact
}

// New returns a Scanner at the start of text.
func New(text string, o Options) *Scanner {
	return &Scanner{Source: text, options: o}
}

// Fail records a fault at Pos, unless Err is already set.
func (s *Scanner) Fail(format string, args ...any) { s.FailAt(s.Pos, format, args...) }

// FailAt records a fault at an offset, unless Err is already set.
func (s *Scanner) FailAt(offset int, format string, args ...any) {
	if s.Err != nil {
		return
	}
	prefix := s.Source[:offset]
	s.Err = &Error{
		Offset:  offset,
		Line:    1 + strings.Count(prefix, "\n"),
		Column:  offset - strings.LastIndexByte(prefix, '\n'),
		Problem: fmt.Sprintf(format, args...),
	}
	s.Pos = len(s.Source)
}

// Stop ends the scan with err, which is not a syntax error, unless Err is already set.
func (s *Scanner) Stop(err error) {
	if s.Err == nil {
		s.Err = err
		s.Pos = len(s.Source)
	}
}

// Next skips white space and returns the next byte without consuming it, or 0 at the end of the text.
func (s *Scanner) Next() byte {
	for s.Pos < len(s.Source) {
		switch c := s.Source[s.Pos]; c {
		case ' ', '\t', '\n', '\r':
			s.Pos++
			s.blank++
		default:
			return c
		}
	}
	return 0
}

// Unexpected records that the text does not continue with what want describes.
func (s *Scanner) Unexpected(want string) {
	if s.Next() == 0 && s.Pos >= len(s.Source) {
		s.Fail("the text ends where %s is expected", want)
		return
	}
	if s.options.Secret {
		s.Fail("%s is expected here", want)
		return
	}
	r, _ := utf8.DecodeRuneInString(s.Source[s.Pos:])
	s.Fail("found %q where %s is expected", r, want)
}

func (s *Scanner) expect(c byte, want string) bool {
	if s.Next() != c {
		s.Unexpected(want)
		return false
	}
	s.Pos++
	return true
}

// End records a fault if anything but white space follows.
func (s *Scanner) End() {
	if s.Err == nil && (s.Next() != 0 || s.Pos < len(s.Source)) {
		s.Fail("there is more text after the value")
	}
}

func (s *Scanner) enter() bool {
	if s.Depth++; s.Depth > s.options.MaxDepth {
		s.Fail("lists and objects are nested more than %d deep", s.options.MaxDepth)
		return false
	}
	return true
}

// Object calls member for each member of an object. member must read the value. A null is read as an object without
// members.
func (s *Scanner) Object(member func(key string)) {
	s.container("{}", "an object", func() {
		if key := s.key(); s.Err == nil {
			member(key)
		}
	})
}

// container calls part for each part of a list or an object with the given brackets. what describes it for errors.
func (s *Scanner) container(brackets, what string, part func()) {
	if s.Null() || !s.expect(brackets[0], what) || !s.enter() {
		return
	}
	defer func() { s.Depth-- }()
	if s.Next() == brackets[1] {
		s.Pos++
		return
	}
	for s.Err == nil {
		if part(); s.Err != nil || !s.more(brackets[1]) {
			return
		}
	}
}

func (s *Scanner) key() string {
	if s.Next() != '"' {
		s.Unexpected("a key")
		return ""
	}
	key := s.Text()
	s.expect(':', `":"`)
	return key
}

// more consumes a comma and returns true, or consumes the closing bracket end and returns false.
func (s *Scanner) more(end byte) bool {
	switch c := s.Next(); {
	case c == ',':
		s.Pos++
		return true
	case c == end:
		s.Pos++
		return false
	}
	s.Unexpected(fmt.Sprintf(`"," or "%c"`, end))
	return false
}

// List calls item for each item of a list. item must read it. A null is read as an empty list.
func (s *Scanner) List(item func()) { s.container("[]", "a list", item) }

func (s *Scanner) word(w string) bool {
	if !strings.HasPrefix(s.Source[s.Pos:], w) {
		s.Unexpected("a value")
		return false
	}
	s.Pos += len(w)
	return true
}

// Null consumes a null, if it is next, and reports whether it did.
func (s *Scanner) Null() bool { return s.Next() == 'n' && s.word("null") }

// Bool reads true or false; null is read as false.
func (s *Scanner) Bool() bool {
	switch s.Next() {
	case 't':
		return s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.Unexpected("true or false")
	}
	return false
}

// Optional reads a string; null is read as an empty string.
func (s *Scanner) Optional() string {
	if s.Null() {
		return ""
	}
	if s.Next() != '"' {
		s.Unexpected("a string")
		return ""
	}
	return s.Text()
}

// special marks the bytes that end the part of a string that can be copied verbatim.
var special = func() (table [256]bool) {
	for c := range table {
		table[c] = c < 0x20 || c == '"' || c == '\\'
	}
	return table
}()

// Text reads a string. The opening quote must be next.
func (s *Scanner) Text() string {
	start := s.Pos + 1
	i := start
	for i < len(s.Source) && !special[s.Source[i]] {
		i++
	}
	if i < len(s.Source) && s.Source[i] == '"' {
		s.Pos = i + 1
		return s.Source[start:i]
	}
	return s.escaped(start, i)
}

func (s *Scanner) escaped(start, i int) string {
	buf := append(make([]byte, 0, i-start+32), s.Source[start:i]...)
	for i < len(s.Source) {
		c := s.Source[i]
		switch {
		case c == '"':
			s.Pos = i + 1
			return string(buf)
		case c < 0x20:
			s.FailAt(i, "a string contains a control character")
			return ""
		case c == '\\':
			var ok bool
			if buf, i, ok = s.escape(buf, i); !ok {
				return ""
			}
		default:
			end := i
			for end < len(s.Source) && !special[s.Source[end]] {
				end++
			}
			buf = append(buf, s.Source[i:end]...)
			i = end
		}
	}
	s.FailAt(start-1, "the string that begins here has no end")
	return ""
}

// escapes maps the byte after a backslash to the byte that the escape stands for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (s *Scanner) escape(buf []byte, i int) ([]byte, int, bool) {
	if i+1 < len(s.Source) {
		if char := escapes[s.Source[i+1]]; char != 0 {
			return append(buf, char), i + 2, true
		}
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
	s.FailAt(i, "this is not an escape sequence of a string")
	return nil, 0, false
}

// hex4 returns the UTF-16 code unit of an escape \uXXXX at i.
func (s *Scanner) hex4(i int) (rune, bool) {
	if i+6 > len(s.Source) || s.Source[i] != '\\' || s.Source[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s.Source[i+2:i+6], 16, 16)
	return rune(n), err == nil && s.Source[i+2] != '+'
}

// Number reads a number. It records a fault if the number exceeds the range of float64, and in Inexact an integer that
// loses digits.
func (s *Scanner) Number() float64 {
	s.Next()
	start := s.Pos
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
		s.FailAt(start, "the number is too large")
		return 0
	}
	if s.Inexact == "" && LosesDigits(literal) {
		s.Inexact = literal
	}
	return f
}

// LosesDigits reports whether a text is a decimal integer whose digits no float64 keeps: it is written with others.
func LosesDigits(text string) bool {
	digits := strings.TrimLeft(strings.TrimLeft(text, "+-"), "0")
	if len(digits) <= 15 || len(text)-len(strings.TrimLeft(text, "+-")) > 1 || !isDigits(digits) {
		return false
	}
	f, err := strconv.ParseFloat(digits, 64)
	return err != nil || strconv.FormatFloat(f, 'f', -1, 64) != digits
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// literal consumes a number, checking its grammar, and returns its text. It returns an empty string after a fault.
func (s *Scanner) literal() string {
	start := s.Pos
	digits := func() bool {
		first := s.Pos
		for s.Pos < len(s.Source) && s.Source[s.Pos] >= '0' && s.Source[s.Pos] <= '9' {
			s.Pos++
		}
		return s.Pos > first
	}
	isAt := func(c byte) bool {
		if s.Pos < len(s.Source) && s.Source[s.Pos] == c {
			s.Pos++
			return true
		}
		return false
	}
	isAt('-')
	if !isAt('0') && !digits() {
		s.Unexpected("a value")
		return ""
	}
	if isAt('.') && !digits() {
		s.Unexpected("a digit")
		return ""
	}
	if isAt('e') || isAt('E') {
		if !isAt('+') {
			isAt('-')
		}
		if !digits() {
			s.Unexpected("a digit")
			return ""
		}
	}
	if s.Err != nil {
		return ""
	}
	return s.Source[start:s.Pos]
}

// Skip consumes a value of any kind, checking its grammar.
func (s *Scanner) Skip() {
	switch c := s.Next(); c {
	case '{':
		s.Object(func(string) { s.Skip() })
	case '[':
		s.List(s.Skip)
	case '"':
		s.Text()
	case 't', 'f':
		s.Bool()
	case 'n':
		s.Null()
	default:
		s.literal()
	}
}

// Raw consumes the next value and returns its text in compact form.
func (s *Scanner) Raw() json.RawMessage {
	s.Next()
	start, blank := s.Pos, s.blank
	s.Skip()
	if s.Err != nil {
		return nil
	}
	text := json.RawMessage(s.Source[start:s.Pos])
	if s.blank == blank {
		return text
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return text
	}
	return compact.Bytes()
}

// Texts reads a list of strings; null is read as an empty list.
func Texts[T ~string](s *Scanner) []T {
	var list []T
	s.List(func() { list = append(list, T(s.Optional())) })
	return list
}
