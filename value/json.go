package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is the text that fn::toJSON gives for v (L6.18): a string value that carries the marks of everything inside v, and
// is unknown when anything inside v is. Keys are ascending, numbers as short as they can be, null is kept, and < > & are
// escaped so that texts written by other hosts stay the same. NaN, infinities, assets, archives, resources and texts that
// are not UTF-8 are errors.
func JSON(v Value) (Value, error) {
	if v.ContainsUnknown() {
		return UnknownFrom(KindString, v), nil
	}
	text, err := AppendJSON(nil, v)
	if err != nil {
		return Null, err
	}
	result := String(string(text)).DependingOn(v.AllDeps()...)
	if v.ContainsSecret() {
		result = result.Secret()
	}
	return result, nil
}

// AppendJSON appends the JSON of v without regard to secrecy and dependencies, and is therefore for places that keep
// the text safe themselves. Unknown values are an error here.
func AppendJSON(dst []byte, v Value) ([]byte, error) {
	if !v.IsKnown() {
		return dst, fmt.Errorf("a value that is not known yet has no JSON form")
	}
	var err error
	switch p := v.payload.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, p), nil
	case float64:
		return appendJSONNumber(dst, p)
	case string:
		return appendJSONString(dst, p)
	case []Value:
		dst = append(dst, '[')
		for i, item := range p {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = AppendJSON(dst, item); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case *fields:
		dst = append(dst, '{')
		for i, key := range p.keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendJSONString(dst, key); err != nil {
				return dst, err
			}
			dst = append(dst, ':')
			if dst, err = AppendJSON(dst, p.values[i]); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	case *ResourceRef:
		return dst, fmt.Errorf("a resource has no JSON form; use one of its properties, such as .id")
	}
	return dst, fmt.Errorf("%s has no JSON form", articles[v.kind])
}

func appendJSONNumber(dst []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, fmt.Errorf("JSON has no %s", strconv.FormatFloat(f, 'g', -1, 64))
	}
	format, abs := byte('f'), math.Abs(f)
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1] // e-09 is written e-9
		dst = dst[:n-1]
	}
	return dst, nil
}

const hexDigits = "0123456789abcdef"

