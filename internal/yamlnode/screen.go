package yamlnode

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Screen scans the tokens of the text. It returns a finding about a text that cannot be parsed as YAML, or for which
// the YAML parser would be slow or misleading: binary data, other encodings, excessive nesting.
func (t *Tree) Screen() *diag.Diagnostic {
	text := t.Text.Bytes
	unreadable := func(from, to int, detail, format string, args ...any) *diag.Diagnostic {
		return &diag.Diagnostic{Code: diag.RunawayInput, Subject: t.Text.At(from, to), Detail: detail,
			Summary: fmt.Sprintf(format, args...)}
	}
	if len(text) > math.MaxInt32-1 {
		return unreadable(0, 0, "a program may have two gigabytes at most", "the file is too large")
	}
	if bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF}) {
		return unreadable(0, 2, "save the file as UTF-8", "the file is encoded as UTF-16, not as UTF-8")
	}
	if c := firstOdd(text); c != nil {
		return unreadable(c.from, c.to, c.detail, "%s", c.summary)
	}
	t.Scan()
	if deep := t.Tokens.TooDeep; deep >= 0 {
		return unreadable(deep, deep+1, "simplify the structure", "more than %d lists and maps inside each other", MaxDepth)
	}
	return nil
}

// Printable reports whether a text contains only characters that a YAML text may contain.
func Printable(text []byte) bool { return firstOdd(text) == nil }

// oddCharacter is a character that a text must not contain.
type oddCharacter struct {
	from, to        int
	summary, detail string
}

// firstOdd returns the first character that a text must not contain, or nil if there is none.
func firstOdd(text []byte) *oddCharacter {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c <= '~' || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			return &oddCharacter{from: i, to: i + 1, summary: fmt.Sprintf("the byte 0x%02X is not valid UTF-8", c),
				detail: "save the file as UTF-8; put bytes that are not text into a file that `fn::filebase64` reads"}
		case r == 0:
			return &oddCharacter{from: i, to: i + 1, summary: "a NUL byte cannot be part of a program",
				detail: "the file holds binary data, not a program"}
		case !printable(r):
			return &oddCharacter{from: i, to: i + size,
				summary: fmt.Sprintf("the control character U+%04X cannot be part of a program", r),
				detail:  "in a double-quoted text, write it as an escape such as \"\\u001b\""}
		}
		i += size
	}
	return nil
}
