package yamlnode

import (
	"bytes"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Nearly all programs use only a small part of YAML: block and flow collections, single-line scalars, literal and
// folded scalars. plainTree parses that part directly into nodes with positions, in a tenth of the time of the YAML
// parser and locate. It reports no errors: a text with any other syntax, or with an error, is left to the YAML parser.
// FuzzPlainTree verifies that both return the same trees.

// plainTree parses a text in the common part of YAML. It returns nil for any other text. Values of nodes share the
// memory of the text.
func plainTree(text []byte) *Node {
	if !plainCharacters(text) {
		return nil
	}
	r := &plainReader{text: text}
	column, more := r.nextLine()
	if !more || column > 0 || r.marker() {
		return nil
	}
	r.whole = unsafe.String(unsafe.SliceData(text), len(text)) // a text does not change while its tree is in use
	keys := bytes.Count(text, []byte(":\n")) + bytes.Count(text, []byte(": "))
	r.room = 2*keys + bytes.Count(text, []byte("- ")) + bytes.Count(text, []byte(",")) + 1
	var root *Node
	if text[r.i] == '{' {
		root = r.flow(-1, 0)
		if root != nil && !r.lineEnds() {
			return nil
		}
		if _, more = r.nextLine(); more {
			return nil
		}
	} else if root = r.block(0, -1, 0); root == nil || root.Kind != Map || r.i < len(text) {
		return nil
	}
	return root
}

// plainCharacters reports whether a text contains only printable characters and Unix line breaks.
func plainCharacters(text []byte) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c <= '~' || c == '\n' {
			continue
		}
		if c < utf8.RuneSelf {
			return false
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 || !printable(r) || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xFEFF {
			return false
		}
		i += size - 1
	}
	return true
}

// plainReader parses the common part of YAML. Its methods leave the cursor after what they have parsed. They return nil
// if the text is not in the common part.
type plainReader struct {
	text      []byte
	whole     string // the text as a string, which values share
	i         int    // the cursor
	lineStart int    // start of the cursor's line

	room  int     // number of nodes to allocate at once
	nodes []Node  // allocated but unused nodes
	links []*Node // allocated but unused elements of node contents
	open  []*Node // members of the unfinished collections
}

// nextLine moves from the end of a line, or the start of the text, to the first character of the next line with
// content, and returns its column. If there is none, more is false and the cursor is at the end of the text.
func (r *plainReader) nextLine() (column int, more bool) {
	for r.i < len(r.text) {
		if r.text[r.i] == '\n' {
			r.i++
			r.lineStart = r.i
			continue
		}
		r.i = SkipSpaces(r.text, r.i)
		if r.i < len(r.text) && r.text[r.i] == '#' {
			r.skipComment()
			continue
		}
		if r.i < len(r.text) && r.text[r.i] != '\n' {
			return r.i - r.lineStart, true
		}
	}
	return 0, false
}

func (r *plainReader) skipComment() {
	if n := bytes.IndexByte(r.text[r.i:], '\n'); n >= 0 {
		r.i += n
	} else {
		r.i = len(r.text)
	}
}

// column returns the column of the next content, or -1 at the end of the text. The cursor must be at the end of a node:
// at the end of a line or, after a collection, before the next token.
func (r *plainReader) column() int {
	if r.i < len(r.text) && r.text[r.i] != '\n' {
		return r.i - r.lineStart
	}
	column, more := r.nextLine()
	if !more {
		return -1
	}
	return column
}

// blankNext reports whether there is a space, a line break or the end of the text at i.
func (r *plainReader) blankNext(i int) bool {
	return i >= len(r.text) || r.text[i] == ' ' || r.text[i] == '\n'
}

// lineEnds skips spaces and a comment, and reports whether the line ends there.
func (r *plainReader) lineEnds() bool {
	start := r.i
	r.i = SkipSpaces(r.text, r.i)
	if r.i < len(r.text) && r.text[r.i] == '#' && r.i > start {
		r.skipComment()
	}
	return r.i >= len(r.text) || r.text[r.i] == '\n'
}

