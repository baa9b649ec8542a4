package yamlnode

import (
	"bytes"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
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

// No schema is asked then, so the names of keys decide what else is secret: literals behind and below a key that sounds
// secret are hidden, but neither keys below nor names of types.
func (t *Text) hideLines() {
	start, below := 0, -1
	sounding := false // below is the indentation of a key that sounds secret
	first := false    // the next line is the first below it
	for line := range bytes.Lines(t.Bytes) {
		indent, end := len(line)-len(bytes.TrimLeft(line, " -")), start+len(line)
		if first && bytes.HasPrefix(line[indent:], []byte("type:")) {
			below = -1 // the key is the name of a resource or of a declaration
		}
		i, named := secretMark(line), soundingKey(line)
		if i < 0 {
			i = secretCall(line)
		}
		if i >= 0 {
			t.hide(start+min(i+1, len(line)), end) // but the colon
		}
		switch inside := below >= 0 && indent > below; {
		case len(bytes.TrimSpace(line)) == 0:
		case inside && sounding:
			first = false
			t.hideValues(t.Bytes, start, end, true)
		case inside:
			t.hide(start, end)
		case i >= 0:
			below, sounding, first = indent, false, false
		case named >= 0:
			below, sounding, first = indent, true, true
			t.hideValues(t.Bytes, start+named-1, end, true) // with the colon: what is behind it is no key
		default:
			below, first = -1, false
		}
		start = end
	}
}

// soundingKey returns the offset behind the colon of the first key in a line that sounds secret; -1 without one.
func soundingKey(line []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(line[at:], ':')
		if i < 0 {
			return -1
		}
		at += i + 1
		key := bytes.TrimRight(line[:at-1], `'" `)
		quoted := len(key) < at-1 // a key in quotes, as in JSON, needs no blank behind the colon
		key = key[bytes.LastIndexAny(key, " {,'\"\t[")+1:]
		if (quoted || BlankAt(line, at)) && diag.SoundsSecret(string(key)) {
			return at
		}
	}
}

// hideValues hides the literals in a part of a text that no tree has, because a repair has overwritten it: those after
// its first colon or, with value, all of them. Keys and names of types stay; which values are secret nobody can tell.
func (t *Text) hideValues(text []byte, start, end int, value bool) {
	bare := false // a colon is before it
	for i := start; i < end; {
		begin := i
		switch c := text[i]; {
		case c == '"' || c == '\'':
			if i = min(QuotedEnd(text[:end], i), end); text[i-1] != c || i == begin+1 { // it is never closed
				i = begin + 1
				continue
			}
		case c == ':' && BlankAt(text, i+1):
			value, bare = true, true
			i++
			continue
		case IsBlank(c):
			i++
			continue
		case strings.IndexByte("\r\n{}[],#&*|>", c) >= 0:
			bare = false
			i++
			continue
		case bytes.HasPrefix(text[i:end], []byte("${")):
			if i = i + bytes.IndexByte(text[i:end], '}') + 1; i == begin {
				i = end
			}
			continue
		default:
			for i < end && strings.IndexByte("\r\n{}[],", text[i]) < 0 && !(text[i] == ':' && BlankAt(text, i+1)) {
				i++
			}
		}
		after := SkipBlanks(text[:end], i)
		isKey := !bare && after < end && text[after] == ':' && BlankAt(text, after+1)
		last := i
		if isKey { // without a comma there is a value before it
			last = begin + bytes.LastIndexByte(bytes.TrimRight(text[begin:i], " \t"), ' ')
		}
		if isKey && strings.Trim(string(text[begin:i]), `'" `) == "type" {
			if after = SkipBlanks(text[:end], after+1); after < end { // the name of a type
				for i = after; i < end && strings.IndexByte(" ,}\r\n", text[i]) < 0; {
					i++
				}
			}
		} else if value && last > begin && t.Source != nil {
			t.Source.Hide(t.At(begin, last))
		}
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
			if strings.Count(string(t.Bytes[start:n.End]), `"`)%2 == 1 { // where a text ends is not known
				t.hide(start+1, n.End)
			}
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
			t.HideTexts(child)
		}
		t.hideBelow(child)
	}
}

// HideTexts hides the texts of a value, but no keys, no expressions, which are the parser's, and no names of functions.
func (t *Text) HideTexts(n *Node) { t.hideTexts(n, map[*Node]bool{}) }

// hideTexts hides what HideTexts does. seen has the targets of aliases, each of which is hidden once: they may contain
// themselves, or stand for more text than there is time for.
func (t *Text) hideTexts(n *Node, seen map[*Node]bool) {
	if target := n.Target(); target != n {
		if seen[target] {
			return
		}
		seen[target], n = true, target
	}
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
			t.hideTexts(item, seen)
		}
	case Map:
		for i := 1; i < len(n.Content); i += 2 {
			if key := n.Content[i-1].Value; key != "function" && key != "method" && key != "return" {
				t.hideTexts(n.Content[i], seen)
			}
		}
	}
}

func (t *Text) hide(start, end int) {
	if t.Source != nil && strings.TrimSpace(string(t.Bytes[min(start, len(t.Bytes)):min(end, len(t.Bytes))])) != "" {
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
