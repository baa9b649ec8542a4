package yamlnode

import (
	"bytes"
	"strings"
)

// hideSecrets hides the literal texts below each key `fn::secret` in everything that is rendered, whatever the reader
// makes of its nodes. In a text with a syntax error it hides the rest of each line with such a key or with a call of
// secret, and the deeper lines below.
func (t *Text) hideSecrets(root *Node, err error) {
	switch {
	case t.Source == nil:
	case err != nil:
		t.hideLines()
	case secretMark(t.Bytes) >= 0 || secretCall(t.Bytes) >= 0:
		t.hideBelow(root)
	}
}

func (t *Text) hideLines() {
	start, below := 0, -1
	for line := range bytes.Lines(t.Bytes) {
		indent := len(line) - len(bytes.TrimLeft(line, " -"))
		i := secretMark(line)
		if i < 0 {
			i = secretCall(line)
		}
		switch {
		case below >= 0 && (indent > below || len(bytes.TrimSpace(line)) == 0):
			t.hide(start, start+len(line))
		case i >= 0:
			below = indent
			t.hide(start+min(i+1, len(line)), start+len(line)) // but the colon
		default:
			below = -1
		}
		start += len(line)
	}
}

// hideBelow hides what stands below keys `fn::secret` in a part of the tree, and in quotes behind calls of secret.
func (t *Text) hideBelow(n *Node) {
	if n == nil {
		return
	}
	if n.Kind == Scalar {
		if call := secretCall(t.Bytes[n.Start:n.End]); call >= 0 {
			start := n.Start + call
			for i, part := range strings.Split(string(t.Bytes[start:n.End]), `"`) {
				if i%2 == 1 {
					t.hide(start, start+len(part))
				}
				start += len(part) + len(`"`)
			}
		}
	}
	for i, child := range n.Content {
		if n.Kind == Map && i%2 == 1 && secretMark([]byte(n.Content[i-1].Value)) >= 0 {
			t.hideTexts(child.Target())
		}
		t.hideBelow(child)
	}
}

// hideTexts hides the texts of a value, but no keys, no expressions, which are the parser's, and no names of functions.
func (t *Text) hideTexts(n *Node) {
	switch n.Kind {
	case Scalar:
		rest, start := string(t.Bytes[n.Start:n.End]), n.Start
		for rest != "" {
			text, after, expression := strings.Cut(rest, "${")
			t.hide(start, start+len(text))
			if !expression {
				return
			}
			inside, after, _ := strings.Cut(after, "}")
			start += len(text) + len(inside) + len("${}")
			rest = after
		}
	case List:
		for _, item := range n.Content {
			t.hideTexts(item.Target())
		}
	case Map:
		for i := 1; i < len(n.Content); i += 2 {
			if key := n.Content[i-1].Value; key != "function" && key != "method" && key != "return" {
				t.hideTexts(n.Content[i].Target())
			}
		}
	}
}

func (t *Text) hide(start, end int) {
	if strings.TrimSpace(string(t.Bytes[min(start, len(t.Bytes)):min(end, len(t.Bytes))])) != "" {
		t.Source.Hide(t.At(start, end))
	}
}

// secretMark returns the offset of what follows `fn::secret` in a text; -1 if the text has none. The name may be in
// capitals, it may have one colon only, and its end may be misspelt: no other function begins like it.
func secretMark(text []byte) int {
	const call = "fn:"
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(call))
		if i < 0 {
			return -1
		}
		from += i + len(call)
		if end := secretName(text, len(text)-len(bytes.TrimPrefix(text[from:], []byte(":")))); end >= 0 {
			return end
		}
	}
}

// secretCall returns the offset of the parenthesis of the first call of secret in an expression; -1 if there is none.
func secretCall(line []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(line[from:], '(')
		if i < 0 {
			return -1
		}
		from += i + 1
		start := from - 1
		for start > 0 && isLetter(line[start-1]) {
			start--
		}
		if secretName(line, start) == from-1 {
			return from - 1
		}
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// secretName returns the offset of the end of the name at an offset; -1 if it does not begin like secret.
func secretName(text []byte, start int) int {
	const name = "sec"
	if end := start + len(name); end > len(text) || !strings.EqualFold(string(text[start:end]), name) {
		return -1
	}
	end := start
	for end < len(text) && isLetter(text[end]) {
		end++
	}
	return end
}