func (r *plainReader) make(n Node) *Node {
	if len(r.nodes) == 0 {
		r.nodes = make([]Node, r.room)
		r.room = r.room/4 + 1
	}
	made := &r.nodes[0]
	r.nodes = r.nodes[1:]
	*made = n
	return made
}

// collect allocates collection n. Its members are those in r.open from an index on, which it removes.
func (r *plainReader) collect(n Node, base int) *Node {
	members := r.open[base:]
	if len(r.links) < len(members) {
		r.links = make([]*Node, max(r.room, len(members), len(r.nodes)+len(r.open)))
	}
	n.Content, r.links = r.links[:len(members):len(members)], r.links[len(members):]
	copy(n.Content, members)
	r.open = r.open[:base]
	return r.make(n)
}

// block parses the node at the cursor, which is in the given column. indent is the column of the collection around it.
func (r *plainReader) block(column, indent, depth int) *Node {
	if depth > MaxDepth {
		return nil
	}
	if r.dash() {
		return r.list(column, indent, depth)
	}
	start, line := r.i, r.lineStart
	switch r.text[start] {
	case '[', '{', '|', '>':
		return r.value(indent, depth)
	}
	key := r.scalar(column, false)
	if key == nil || r.lineStart != line {
		return nil
	}
	if r.colon(start, false) {
		return r.mapping(key, column, indent, depth)
	}
	if key.indent = int32(indent); !r.lineEnds() {
		return nil
	}
	return key
}

// dash reports whether a list item begins at the cursor.
func (r *plainReader) dash() bool { return r.text[r.i] == '-' && r.blankNext(r.i+1) }

// maxPlainKey is the maximum length of a key in bytes. The YAML parser allows 1,024 characters.
const maxPlainKey = 1000

// colon moves past the colon that makes the text from start to the cursor a key. It returns false if there is none.
// quoted reports whether the text is a quoted scalar in brackets, whose colon needs no space after it.
func (r *plainReader) colon(start int, quoted bool) bool {
	i := SkipSpaces(r.text, r.i)
	if i >= len(r.text) || r.text[i] != ':' || !quoted && !r.blankNext(i+1) || i-start > maxPlainKey {
		return false
	}
	r.i = i + 1
	return true
}

// mapping parses a map. The cursor must be after the colon of its first key.
func (r *plainReader) mapping(key *Node, column, indent, depth int) *Node {
	n := Node{Kind: Map, Tag: MapTag, Start: key.Start, indent: int32(indent)}
	base := len(r.open)
	for {
		value := r.below(column, true, depth)
		if value == nil {
			return nil
		}
		r.open = append(r.open, key, value)
		n.End = value.End
		switch next := r.column(); {
		case next < column:
			return r.collect(n, base)
		case next > column:
			return nil
		}
		if column == 0 && r.marker() {
			return nil
		}
		start := r.i
		if key = r.scalar(column, false); key == nil || !r.colon(start, false) {
			return nil
		}
	}
}

// list parses a block list.
func (r *plainReader) list(column, indent, depth int) *Node {
	n := Node{Kind: List, Tag: ListTag, Start: r.i, indent: int32(indent)}
	base := len(r.open)
	for {
		r.i++
		item := r.below(column, false, depth)
		if item == nil {
			return nil
		}
		r.open = append(r.open, item)
		n.End = item.End
		next := r.column()
		if next > column {
			return nil
		}
		if next == column && r.dash() {
			continue
		}
		if next == column && column != indent { // only a list below a key may have the same column as the following key
			return nil
		}
		return r.collect(n, base)
	}
}

// marker reports whether the line at the cursor begins with a document marker.
func (r *plainReader) marker() bool {
	rest := r.text[r.i:]
	return bytes.HasPrefix(rest, []byte("---")) || bytes.HasPrefix(rest, []byte("..."))
}

