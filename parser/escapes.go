package parser

import (
	"bytes"
	"slices"
)

// JSON has two escapes that the YAML reader refuses: `\/`, and a character beyond U+FFFF as two halves. Encoders of
// JSON write both. The reader is given letters in their place, as many bytes as they have, so that every position stays
// what it is; the texts are then read again from what the user wrote.

// refused is an escape that the YAML reader refuses.
type refused struct{ at, width int }

// isRefused reports whether an escape, of so many bytes, is one that only JSON has.
func isRefused(escape []byte, width int) bool { return escape[1] == '/' || width == pairWidth }

// readable returns the text as the YAML reader takes it.
func (l *lexed) readable(text []byte) []byte {
	if len(l.refused) == 0 {
		return text
	}
	text = bytes.Clone(text)
	for _, r := range l.refused {
		for i := r.at; i < r.at+r.width; i++ {
			text[i] = 'x'
		}
	}
	return text
}

// restoreEscapes gives the texts of a tree their refused escapes back. It answers false when one is in no text in
// double quotes, where it is none.
func restoreEscapes(text []byte, lexed *lexed, root *node) bool {
	if second := lexed.secondDocument; second >= 0 { // nobody reads on to there
		lexed.refused = slices.DeleteFunc(lexed.refused, func(r refused) bool { return r.at >= second })
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
		if n.kind != scalarNode || len(left) == 0 || left[0].at >= n.end {
			return true
		}
		if !n.doubleQuoted() || left[0].at < n.start {
			return false
		}
		value, m := quotedMap(text, contentStart(text, n), '"')
		if m == nil {
			return false
		}
		n.value = value
		for len(left) > 0 && left[0].at < n.end {
			left = left[1:]
		}
		return true
	}
	return walk(root) && len(left) == 0
}

// noteEscapes reports escapes that other hosts do not read.
func (t *yamlText) noteEscapes() {
	for _, r := range t.lexed.refused {
		t.portability(t.at(r.at, r.at+r.width), "the escape `%s`", t.text[r.at:r.at+r.width])
	}
}
