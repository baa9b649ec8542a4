package parser

import "gopkg.in/yaml.v3"

// The YAML reader gives the line and the column, in code points, at which a node begins, and no end. locate finds both
// as byte offsets, in one walk in the order of the text, so that the cost is linear even where the whole text is one
// line. It makes the nodes of this package on the way: those of the YAML reader go no further.

// locate makes the tree of a text from what the YAML reader has read of it.
func locate(text []byte, root *yaml.Node) *node {
	l := newLocator(text)
	count := countNodes(root)
	l.nodes, l.links = make([]node, count), make([]*node, count)
	return l.node(root, -1)
}

func countNodes(n *yaml.Node) int {
	count := 1
	for _, child := range n.Content {
		count += countNodes(child)
	}
	return count
}

type locator struct {
	text      []byte
	line      int // 1-based, of the cursor
	lineStart int
	column    int // 0-based code points, of the cursor
	offset    int // of the cursor
	begin     int // of the text, behind a byte order mark

	nodes    []node               // for those that are still to be made
	links    []*node              // for their contents
	anchored map[*yaml.Node]*node // what aliases may stand for
}

func newLocator(text []byte) *locator {
	begin := textStart(text)
	return &locator{text: text, line: 1, begin: begin, offset: begin, lineStart: begin}
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
		i := l.offset - 1
		if i > 0 && l.text[i] == '\n' && l.text[i-1] == '\r' {
			i--
		}
		for i > l.begin && breakBefore(l.text, i) == 0 {
			i--
		}
		l.offset, l.lineStart = i, i
		l.line--
	}
}

// breakBefore returns the length of the line break that ends at i.
func breakBefore(text []byte, i int) int {
	for n := 1; n <= 3 && n <= i; n++ {
		if breakAt(text, i-n) == n {
			return n
		}
	}
	return 0
}

// node makes a node and all inside it. indent is the column of the nearest block collection around it, in code points.
func (l *locator) node(read *yaml.Node, indent int) *node {
	column := read.Column - 1
	start := l.seek(read.Line, column)
	n := &l.nodes[0]
	l.nodes = l.nodes[1:]
	*n = node{style: nodeStyle(read.Style), value: read.Value, anchor: read.Anchor, start: start, end: start,
		indent: indent}
	if read.Anchor != "" {
		if l.anchored == nil {
			l.anchored = map[*yaml.Node]*node{}
		}
		l.anchored[read] = n
	}
	if read.Kind == yaml.AliasNode {
		n.kind, n.alias = aliasNode, l.anchored[read.Alias]
		n.end = min(start+1+len(n.value), len(l.text))
		return n
	}
	n.tag = read.ShortTag()
	if read.Kind == yaml.ScalarNode {
		n.kind = scalarNode
		n.end = max(start, l.scalarEnd(contentStart(l.text, n), n))
		return n
	}
	n.kind = listNode
	if read.Kind == yaml.MappingNode {
		n.kind = mapNode
	}
	content := contentStart(l.text, n)
	if !n.flow() {
		indent = column
		if content != start && len(read.Content) > 0 {
			indent = read.Content[0].Column - 1 // behind an anchor or tag
		}
	}
	end := content
	n.content, l.links = l.links[:0:len(read.Content)], l.links[len(read.Content):]
	for _, child := range read.Content {
		located := l.node(child, indent)
		n.content = append(n.content, located)
		end = max(end, located.end)
	}
	if n.flow() {
		end = flowEnd(l.text, content, end, len(n.content) == 0)
	}
	n.end = max(start, end)
	return n
}

// contentStart is where a node's content begins, behind its anchor and tag. Of the node it needs the start, the kind,
// the value and the style.
func contentStart(text []byte, n *node) int {
	i := n.start
	if n.kind == aliasNode {
		return i
	}
	for i < len(text) && (text[i] == '&' || text[i] == '!') {
		anchor := text[i] == '&'
		for i++; i < len(text) && (anchor && wordByte(text[i]) || !anchor && !blankAt(text, i)); i++ {
		}
		if n.kind == scalarNode && n.value == "" && n.style&^taggedStyle == 0 {
			// Nothing follows that would belong to the node, but for the other one of anchor and tag.
			next := behindBlanks(text, i)
			if next >= len(text) || text[next] != '&' && text[next] != '!' {
				return i
			}
			i = next
			continue
		}
		i = behindLines(text, i)
	}
	return i
}

// wordByte reports whether a byte may be part of an anchor's name.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// behindSpaces returns the first offset from i on that has no space.
func behindSpaces(text []byte, i int) int {
	for i < len(text) && text[i] == ' ' {
		i++
	}
	return i
}

// behindBlanks returns the first offset from i on that has no blank.
func behindBlanks(text []byte, i int) int {
	for i < len(text) && blank(text[i]) {
		i++
	}
	return i
}

// behindLines returns the first offset from i on that has no blank, line break or comment.
func behindLines(text []byte, i int) int {
	for i < len(text) {
		switch n := breakAt(text, i); {
		case blank(text[i]):
			i++
		case n > 0:
			i += n
		case text[i] == '#' && i > 0 && blankAt(text, i-1):
			i = contentEnd(text, i)
		default:
			return i
		}
	}
	return i
}

// flowEnd returns the end of a collection in brackets that begins at start and whose last member ends at end.
func flowEnd(text []byte, start, end int, childless bool) int {
	if start >= len(text) || text[start] != '[' && text[start] != '{' {
		return end // a pair without braces inside of a list
	}
	i := end
	if childless {
		i = start + 1
	}
	for i < len(text) {
		i = behindLines(text, i)
		if i >= len(text) {
			break
		}
		switch text[i] {
		case closer(text[start]):
			return i + 1
		case ',', ':', '?':
			i++
		default:
			return end
		}
	}
	return end
}

func (l *locator) scalarEnd(start int, n *node) int {
	switch {
	case n.quoted():
		return quotedEnd(l.text, start)
	case n.multiline():
		_, m := blockMap(l.text, start, n.indent)
		return m.end
	}
	if end := start + len(n.value); end <= len(l.text) && string(l.text[start:end]) == n.value {
		return end
	}
	if m := plainMap(l.text, start, n.value); m != nil {
		return m.end
	}
	return start
}

// quotedEnd returns the offset behind the closing quote of the text that begins at start.
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