// below parses the value of a key or the item after a dash, in a collection in the given column. The value is on the
// same line or indented below it, and null if there is none.
func (r *plainReader) below(column int, ofKey bool, depth int) *Node {
	start := r.i
	r.i = SkipSpaces(r.text, r.i)
	switch {
	case r.i >= len(r.text) || r.text[r.i] == '\n':
	case r.text[r.i] == '#':
		if !ofKey || r.i == start {
			return nil
		}
		r.skipComment()
	case ofKey:
		return r.value(column, depth)
	default:
		return r.block(r.i-r.lineStart, column, depth+1)
	}
	switch next := r.column(); {
	case next > column:
		return r.block(next, column, depth+1)
	case next == column && ofKey && r.dash():
		return r.list(column, column, depth+1)
	}
	return r.make(Node{Kind: Scalar, Tag: NullTag, Start: start, End: start, indent: int32(column)})
}

// value parses the value after a key, up to the end of a line. indent is the column of the collection.
func (r *plainReader) value(indent, depth int) *Node {
	var n *Node
	switch r.text[r.i] {
	case '[', '{':
		n = r.flow(indent, depth+1)
	case '|', '>':
		return r.multiline(indent)
	default:
		n = r.scalar(indent, false)
	}
	if n == nil || !r.lineEnds() {
		return nil
	}
	return n
}

// multiline parses a literal or folded scalar whose header has no indentation indicator or comment and whose first line
// is not blank.
func (r *plainReader) multiline(indent int) *Node {
	n := Node{Kind: Scalar, Tag: StringTag, Start: r.i, indent: int32(indent), Style: LiteralStyle}
	if r.text[r.i] == '>' {
		n.Style = FoldedStyle
	}
	if r.i++; r.i < len(r.text) && (r.text[r.i] == '-' || r.text[r.i] == '+') {
		r.i++
	}
	if r.i >= len(r.text) || r.text[r.i] != '\n' {
		return nil
	}
	first := SkipSpaces(r.text, r.i+1)
	if first >= len(r.text) || r.text[first] == '\n' || first-(r.i+1) <= indent {
		return nil
	}
	value, m := blockMap(r.text, n.Start, indent)
	n.Value, n.End, r.i = value, m.end, m.end
	r.lineStart = bytes.LastIndexByte(r.text[:r.i], '\n') + 1
	return r.make(n)
}

// flow parses a list or a map in brackets.
func (r *plainReader) flow(indent, depth int) *Node {
	if depth > MaxDepth {
		return nil
	}
	n := Node{Kind: List, Tag: ListTag, Start: r.i, indent: int32(indent), Style: FlowStyle}
	closer := byte(']')
	if r.text[r.i] == '{' {
		n.Kind, n.Tag, closer = Map, MapTag, '}'
	}
	base := len(r.open)
	r.i++
	for first := true; ; first = false {
		if !r.flowSpace() {
			return nil
		}
		if first && r.text[r.i] == closer {
			break
		}
		if n.Kind == Map {
			start, line := r.i, r.lineStart
			key := r.scalar(indent, true)
			if key == nil || !r.colon(start, key.Quoted()) || r.lineStart != line || !r.flowSpace() {
				return nil
			}
			r.open = append(r.open, key)
		}
		member := r.member(indent, depth)
		if member == nil || !r.flowSpace() {
			return nil
		}
		r.open = append(r.open, member)
		if r.text[r.i] == closer {
			break
		}
		if r.text[r.i] != ',' {
			return nil
		}
		r.i++
	}
	r.i++
	n.End = r.i
	return r.collect(n, base)
}

// member parses an item of a list in brackets, or the value of a key in braces.
func (r *plainReader) member(indent, depth int) *Node {
	switch r.text[r.i] {
	case '[', '{':
		return r.flow(indent, depth+1)
	}
	return r.scalar(indent, true)
}

// flowSpace skips spaces and line breaks inside of brackets. It returns false at the end of the text, at a comment and
// at a document marker.
func (r *plainReader) flowSpace() bool {
	for r.i < len(r.text) {
		switch r.text[r.i] {
		case ' ':
			r.i++
		case '\n':
			r.i++
			if r.lineStart = r.i; r.marker() {
				return false
			}
		case '#':
			return false
		default:
			return true
		}
	}
	return false
}

