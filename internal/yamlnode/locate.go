package yamlnode

import (
	"math"

	"gopkg.in/yaml.v3"
)

// The YAML parser only reports the line and column at which a node begins, in code points. locate determines the start
// and end of each node as byte offsets. It walks through the text once, so that the cost is linear even if the whole
// text is one line. On the way it converts the nodes to the type of this package; no yaml.Node is used afterwards.

// locate converts the tree of the YAML parser to nodes with positions in text.
func locate(text []byte, root *yaml.Node) *Node { return newLocator(text).tree(root) }

// tree converts a tree of the YAML parser, which comes after those that have been converted already.
func (l *locator) tree(root *yaml.Node) *Node {
	count := countNodes(root)
	l.nodes, l.links = make([]Node, count), make([]*Node, count)
	return l.node(root, -1)
}

// document converts a document that is not empty.
func (l *locator) document(read *yaml.Node) *Document {
	return &Document{Root: l.tree(read.Content[0]), Comments: Comments{Head: read.HeadComment, Line: read.LineComment,
		Foot: read.FootComment}}
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

	nodes    []Node               // allocated but unused nodes
	links    []*Node              // allocated but unused elements of node contents
	anchored map[*yaml.Node]*Node // nodes with anchors
	comments bool                 // keep the comments of nodes
}

func newLocator(text []byte) *locator {
	begin := TextStart(text)
	return &locator{text: text, line: 1, begin: begin, offset: begin, lineStart: begin}
}

// seek moves the cursor to a line and column and returns its offset. The cost of moving forward is the distance.
func (l *locator) seek(line, column int) int {
	if line < l.line || line == l.line && column < l.column {
		l.back(line)
	}
	for l.line < line && l.offset < len(l.text) {
		if n := BreakAt(l.text, l.offset); n > 0 {
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

// node converts a node and its children. indent is the column of the nearest block collection around it, in code
// points.
func (l *locator) node(read *yaml.Node, indent int) *Node {
	column := read.Column - 1
	start := l.seek(read.Line, column)
	n := &l.nodes[0]
	l.nodes = l.nodes[1:]
	*n = Node{Style: Style(read.Style), Value: read.Value, Start: start, End: start,
		indent: int32(min(indent, math.MaxInt32))}
	e := extras{anchor: read.Anchor}
	if l.comments {
		e.comments = Comments{Head: read.HeadComment, Line: read.LineComment, Foot: read.FootComment}
	}
	if read.Anchor != "" {
		if l.anchored == nil {
			l.anchored = map[*yaml.Node]*Node{}
		}
		l.anchored[read] = n
	}
	if read.Kind == yaml.AliasNode {
		n.Kind, e.target = Alias, l.anchored[read.Alias]
		n.setExtra(e)
		n.End = min(start+1+len(n.Value), len(l.text))
		return n
	}
	n.setExtra(e)
	n.setTag(read.ShortTag())
	if read.Kind == yaml.ScalarNode {
		n.Kind = Scalar
		n.End = max(start, l.scalarEnd(contentStart(l.text, n), n))
		return n
	}
	n.Kind = List
	if read.Kind == yaml.MappingNode {
		n.Kind = Map
	}
	content := contentStart(l.text, n)
	if !n.Flow() {
		indent = column
		if content != start && len(read.Content) > 0 {
			indent = read.Content[0].Column - 1 // the collection begins after an anchor or tag
		}
	}
	end := content
	n.Content, l.links = l.links[:0:len(read.Content)], l.links[len(read.Content):]
	for _, child := range read.Content {
		located := l.node(child, indent)
		n.Content = append(n.Content, located)
		end = max(end, located.End)
	}
	if n.Flow() {
		end = flowEnd(l.text, content, end, len(n.Content) == 0)
	}
	n.End = max(start, end)
	return n
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
		case Closer(text[start]):
			return i + 1
		case ',', ':', '?':
			i++
		default:
			return end
		}
	}
	return end
}

func (l *locator) scalarEnd(start int, n *Node) int {
	switch {
	case n.Quoted():
		return QuotedEnd(l.text, start)
	case n.Multiline():
		_, m := blockMap(l.text, start, int(n.indent))
		return m.end
	}
	if end := start + len(n.Value); end <= len(l.text) && string(l.text[start:end]) == n.Value {
		return end
	}
	if m := plainMap(l.text, start, n.Value); m != nil {
		return m.end
	}
	return start
}
