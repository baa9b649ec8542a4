package editor

import (
	"bytes"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// braces returns the places of the `${` and the `}` around an expression that is all that stands between them; r may
// be the range of the expression, with or without them, or the range of the quoted text they fill. ok is false for
// any other expression.
func braces(r diag.Range) (opening, closing diag.Range, ok bool) {
	if r.Source == nil {
		return
	}
	text := r.Source.Text()
	start, end := int(r.Start), int(r.End)
	quoted := end-start > 2 && (text[start] == '"' || text[start] == '\'') && text[end-1] == text[start]
	if quoted && bytes.HasPrefix(text[start+1:], []byte("${")) {
		start, end = start+1, end-1
	}
	if !bytes.HasPrefix(text[start:end], []byte("${")) {
		for start > 0 && white(text[start-1]) {
			start--
		}
		for end < len(text) && white(text[end]) {
			end++
		}
		if start -= 2; start < 0 || !bytes.HasPrefix(text[start:], []byte("${")) {
			return
		}
		end++
	}
	if end > len(text) || end-start < 3 || text[end-1] != '}' {
		return
	}
	return diag.NewRange(r.Source, start, start+2), diag.NewRange(r.Source, end-1, end), true
}

func white(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