func appendJSONString(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return dst, fmt.Errorf("a text that is not UTF-8 has no JSON form; use fn::toBase64")
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		// U+2028 and U+2029, which end lines in JavaScript, are escaped too.
		separator := c == 0xE2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xA8
		if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && !separator {
			continue
		}
		dst = append(dst, s[start:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case separator:
			dst = append(dst, '\\', 'u', '2', '0', '2', hexDigits[s[i+2]&0xF])
			i += 2
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
		start = i + 1
	}
	return append(append(dst, s[start:]...), '"'), nil
}

// JSONError is a fault in a JSON text.
type JSONError struct {
	Offset int // 0-based byte offset into the text
	Line   int // 1-based
	Column int // 1-based, in bytes
	Reason string
}

// Error is the place and the reason. It never shows any of the text, which may be secret.
func (e *JSONError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// maxJSONDepth bounds nesting, so that a text cannot exhaust the stack.
const maxJSONDepth = 10_000

// FromJSON reads a JSON text. Strings keep their bytes, numbers become doubles, and of equal keys in an object the last
// one counts. Faults are *JSONError.
func FromJSON(text string) (Value, error) {
	d := jsonReader{text: text}
	v, ok := d.value(0)
	if ok {
		d.space()
		if d.at < len(text) {
			ok = d.fail("there is more text behind the value")
		}
	}
	if !ok {
		before := text[:d.at]
		return Null, &JSONError{
			Offset: d.at, Line: strings.Count(before, "\n") + 1, Column: d.at - strings.LastIndexByte(before, '\n'),
			Reason: d.reason,
		}
	}
	return v, nil
}

type jsonReader struct {
	text   string
	at     int
	reason string
}

func (d *jsonReader) fail(reason string) bool { d.reason = reason; return false }

func (d *jsonReader) space() {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// next is the next character behind white space; 0 at the end of the text.
func (d *jsonReader) next() byte {
	d.space()
	if d.at == len(d.text) {
		return 0
	}
	return d.text[d.at]
}

func (d *jsonReader) value(depth int) (Value, bool) {
	if depth > maxJSONDepth {
		return Null, d.fail("the value is nested too deeply")
	}
	switch c := d.next(); {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		s, ok := d.string()
		return String(s), ok
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	case c == 0 && d.at == len(d.text):
		return Null, d.fail("the text ends where a value should be")
	}
	for _, word := range [...]struct {
		text  string
		value Value
	}{{"null", Null}, {"true", Bool(true)}, {"false", Bool(false)}} {
		if strings.HasPrefix(d.text[d.at:], word.text) {
			d.at += len(word.text)
			return word.value, true
		}
	}
	return Null, d.fail("this is not the start of a value")
}

func (d *jsonReader) object(depth int) (Value, bool) {
	d.at++
	var entries []Entry
	if d.next() == '}' {
		d.at++
		return EmptyMap(), true
	}
	for {
		if d.next() != '"' {
			return Null, d.fail("a key in double quotes should be here")
		}
		key, ok := d.string()
		if !ok {
			return Null, false
		}
		if d.next() != ':' {
			return Null, d.fail("a colon should be here")
		}
		d.at++
		v, ok := d.value(depth + 1)
		if !ok {
			return Null, false
		}
		entries = append(entries, Entry{key, v})
		switch d.next() {
		case ',':
			d.at++
		case '}':
			d.at++
			return MapOf(entries...), true
		default:
			return Null, d.fail("a comma or a closing brace should be here")
		}
	}
}

func (d *jsonReader) array(depth int) (Value, bool) {
	d.at++
	items := []Value{}
	if d.next() == ']' {
		d.at++
		return List(items...), true
	}
	for {
		v, ok := d.value(depth + 1)
		if !ok {
			return Null, false
		}
		items = append(items, v)
		switch d.next() {
		case ',':
			d.at++
		case ']':
			d.at++
			return List(items...), true
		default:
			return Null, d.fail("a comma or a closing bracket should be here")
		}
	}
}

func (d *jsonReader) digits() bool {
	start := d.at
	for d.at < len(d.text) && '0' <= d.text[d.at] && d.text[d.at] <= '9' {
		d.at++
	}
	return d.at > start
}

func (d *jsonReader) skip(chars string) bool {
	if d.at < len(d.text) && strings.IndexByte(chars, d.text[d.at]) >= 0 {
		d.at++
		return true
	}
	return false
}

func (d *jsonReader) number() (Value, bool) {
	start := d.at
	d.skip("-")
	if !d.skip("0") && !d.digits() {
		return Null, d.fail("a digit should be here")
	}
	if d.skip(".") && !d.digits() {
		return Null, d.fail("a digit should be here")
	}
	if d.skip("eE") {
		d.skip("+-")
		if !d.digits() {
			return Null, d.fail("a digit should be here")
		}
	}
	f, err := strconv.ParseFloat(d.text[start:d.at], 64)
	if err != nil {
		d.at = start
		return Null, d.fail("the number is too large")
	}
	return Number(f), true
}

// string reads a string whose opening quote is next. Bytes outside of escapes are kept as they are.
func (d *jsonReader) string() (string, bool) {
	d.at++
	start := d.at
	var b []byte // nil while nothing had to be unescaped
	for d.at < len(d.text) {
		switch c := d.text[d.at]; {
		case c == '"':
			end := d.at
			d.at++
			if b == nil {
				return d.text[start:end], true
			}
			return string(append(b, d.text[start:end]...)), true
		case c < ' ':
			return "", d.fail("a control character must be escaped")
		case c != '\\':
			d.at++
		default:
			b = append(b, d.text[start:d.at]...)
			var ok bool
			if b, ok = d.escape(b); !ok {
				return "", false
			}
			start = d.at
		}
	}
	return "", d.fail("the closing quote is missing")
}

func (d *jsonReader) escape(b []byte) ([]byte, bool) {
	if d.at+1 == len(d.text) {
		return b, d.fail("the escape is not complete")
	}
	c := d.text[d.at+1]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		d.at += 2
		return append(b, "\"\\/\b\f\n\r\t"[i]), true
	}
	if c != 'u' {
		return b, d.fail("there is no such escape")
	}
	r, ok := d.unicodeEscape()
	if !ok {
		return b, d.fail("four hexadecimal digits should follow \\u")
	}
	if utf16.IsSurrogate(r) {
		// Half a pair cannot be written in UTF-8 and becomes the replacement character.
		mark := d.at
		if low, ok := d.unicodeEscape(); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return utf8.AppendRune(b, utf16.DecodeRune(r, low)), true
		}
		d.at, r = mark, utf8.RuneError
	}
	return utf8.AppendRune(b, r), true
}

func (d *jsonReader) unicodeEscape() (rune, bool) {
	if d.at+6 > len(d.text) || d.text[d.at] != '\\' || d.text[d.at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(d.text[d.at+2:d.at+6], 16, 16)
	if err != nil {
		return 0, false
	}
	d.at += 6
	return rune(n), true
}
