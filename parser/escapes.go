package parser

import (
	"bytes"
	"slices"

	"gopkg.in/yaml.v3"
)

// JSON has two escapes that the YAML reader refuses: `\/`, and a character beyond U+FFFF as two halves. Encoders of
// JSON write both. The reader is given letters in their place, as many bytes as they have, so that every position stays
// what it is; the texts are then read again from what the user wrote.

// refused is an escape that the YAML reader refuses.
type refused struct{ at, width int }

// isRefused tells whether an escape, of so many bytes, is one that only JSON has.
func isRefused(escape []byte, width int) bool { return escape[1] == '/' || width == pairWidth }

// unmarshal reads the YAML tree of the text and locates it.
func (p *parser) unmarshal(document *node) error {
	for {
		*document = node{}
		if err := unmarshal(p.readable()[textStart(p.text):], document); err != nil {
			return err
		}
		if len(document.Content) == 0 {
			return nil
		}
		p.locate(document.Content[0])
		if p.restore(document.Content[0]) {
			return nil
		}
		p.lexed.refused = nil // what looked like them was text
	}
}

// readable is the text as the YAML reader takes it.
func (p *parser) readable() []byte {
	if len(p.lexed.refused) == 0 {
		return p.text
	}
	text := bytes.Clone(p.text)
	for _, r := range p.lexed.refused {
		for i := r.at; i < r.at+r.width; i++ {
			text[i] = 'x'
		}
	}
	return text
}

// restore gives the located texts their escapes back. It answers false when one is in no text in double quotes, where
// it is none.
func (p *parser) restore(root *node) bool {
	if second := p.lexed.secondDocument; second >= 0 { // nobody reads on to there
		p.lexed.refused = slices.DeleteFunc(p.lexed.refused, func(r refused) bool { return r.at >= second })
	}
	left := p.lexed.refused
	var walk func(n *node) bool
	walk = func(n *node) bool {
		for _, child := range n.Content {
			if !walk(child) {
				return false
			}
		}
		if n.Kind != yaml.ScalarNode || len(left) == 0 || left[0].at >= n.Column {
			return true
		}
		if n.Style&yaml.DoubleQuotedStyle == 0 || left[0].at < n.Line {
			return false
		}
		text, m := quotedMap(p.text, (&locator{text: p.text}).properties(n.Line, n), '"')
		if m == nil {
			return false
		}
		n.Value = text
		for len(left) > 0 && left[0].at < n.Column {
			left = left[1:]
		}
		return true
	}
	return walk(root) && len(left) == 0
}

// noteEscapes says that other hosts do not read these escapes.
func (p *parser) noteEscapes() {
	for _, r := range p.lexed.refused {
		p.extension(p.at(r.at, r.at+r.width), "the escape `%s`", p.text[r.at:r.at+r.width])
	}
}
