package parser

import (
	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
)

// The YAML reader gives the line and the column, in code points, at which a node begins, and no end. locate finds both
// as byte offsets, in one walk in the order of the text, so that the cost is linear even where the whole text is one
// line.

// locate replaces Line and Column of every node by the byte offsets of its start and its end.
func (p *parser) locate(root *node) {
	l := &locator{text: p.text, line: 1, begin: textStart(p.text)}
	l.offset, l.lineStart = l.begin, l.begin
	l.node(root, -1)
	p.blockIndents = l.blockIndents
}

// span is the place of a located node.
func (p *parser) span(n *node) diag.Range { return p.at(n.Line, n.Column) }

type locator struct {
	text      []byte
	line      int // 1-based, of the cursor
	lineStart int
	column    int // 0-based code points, of the cursor
	offset    int // of the cursor
	begin     int // of the text, behind a byte order mark
	// blockIndents holds, for literal and folded texts, the indentation of the collection around them.
	blockIndents map[*node]int
}

// seek moves the cursor to a place and answers its offset. Seeking forward costs the distance.
func (l *locator) seek(line, column int) int {
	if line < l.line || line == l.line && column < l.column {
		l.back(line)
	}
	for l.line < line && l.offset < len(l.text) {
		if n := breakAt(l.text, l.offset); n > 0 {
			l.offset += n
			l.line++
			l.lineStart, l.column = l.offset, 0
		} else {
			l.offset++
		}
	}
	for l.column < column && l.offset < len(l.text) {
		l.offset++
		for l.offset < len(l.text) && l.text[l.offset]&0xC0 == 0x80 {
			l.offset++
		}
		l.column++
	}
	return l.offset
}

// back moves the cursor to the beginning of a line at or before it. The reader names places in the order of the text
// but for a few empty nodes.
func (l *locator) back(line int) {
	l.offset, l.column = l.lineStart, 0
	for l.line > line && l.offset > l.begin {
		at := l.offset - 1
		if at > 0 && l.text[at] == '\n' && l.text[at-1] == '\r' {
			at--
		}
		for at > l.begin && breakBefore(l.text, at) == 0 {
			at--
		}
		l.offset, l.lineStart = at, at
		l.line--
	}
}

// breakBefore is the length of the line break that ends at i.
func breakBefore(text []byte, i int) int {
	for n := 1; n <= 3 && n <= i; n++ {
		if breakAt(text, i-n) == n {
			return n
		}
	}
	return 0
}

// node locates a node and all inside it. indent is the column of the nearest block collection around it, in code
// points.
func (l *locator) node(n *node, indent int) {
	column := n.Column - 1
	start := l.seek(n.Line, column)
	end := start
	content := l.properties(start, n)
	switch n.Kind {
	case yaml.AliasNode:
		end = min(start+1+len(n.Value), len(l.text))
	case yaml.ScalarNode:
		end = l.scalarEnd(content, n, indent)
	case yaml.MappingNode, yaml.SequenceNode:
		flow := n.Style&yaml.FlowStyle != 0
		if !flow {
			indent = column
			if content != start && len(n.Content) > 0 {
				indent = n.Content[0].Column - 1 // behind an anchor or tag
			}
		}
		end = content
		for _, child := range n.Content {
			l.node(child, indent)
			end = max(end, child.Column)
		}
		if flow {
			end = l.flowEnd(content, end, len(n.Content) == 0)
		}
	}
	n.Line, n.Column = start, max(start, end)
}

// properties is where a node's content begins, behind its anchor and tag.
func (l *locator) properties(i int, n *node) int {
	if n.Kind == yaml.AliasNode {
		return i
	}
	for i < len(l.text) && (l.text[i] == '&' || l.text[i] == '!') {
		anchor := l.text[i] == '&'
		for i++; i < len(l.text) && (anchor && wordByte(l.text[i]) || !anchor && !blankAt(l.text, i)); i++ {
		}
		if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&^yaml.TaggedStyle == 0 {
			// Nothing follows that would belong to the node, but for the other one of anchor and tag.
			next := l.skipBlank(i, false)
			if next >= len(l.text) || l.text[next] != '&' && l.text[next] != '!' {
				return i
			}
			i = next
			continue
		}
		i = l.skipBlank(i, true)
	}
	return i
}

// wordByte reports whether a byte may be part of an anchor's name.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// skipBlank moves over blanks, and with lines also over line breaks and comments.
func (l *locator) skipBlank(i int, lines bool) int {
	for i < len(l.text) {
		switch n := breakAt(l.text, i); {
		case blank(l.text[i]):
			i++
		case lines && n > 0:
			i += n
		case lines && l.text[i] == '#' && i > 0 && blankAt(l.text, i-1):
			for i < len(l.text) && breakAt(l.text, i) == 0 {
				i++
			}
		default:
			return i
		}
	}
	return i
}

// flowEnd is the end of a collection in brackets that begins at start and whose last member ends at end.
func (l *locator) flowEnd(start, end int, childless bool) int {
	if start >= len(l.text) || l.text[start] != '[' && l.text[start] != '{' {
		return end // a pair without braces inside of a list
	}
	closer := byte(']')
	if l.text[start] == '{' {
		closer = '}'
	}
	i := end
	if childless {
		i = start + 1
	}
	for i < len(l.text) {
		i = l.skipBlank(i, true)
		if i >= len(l.text) {
			break
		}
		switch l.text[i] {
		case closer:
			return i + 1
		case ',', ':', '?':
			i++
		default:
			return end
		}
	}
	return end
}

func (l *locator) scalarEnd(start int, n *node, indent int) int {
	switch {
	case n.Style&yaml.SingleQuotedStyle != 0, n.Style&yaml.DoubleQuotedStyle != 0:
		return quotedEnd(l.text, start)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		if l.blockIndents == nil {
			l.blockIndents = map[*node]int{}
		}
		l.blockIndents[n] = indent
		return blockEnd(l.text, start, indent)
	}
	if end := start + len(n.Value); end <= len(l.text) && string(l.text[start:end]) == n.Value {
		return end
	}
	if m := plainMap(l.text, start, n.Value); m != nil {
		return m.end
	}
	return start
}

// quotedEnd is the offset behind the closing quote of the text that begins at start.
func quotedEnd(text []byte, start int) int {
	if start >= len(text) {
		return start
	}
	quote := text[start]
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote == '"':
			i++
		case c == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case c == quote:
			return i + 1
		}
	}
	return len(text)
}

// blockEnd is the end of the last line of the literal or folded text that begins at start, without its line break;
// where it has no lines, the end of its header. indent is the column of the collection around it.
func blockEnd(text []byte, start, indent int) int {
	h := blockHeader(text, start)
	width := h.width(text, indent)
	end := h.end
	for i := h.body; i < len(text); {
		content := i
		for content < len(text) && content-i < width && text[content] == ' ' {
			content++
		}
		lineEnd := content
		for lineEnd < len(text) && breakAt(text, lineEnd) == 0 {
			lineEnd++
		}
		if content-i < width && lineEnd > content {
			break // less indented
		}
		if lineEnd > content {
			end = lineEnd
		}
		if lineEnd >= len(text) {
			break
		}
		i = lineEnd + breakAt(text, lineEnd)
	}
	return end
}