// scalar parses a scalar on one line. flow reports whether it is in brackets.
func (r *plainReader) scalar(indent int, flow bool) *Node {
	n := Node{Kind: Scalar, Tag: StringTag, Start: r.i, indent: int32(indent)}
	switch c := r.text[r.i]; c {
	case '"', '\'':
		if !r.quoted(&n, c) {
			return nil
		}
	default:
		end := r.plainEnd(flow)
		if end <= r.i {
			return nil
		}
		if n.Value = r.whole[r.i:end]; n.Value == "<<" {
			return nil
		}
		n.Tag = plainTag(n.Value)
		r.i = end
	}
	n.End = r.i
	return r.make(n)
}

// quoted parses a quoted scalar into n.
func (r *plainReader) quoted(n *Node, quote byte) bool {
	rest := r.text[r.i+1:]
	end := bytes.IndexByte(rest, quote)
	if end < 0 {
		return false
	}
	n.Style = SingleQuotedStyle
	if quote == '"' {
		n.Style = DoubleQuotedStyle
	}
	doubled := quote == '\'' && end+1 < len(rest) && rest[end+1] == quote
	if !doubled && bytes.IndexByte(rest[:end], '\n') < 0 && (quote == '\'' || bytes.IndexByte(rest[:end], '\\') < 0) {
		n.Value = r.whole[r.i+1 : r.i+1+end]
		r.i += end + 2
		return true
	}
	close := QuotedEnd(r.text, r.i)
	content := r.text[r.i+1 : max(close-1, r.i+1)]
	if close-2 < r.i || r.text[close-1] != quote || bytes.IndexByte(content, '\n') >= 0 ||
		!commonEscapes(content, quote) {
		return false
	}
	value, m := quotedMap(r.text, r.i, quote)
	if m == nil {
		return false
	}
	n.Value, r.i = value, close
	return true
}

// commonEscapes reports whether a quoted scalar only has escapes that both JSON and YAML define.
func commonEscapes(content []byte, quote byte) bool {
	if quote == '\'' {
		return true
	}
	for i := 0; i < len(content); i++ {
		if content[i] != '\\' {
			continue
		}
		if i++; i >= len(content) || strings.IndexByte(`"\bfnrt`, content[i]) < 0 {
			return false
		}
	}
	return true
}

// plainEnd returns the end of the plain scalar at the cursor. It returns the cursor if there is none, or if the scalar
// might continue on the next line.
func (r *plainReader) plainEnd(flow bool) int {
	i := r.i
	switch c := r.text[i]; c {
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '%', '@', '`', ' ', '\n':
		return r.i
	case '-':
		if r.blankNext(i + 1) {
			return r.i
		}
	}
	end := i
	for ; i < len(r.text); i++ {
		switch c := r.text[i]; c {
		case ' ':
			continue
		case '\n':
			if flow && !r.closesBelow(i) {
				return r.i
			}
			return end
		case ':':
			if r.blankNext(i + 1) {
				return end
			}
			if flow && strings.IndexByte(",[]{}", r.text[i+1]) >= 0 {
				return r.i
			}
		case '#':
			if r.text[i-1] == ' ' {
				if flow {
					return r.i
				}
				return end
			}
		case ',', ']', '}':
			if flow {
				return end
			}
		case '[', '{', '?':
			if flow {
				return r.i
			}
		}
		end = i + 1
	}
	if flow {
		return r.i
	}
	return end
}

// closesBelow reports whether the next character other than spaces and line breaks ends a scalar in brackets.
func (r *plainReader) closesBelow(i int) bool {
	for i < len(r.text) && (r.text[i] == ' ' || r.text[i] == '\n') {
		i++
	}
	return i < len(r.text) && strings.IndexByte(",]}", r.text[i]) >= 0
}
