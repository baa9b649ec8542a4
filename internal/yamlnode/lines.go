package yamlnode

import (
	"bytes"
	"fmt"
	"slices"
)

var byteOrderMark = []byte("\uFEFF")

// TextStart returns the start of a text after byte order marks.
func TextStart(text []byte) int {
	start := 0
	for bytes.HasPrefix(text[start:], byteOrderMark) {
		start += len(byteOrderMark)
	}
	return start
}

// BreakAt returns the length of the line break at i, or 0 if there is none. It recognizes all line breaks of YAML 1.1.
func BreakAt(text []byte, i int) int {
	if i >= len(text) {
		return 0
	}
	switch text[i] {
	case '\n':
		return 1
	case '\r':
		if i+1 < len(text) && text[i+1] == '\n' {
			return 2
		}
		return 1
	case 0xC2:
		if i+1 < len(text) && text[i+1] == 0x85 {
			return 2
		}
	case 0xE2:
		if i+2 < len(text) && text[i+1] == 0x80 && (text[i+2] == 0xA8 || text[i+2] == 0xA9) {
			return 3
		}
	}
	return 0
}

func IsBlank(c byte) bool { return c == ' ' || c == '\t' }

// BlankAt reports whether a blank, a line break or the end of the text is at i.
func BlankAt(text []byte, i int) bool {
	return i >= len(text) || IsBlank(text[i]) || BreakAt(text, i) > 0
}

// TrimEnd returns the end of text[from:to] without trailing blanks.
func TrimEnd(text []byte, from, to int) int {
	for to > from && IsBlank(text[to-1]) {
		to--
	}
	return to
}

// breakBefore returns the length of the line break that ends at i.
func breakBefore(text []byte, i int) int {
	for n := 1; n <= 3 && n <= i; n++ {
		if BreakAt(text, i-n) == n {
			return n
		}
	}
	return 0
}

// SkipSpaces returns the first offset at or after i that is not a space.
func SkipSpaces(text []byte, i int) int {
	for i < len(text) && text[i] == ' ' {
		i++
	}
	return i
}

// SkipBlanks returns the first offset at or after i that is not a space or tab.
func SkipBlanks(text []byte, i int) int {
	for i < len(text) && IsBlank(text[i]) {
		i++
	}
	return i
}

// behindLines returns the first offset at or after i that is not white space, a line break or part of a comment.
func behindLines(text []byte, i int) int {
	for i < len(text) {
		switch n := BreakAt(text, i); {
		case IsBlank(text[i]):
			i++
		case n > 0:
			i += n
		case text[i] == '#' && i > 0 && BlankAt(text, i-1):
			i = LineEnd(text, i)
		default:
			return i
		}
	}
	return i
}

// LineAt returns the range of a line without its indentation. Lines are counted as by the YAML parser.
func LineAt(text []byte, line int) (start, end int) {
	start = TextStart(text)
	for ; line > 1 && start < len(text); start++ {
		if n := BreakAt(text, start); n > 0 {
			start += n - 1
			line--
		}
	}
	start = SkipBlanks(text, start)
	return start, LineEnd(text, start)
}

// LineEnd returns the end of the line that contains an offset, before its line break.
func LineEnd(text []byte, i int) int {
	for i < len(text) && BreakAt(text, i) == 0 {
		i++
	}
	return i
}

// contentBegin returns the start of the line that contains an offset.
func contentBegin(text []byte, i int) int {
	for i > 0 && breakBefore(text, i) == 0 {
		i--
	}
	return i
}

// LineOf returns the line that contains an offset, counted as by the YAML parser.
func LineOf(text []byte, offset int) int {
	line := 1
	for i := TextStart(text); i < min(offset, len(text)); {
		n := BreakAt(text, i)
		if n > 0 && i+n <= offset {
			line++
		}
		i += max(n, 1)
	}
	return line
}

// Line is a line of a text.
type Line struct {
	Start, End int // content, without indentation and line break
	Next       int // where the next line begins
	Indent     int
	Tab        bool // the indentation is followed by a tab
}

func LineStart(l Line) int { return l.Start - l.Indent }

// OddBreaks reports whether a text has line breaks other than LF and CRLF, or a byte order mark after its start.
func OddBreaks(text []byte) bool {
	for i := 0; i < len(text); i++ {
		pos := bytes.IndexByte(text[i:], '\r')
		if pos < 0 {
			break
		}
		if i += pos; i+1 >= len(text) || text[i+1] != '\n' {
			return true
		}
	}
	marks := [][]byte{[]byte("\u0085"), []byte("\u2028"), []byte("\u2029"), byteOrderMark}
	return slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(text[TextStart(text):], mark) })
}

