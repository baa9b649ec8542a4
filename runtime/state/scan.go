package state

import (
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// SyntaxError describes where a state file is no JSON, or is not of the shape that a state has.
type SyntaxError = jsontext.Error

// newScanner reads a state file, which may begin with a byte order mark.
func newScanner(text string) *jsontext.Scanner {
	s := jsontext.New(text, jsontext.Options{MaxDepth: maxDepth})
	if !utf8.ValidString(text) { // replacing it would make another ID or name of it
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				s.FailAt(i, "byte 0x%02x is not UTF-8: the file is damaged, or was written in another encoding", text[i])
				return s
			}
		}
	}
	if strings.HasPrefix(text, "\ufeff") {
		s.Pos = len("\ufeff")
	}
	return s
}
