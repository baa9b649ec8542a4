package yamlnode

import (
	"bytes"
	"slices"
)

// JSON has two escapes that the YAML parser rejects: `\/`, and a surrogate pair for a character beyond U+FFFF. JSON
// encoders write both. They are replaced by the same number of letters before the text is passed to the YAML parser, so
// that all positions remain valid. The affected strings are then decoded again from the original text.

// readable returns the text with its refused escapes replaced by letters.
func (l *Tokens) readable(text []byte) []byte {
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
func restoreEscapes(text []byte, tokens *Tokens, root *Node) bool {
	if second := tokens.SecondDocument; second >= 0 { // later documents are not parsed
		tokens.refused = slices.DeleteFunc(tokens.refused, func(r refused) bool { return r.pos >= second })
	}
	left, ok := restoreIn(text, tokens.refused, root)
	return ok && len(left) == 0
}

// restoreIn decodes the strings of one document with escapes in left, and returns those after it. ok is false if one of
// them is no escape.
func restoreIn(text []byte, left []refused, root *Node) (rest []refused, ok bool) {
	if len(left) == 0 {
		return nil, true
	}
	var walk func(n *Node) bool
	walk = func(n *Node) bool {
		for _, child := range n.Content {
			if !walk(child) {
				return false
			}
		}
		if n.Kind != Scalar || len(left) == 0 || left[0].pos >= n.End {
			return true
		}
		if !n.doubleQuoted() || left[0].pos < n.Start {
			return false
		}
		value, m := quotedMap(text, contentStart(text, n), '"')
		if m == nil {
			return false
		}
		n.Value = value
		for len(left) > 0 && left[0].pos < n.End {
			left = left[1:]
		}
		return true
	}
	ok = walk(root)
	return left, ok
}
