package jsontext

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// plain marks the bytes that are not escaped in a JSON string: 1 for bytes that never are, 2 for those that are only
// escaped for HTML.
var plain = func() (table [256]uint8) {
	for c := range table {
		switch {
		case c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\':
		case c == '<' || c == '>' || c == '&':
			table[c] = 2
		default:
			table[c] = 1
		}
	}
	return table
}()

// Write writes v as JSON, followed by a line break. It does not escape HTML. The output is indented unless indent is
// empty.
func Write(w io.Writer, v any, indent string) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	return encoder.Encode(v)
}

// Compact returns v as JSON on one line, without escaping HTML. The keys of Go maps are in ascending order.
func Compact(v any) (string, error) {
	var b bytes.Buffer
	err := Write(&b, v, "")
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), err
}

// AppendString appends s to dst as a JSON string, with the same bytes as Go's encoder (F0.4). Invalid UTF-8 becomes
// U+FFFD. html selects the escaping of <, > and &.
func AppendString(dst []byte, s string, html bool) []byte {
	least := uint8(2)
	if html {
		least = 1
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if p := plain[c]; p != 0 && p <= least {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, s[start:i]...), `\ufffd`...)
			start = i + size
		} else if r == '\u2028' || r == '\u2029' {
			dst = append(append(append(dst, s[start:i]...), `\u202`...), hexDigits[r&0xF])
			start = i + size
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

// short maps characters with a two-character escape to the letter of that escape.
var short = [utf8.RuneSelf]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

func appendEscape(dst []byte, c byte) []byte {
	if letter := short[c]; letter != 0 {
		return append(dst, '\\', letter)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}

// AppendNumber appends a finite double to dst in the shortest form of Go's encoder (F1.19).
func AppendNumber(dst []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && i > -1e15 && i < 1e15 && (i != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, i, 10)
	}
	abs := math.Abs(f)
	if abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' { // e-09 becomes e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
