package parser

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// maxDepth is the maximum nesting depth of collections. Texts written by people or their generators are far below it.
// It limits the recursion of all later passes.
const maxDepth = 1000

var byteOrderMark = []byte("\uFEFF")

// textStart returns the start of a text after byte order marks.
func textStart(text []byte) int {
	start := 0
	for bytes.HasPrefix(text[start:], byteOrderMark) {
		start += len(byteOrderMark)
	}
	return start
}

// screen reports texts that cannot be parsed as YAML, and for which the YAML parser would be slow or misleading: binary
// data, other encodings, excessive nesting. It returns false for such a text.
func (t *yamlText) screen() bool {
	if len(t.text) > math.MaxInt32-1 {
		t.fail(diag.RunawayInput, t.at(0, 0), "a program may have two gigabytes at most", "the file is too large")
		return false
	}
	if bytes.HasPrefix(t.text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(t.text, []byte{0xFE, 0xFF}) {
		t.fail(diag.RunawayInput, t.at(0, 2), "save the file as UTF-8", "the file is encoded as UTF-16, not as UTF-8")
		return false
	}
	if f := oddCharacter(t.text); f != nil {
		t.fail(diag.RunawayInput, t.at(f.from, f.to), f.detail, "%s", f.summary)
		return false
	}
	t.lexed = lex(t.text)
	if deep := t.lexed.tooDeep; deep >= 0 {
		t.fail(diag.RunawayInput, t.at(deep, deep+1), "simplify the structure",
			"more than %d lists and maps inside each other", maxDepth)
		return false
	}
	return true
}

// oddCharacter returns the fault of the first character that a program must not contain, or nil if there is none.
func oddCharacter(text []byte) *fault {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c <= '~' || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			return &fault{from: i, to: i + 1, summary: fmt.Sprintf("the byte 0x%02X is not valid UTF-8", c),
				detail: "save the file as UTF-8; put bytes that are not text into a file that `fn::filebase64` reads"}
		case r == 0:
			return &fault{from: i, to: i + 1, summary: "a NUL byte cannot be part of a program",
				detail: "the file holds binary data, not a program"}
		case !printable(r):
			return &fault{from: i, to: i + size,
				summary: fmt.Sprintf("the control character U+%04X cannot be part of a program", r),
				detail:  "in a double-quoted text, write it as an escape such as \"\\u001b\""}
		}
		i += size
	}
	return nil
}

// printable reports whether YAML 1.2 allows the character r in a text, for r from U+0080 on.
func printable(r rune) bool {
	return r == 0x85 || r >= 0xA0 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000
}