// LineFrom returns the line that begins at an offset. It may be empty.
func LineFrom(text []byte, i int) Line {
	l := Line{End: len(text), Next: len(text)}
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		l.End, l.Next = i+n, i+n+1
		if l.End > i && text[l.End-1] == '\r' {
			l.End--
		}
	}
	l.Start = SkipSpaces(text[:l.End], i)
	l.Indent, l.Tab = l.Start-i, l.Start < l.End && text[l.Start] == '\t'
	return l
}

// ContentLines returns the lines of a text that contain more than white space and a comment.
func ContentLines(text []byte) []Line {
	lines := make([]Line, 0, bytes.Count(text, []byte("\n"))+1)
	for i := TextStart(text); i < len(text); {
		l := LineFrom(text, i)
		if rest := bytes.TrimLeft(text[l.Start:l.End], " \t"); len(rest) > 0 && rest[0] != '#' {
			lines = append(lines, l)
		}
		i = l.Next
	}
	return lines
}

// BeginsEntry reports whether a line can be the first one of an entry, rather than a continuation of the line above.
func BeginsEntry(text []byte, l Line) bool {
	switch c := text[l.Start]; c {
	case '-', '?', ':':
		return !BlankAt(text, l.Start+1)
	case '[', ']', '{', '}', ',', '|', '>', '%', '@', '`', '\t':
		return false
	}
	return true
}

// KeyEnd returns the offset after the colon of the key at the start of a line, or 0 if there is no key.
func KeyEnd(text []byte, l Line) int {
	i := l.Start
	switch c := text[i]; c {
	case '"', '\'':
		if i = QuotedEnd(text[:l.End], i); i >= l.End {
			return 0
		}
		i = SkipBlanks(text[:l.End], i)
		if i < l.End && text[i] == ':' && BlankAt(text, i+1) {
			return i + 1
		}
		return 0
	case '{', '[', '&', '*', '!', '|', '>', '%', '@', '`', '#', ']', '}', ',':
		return 0
	}
	for ; i < l.End; i++ {
		switch {
		case text[i] == ':' && BlankAt(text, i+1):
			return i + 1
		case text[i] == '#' && i > l.Start && IsBlank(text[i-1]):
			return 0
		}
	}
	return 0
}

// KeyLine reports whether a line begins with a key. A line whose indentation ends with a tab does not.
func KeyLine(text []byte, l Line) bool { return BeginsEntry(text, l) && KeyEnd(text, l) > 0 }

// KeyText returns the text of a key without the quotes and blanks around it.
func KeyText(key []byte) string { return string(bytes.Trim(key, " \t\"'")) }

// BareKey reports whether a line is a key without a value.
func BareKey(text []byte, l Line) bool {
	end := KeyEnd(text, l)
	if end == 0 {
		return false
	}
	rest := bytes.TrimLeft(text[end:l.End], " \t")
	return len(rest) == 0 || rest[0] == '#'
}

// signIn returns the range of the sign that separates a key from its value in a line in place of a colon with a blank:
// an equals sign, an arrow, or a colon without the blank; 0 if there is none. The colon of a URL is none.
func signIn(body []byte) (start, end int) {
	key := 0
	for key < len(body) && (isWord(body[key : key+1])) && body[key] != ':' {
		key++
	}
	start = SkipBlanks(body, key)
	if key == 0 || start == len(body) || bytes.HasPrefix(body[start:], []byte("://")) {
		return 0, 0
	}
	for _, sign := range []string{"=>", ":=", "->", "=", ":"} {
		if rest := body[start:]; bytes.HasPrefix(rest, []byte(sign)) && len(bytes.TrimSpace(rest)) > len(sign) {
			return start, start + len(sign)
		}
	}
	return 0, 0
}

// Unseparated returns the key of a line without a colon behind it, and the advice how to write the line.
func Unseparated(body []byte) (key []byte, advice string) {
	if end, _ := signIn(body); 0 < end && end < 60 {
		key = bytes.TrimSpace(body[:end])
		return key, fmt.Sprintf("write `%s: …`", key)
	}
	return body, "a line in a map is written `key: value`"
}

func isWord(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return !keyByte(c) })
}

func keyByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == '/' || c == ':' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' ||
		'A' <= c && c <= 'Z'
}

// Closer returns the bracket that closes another one, and any other byte itself.
func Closer(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	}
	return open
}

// QuotedEnd returns the offset after the closing quote of the scalar that begins at start, or the end of the text.
func QuotedEnd(text []byte, start int) int {
	if start >= len(text) {
		return start
	}
	quote := text[start]
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote == '"':
			i++
		case c == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case c == quote:
			return i + 1
		}
	}
	return len(text)
}

// printable reports whether YAML 1.2 allows the character r in a text, for r from U+0080 on.
func printable(r rune) bool {
	return r == 0x85 || r >= 0xA0 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000
}

// MaxDepth is the maximum nesting depth of collections. Texts written by people or their generators are far below it.
// It limits the recursion of all later passes.
const MaxDepth = 1000
