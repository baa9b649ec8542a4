package parser

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// CursorKind is the kind of syntax at a position of an unfinished text.
type CursorKind uint8

// The kinds of positions.
const (
	KeyCursor   CursorKind = iota // the key of a map, or an item of a list
	ValueCursor                   // the value after a key, or a list item that has been started
	NameCursor                    // a name inside ${…}
)

// Context describes the syntax at a position. It is derived from lines and brackets alone, so that it also works in a
// text with syntax errors.
type Context struct {
	Kind CursorKind
	// Path holds the keys around the position, outermost first; a list item is "[]". For a value, the last element is
	// its key.
	Path  []string
	Typed string // the part of the word before the cursor
	// Start and End are the byte offsets of the whole word.
	Start, End int
	// Flow reports whether the position is inside of YAML brackets or braces.
	Flow bool

	// For a NameCursor: the parts of the access before the word, and the function call around the position, if any.
	Steps    []string
	Function string
	Argument int // 0-based
}

// Cursor returns the context of a byte offset.
func Cursor(text []byte, offset int) Context {
	offset = min(max(offset, 0), len(text))
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	line := text[start:offset]
	if i := bytes.LastIndex(line, []byte("${")); i >= 0 && !bytes.Contains(line[i:], []byte("}")) &&
		!(i > 0 && line[i-1] == '$') {
		c := nameContext(text, start+i+2, offset)
		c.Path = blockContext(text, start, offset).Path
		return c
	}
	if c, ok := flowContext(text, start, offset); ok {
		return c
	}
	return blockContext(text, start, offset)
}

// nameContext returns the context of a position inside an expression that begins at begin.
func nameContext(text []byte, begin, offset int) Context {
	c := Context{Kind: NameCursor, Start: offset, End: offset}
	for c.Start > begin && nameByte(text[c.Start-1]) {
		c.Start--
	}
	for c.End < len(text) && nameByte(text[c.End]) {
		c.End++
	}
	c.Typed = string(text[c.Start:offset])
	pos := c.Start
	for pos > begin && text[pos-1] == '.' { // the access before the word, backwards
		end := pos - 1
		var indexes []string
		for end > begin && text[end-1] == ']' {
			open := bytes.LastIndexByte(text[begin:end], '[')
			if open < 0 {
				break
			}
			indexes = append(indexes, string(text[begin+open:end]))
			end = begin + open
		}
		pos = end
		for pos > begin && nameByte(text[pos-1]) {
			pos--
		}
		c.Steps = append(c.Steps, indexes...)
		if pos < end {
			c.Steps = append(c.Steps, string(text[pos:end]))
		}
	}
	slices.Reverse(c.Steps)
	depth := 0
	for i := pos - 1; i >= begin; i-- {
		switch text[i] {
		case ')', ']', '}':
			depth++
		case '[', '{':
			depth--
		case ',':
			if depth == 0 {
				c.Argument++
			}
		case '(':
			if depth--; depth < 0 {
				end := i
				for i > begin && nameByte(text[i-1]) {
					i--
				}
				c.Function = string(text[i:end])
				return c
			}
		}
	}
	c.Argument = 0
	return c
}

// word sets the word that ends at offset and begins at or after from, without an opening quote.
func (c *Context) word(text []byte, start, offset int) {
	for start < offset && (yamlnode.IsBlank(text[start]) || text[start] == '"' || text[start] == '\'') {
		start++
	}
	c.Start, c.End = start, offset
	c.Typed = string(text[start:offset])
	for c.End < len(text) && (nameByte(text[c.End]) || text[c.End] == '/' || text[c.End] == '.') {
		c.End++
	}
}

// lineShape is a line split into its dashes and its key.
type lineShape struct {
	dashes []int // columns
	column int   // column of the text after the dashes
	key    string
	colon  int // offset after the colon; 0 without a key
}

func shapeOf(text []byte, start int) lineShape {
	end := len(text)
	if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
		end = start + n
	}
	i := yamlnode.SkipSpaces(text[:end], start)
	var s lineShape
	for i < end && text[i] == '-' && yamlnode.BlankAt(text, i+1) {
		s.dashes = append(s.dashes, i-start)
		i = yamlnode.SkipSpaces(text[:end], i+1)
	}
	s.column = i - start
	if i < end && text[i] != '#' {
		if colon := yamlnode.KeyEnd(text, yamlnode.Line{Start: i, End: end}); colon > 0 {
			s.key, s.colon = yamlnode.KeyText(text[i:colon-1]), colon
		}
	}
	return s
}

// BeginsValue reports whether the line that begins at start has a key or is a list item.
func BeginsValue(text []byte, start int) bool {
	s := shapeOf(text, start)
	return s.colon > 0 || len(s.dashes) > 0
}

