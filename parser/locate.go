package parser

import "gopkg.in/yaml.v3"

// The YAML parser only reports the line and column at which a node begins, in code points. locate determines the start
// and end of each node as byte offsets. It walks through the text once, so that the cost is linear even if the whole
// text is one line. On the way it converts the nodes to the type of this package; no yaml.Node is used afterwards.

// locate converts the tree of the YAML parser to nodes with positions in text.
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
	line      int // 1-based line of the cursor
	lineStart int
	column    int // column of the cursor in code points, 0-based
	offset    int // offset of the cursor
	begin     int // start of the text, after a byte order mark

	nodes    []node               // allocated but unused nodes
	links    []*node              // allocated but unused elements of node contents
	anchored map[*yaml.Node]*node // nodes with anchors
}

func newLocator(text []byte) *locator {
	begin := textStart(text)
	return &locator{text: text, line: 1, begin: begin, offset: begin, lineStart: begin}
}

// seek moves the cursor to a line and column and returns its offset. The cost of moving forward is the distance.
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

// back moves the cursor to the beginning of a line at or before it. It is rarely needed: the YAML parser reports
// positions in the order of the text, except for a few empty nodes.
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

// node converts a node and its children. indent is the column of the nearest block collection around it, in code
// points.
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
			indent = read.Content[0].Column - 1 // the collection begins after an anchor or tag
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

// contentStart returns the offset of a node's content, after its anchor and tag. It uses only the start, kind, value
// and style of the node.
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
			// The empty node has no content after its anchor and tag.
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

// behindSpaces returns the first offset at or after i that is not a space.
func behindSpaces(text []byte, i int) int {
	for i < len(text) && text[i] == ' ' {
		i++
	}
	return i
}

// behindBlanks returns the first offset at or after i that is not a space or tab.
func behindBlanks(text []byte, i int) int {
	for i < len(text) && blank(text[i]) {
		i++
	}
	return i
}

// behindLines returns the first offset at or after i that is not white space, a line break or part of a comment.
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

// flowEnd returns the end of a collection in brackets that begins at start. end is the end of its last member;
// childless reports whether it has none.
func flowEnd(text []byte, start, end int, childless bool) int {
	if start >= len(text) || text[start] != '[' && text[start] != '{' {
		return end // a key-value pair without braces in a list
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

// quotedEnd returns the offset after the closing quote of the scalar that begins at start, or the end of the text.
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
