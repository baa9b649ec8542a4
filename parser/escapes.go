package parser

import (
	"bytes"
	"slices"
)

// JSON has two escapes that the YAML parser rejects: `\/`, and a surrogate pair for a character beyond U+FFFF. JSON
// encoders write both. They are replaced by the same number of letters before the text is passed to the YAML parser, so
// that all positions remain valid. The affected strings are then decoded again from the original text.

// refused is an escape that the YAML parser rejects.
type refused struct{ pos, width int }

// isRefused reports whether an escape of width bytes is valid only in JSON.
func isRefused(escape []byte, width int) bool { return escape[1] == '/' || width == pairWidth }

// readable returns the text with its refused escapes replaced by letters.
func (l *lexed) readable(text []byte) []byte {
	if len(l.refused) == 0 {
		return text
	}
	text = bytes.Clone(text)
	for _, r := range l.refused {
		for i := r.pos; i < r.pos+r.width; i++ {
			text[i] = 'x'
		}
	}
	return text
}

// restoreEscapes decodes the strings with refused escapes again from the original text. It returns false if one of the
// escapes is not in a double-quoted string and therefore no escape at all.
func restoreEscapes(text []byte, lexed *lexed, root *node) bool {
	if second := lexed.secondDocument; second >= 0 { // later documents are not parsed
		lexed.refused = slices.DeleteFunc(lexed.refused, func(r refused) bool { return r.pos >= second })
	}
	left := lexed.refused
	if len(left) == 0 {
		return true
	}
	var walk func(n *node) bool
	walk = func(n *node) bool {
		for _, child := range n.content {
			if !walk(child) {
				return false
			}
		}
		if n.kind != scalarNode || len(left) == 0 || left[0].pos >= n.end {
			return true
		}
		if !n.doubleQuoted() || left[0].pos < n.start {
			return false
		}
		value, m := quotedMap(text, contentStart(text, n), '"')
		if m == nil {
			return false
		}
		n.value = value
		for len(left) > 0 && left[0].pos < n.end {
			left = left[1:]
		}
		return true
	}
	return walk(root) && len(left) == 0
}

// noteEscapes reports escapes that other hosts reject.
func (t *yamlText) noteEscapes() {
	for _, r := range t.lexed.refused {
		t.portability(t.at(r.pos, r.pos+r.width), "the escape `%s`", t.text[r.pos:r.pos+r.width])
	}
}