// blockContext returns the context of a position outside of brackets. start is the offset of its line.
func blockContext(text []byte, start, offset int) Context {
	s := shapeOf(text, start)
	var c Context
	column := s.column
	if len(bytes.TrimSpace(text[start:offset])) == 0 { // the line is empty up to the cursor, which determines the depth
		s.dashes, s.key, s.colon = nil, "", 0
		column = offset - start
	}
	for len(s.dashes) > 0 && start+s.dashes[len(s.dashes)-1] >= offset {
		s.dashes = s.dashes[:len(s.dashes)-1]
	}
	c.Path = parentsOf(text, start, column, s.dashes)
	if s.key == "fn:" && s.colon == offset { // the function's name has not been typed yet
		c.word(text, start+s.column, offset)
		return c
	}
	if s.colon > 0 && s.colon <= offset {
		c.Kind = ValueCursor
		c.Path = append(c.Path, s.key)
		c.word(text, s.colon, offset)
		return c
	}
	if len(s.dashes) > 0 || s.colon > 0 {
		c.word(text, min(start+s.column, offset), offset)
	} else {
		c.word(text, min(start+column, offset), offset)
	}
	return c
}

// parentsOf returns the path around a column of the line that begins at start.
func parentsOf(text []byte, start, column int, dashes []int) (path []string) {
	equal := false // a key in the same column may be the parent of a list that is not indented
	item := func(dashes []int) {
		for i := len(dashes) - 1; i >= 0; i-- {
			path = append(path, "[]")
			column, equal = dashes[i], true
		}
	}
	item(dashes)
	for start > 0 && (column > 0 || equal) {
		end := start - 1
		start = bytes.LastIndexByte(text[:end], '\n') + 1
		if trimmed := bytes.TrimSpace(text[start:end]); len(trimmed) == 0 || trimmed[0] == '#' {
			continue
		}
		if indent := yamlnode.SkipSpaces(text, start) - start; indent > column || indent == column && !equal {
			continue // a sibling of the position, or a child of one
		}
		s := shapeOf(text, start)
		switch {
		case s.key != "" && (s.column < column || equal && s.column == column && len(s.dashes) == 0):
			path = append(path, s.key)
			column, equal = s.column, false
			item(s.dashes)
		case s.column == column && len(s.dashes) > 0 && !equal:
			item(s.dashes)
		case s.key == "" && len(s.dashes) > 0 && s.dashes[0] < column && !equal:
			item(s.dashes)
		}
	}
	slices.Reverse(path)
	return path
}

// flowContext returns the context of a position inside of brackets; false if it is outside of them.
func flowContext(text []byte, start, offset int) (Context, bool) {
	begin := start
	for range 200 { // go back to a line that cannot be inside of brackets
		s := shapeOf(text, begin)
		if begin == 0 || s.key != "" && s.column <= 2 {
			break
		}
		begin = bytes.LastIndexByte(text[:begin-1], '\n') + 1
	}
	type level struct {
		open  int
		key   string // of the value; empty in a list
		value bool
		word  int
	}
	var stack []level
	var path []string // of the outermost value in brackets
	fresh := true     // a value may begin here
	for i := begin; i < offset; i++ {
		ch := text[i]
		if len(stack) == 0 {
			switch {
			case ch == '\n' || (ch == ':' || ch == '-') && yamlnode.BlankAt(text, i+1):
				fresh = true
			case yamlnode.IsBlank(ch):
			case ch == '#' && i > 0 && yamlnode.BlankAt(text, i-1):
				for i < offset && text[i] != '\n' {
					i++
				}
				i--
			case fresh && (ch == '"' || ch == '\''):
				i = yamlnode.QuotedEnd(text[:offset], i) - 1
				fresh = false
			case fresh && (ch == '{' || ch == '['):
				pos := bytes.LastIndexByte(text[:i], '\n') + 1
				path = blockContext(text, pos, i).Path
				stack = append(stack, level{open: i, word: i + 1})
			default:
				fresh = false
			}
			continue
		}
		top := &stack[len(stack)-1]
		switch ch {
		case '"', '\'':
			if len(bytes.TrimSpace(text[top.word:i])) == 0 {
				end := yamlnode.QuotedEnd(text[:offset], i)
				if end >= offset && !(end > i+1 && text[end-1] == ch) {
					i = offset
					break
				}
				i = end - 1
			}
		case '{', '[':
			if i > 0 && text[i-1] == '$' {
				break
			}
			stack = append(stack, level{open: i, word: i + 1})
		case '}', ']':
			stack = stack[:len(stack)-1]
			fresh = false
		case ',':
			top.key, top.value, top.word = "", false, i+1
		case ':':
			if text[top.open] == '{' && !top.value && yamlnode.BlankAt(text, i+1) &&
				!(i+1 == offset && bytes.HasSuffix(text[:i], []byte("fn:"))) {
				top.key, top.value = strings.Trim(string(text[top.word:i]), " \t\n\"'"), true
				top.word = i + 1
			}
		}
	}
	if len(stack) == 0 {
		return Context{}, false
	}
	top := stack[len(stack)-1]
	c := Context{Flow: true, Path: slices.Clone(path)}
	for _, outer := range stack[:len(stack)-1] {
		if text[outer.open] == '[' {
			outer.key = "[]"
		}
		c.Path = append(c.Path, outer.key)
	}
	switch {
	case text[top.open] == '[':
		c.Path = append(c.Path, "[]")
	case top.value:
		c.Kind, c.Path = ValueCursor, append(c.Path, top.key)
	}
	for top.word < offset && text[top.word] == '\n' {
		top.word++
	}
	c.word(text, top.word, offset)
	return c, true
}
