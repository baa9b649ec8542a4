package parser

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Format formats a text: two columns for each level, lists indented under their keys, one space after a colon and a
// dash, no trailing blanks, at most one empty line in a row, and a final line break. It changes only white space.
// Comments, order, quotes and line folding are preserved, and so is everything inside a multi-line string. Format
// returns the text unchanged if it cannot verify that the meaning is preserved, for JSON, and if there are syntax
// errors, which it returns as findings.
func Format(src *diag.Source) ([]byte, diag.Diagnostics) {
	text := src.Text()
	root, diags := formattable(src)
	if root == nil {
		return text, diags
	}
	f := newFormatter(text)
	f.node(root, 0)
	if f.odd {
		return text, nil
	}
	formatted := f.write()
	if !sameData(text, formatted) {
		return text, nil
	}
	return formatted, nil
}

// formattable returns the tree of a text that can be formatted. It returns nil for any other text, along with its
// syntax errors.
func formattable(src *diag.Source) (*yamlnode.Node, diag.Diagnostics) {
	t := newText(src)
	if !t.screen() {
		return nil, t.report.diags
	}
	if err := t.tree.Read(); err != nil {
		_, diags := Parse(src, Options{})
		return nil, slices.DeleteFunc(diags, func(d diag.Diagnostic) bool {
			return d.Code != diag.Syntax && d.Code != diag.RunawayInput
		})
	}
	root := t.tree.Root
	if root == nil || yamlnode.OddBreaks(t.tree.Text.Bytes) || t.tree.Tokens.SecondDocument >= 0 ||
		root.Kind != yamlnode.Map || root.Flow() {
		return nil, nil
	}
	return root, nil
}

// sameData reports whether two texts contain the same data in the same styles.
func sameData(a, b []byte) bool {
	one, _ := yamlnode.Parse(a)
	other, _ := yamlnode.Parse(b)
	return one != nil && other != nil && sameNode(one, other, 0)
}

func sameNode(a, b *yamlnode.Node, depth int) bool {
	if a.Kind != b.Kind || a.Style != b.Style || a.TagText() != b.TagText() || a.Value != b.Value ||
		a.Anchor() != b.Anchor() || len(a.Content) != len(b.Content) || depth > yamlnode.MaxDepth {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i], depth+1) {
			return false
		}
	}
	return true
}

// formattedLine is a line of the text and its new layout.
type formattedLine struct {
	start, end int          // offsets, without the line break
	broken     string       // the line break
	indent     int          // current indentation
	target     int          // new indentation; -1 if not known yet; -2-i to move with line i
	continued  bool         // inside of a string or brackets that begin above
	kept       bool         // inside of a string whose white space is significant
	cuts       []shortening // blanks to remove after the indentation
}

// shortening replaces a range of the text by the given number of blanks.
type shortening struct{ from, to, blanks int }

type formatter struct {
	text  []byte
	lines []formattedLine
	odd   bool // the text has syntax that the formatter does not support
}

func newFormatter(text []byte) *formatter {
	f := &formatter{text: text}
	for i := yamlnode.TextStart(text); i < len(text); {
		l := yamlnode.LineFrom(text, i)
		f.lines = append(f.lines, formattedLine{start: i, end: l.End, broken: string(text[l.End:l.Next]),
			indent: l.Indent,
			target: -1})
		i = l.Next
	}
	return f
}

// lineOf returns the index of the line that contains an offset.
func (f *formatter) lineOf(offset int) int {
	i, _ := slices.BinarySearchFunc(f.lines, offset, func(l formattedLine, offset int) int { return l.start - offset })
	if i == len(f.lines) || f.lines[i].start > offset {
		i--
	}
	return max(i, 0)
}

// begins reports whether an offset is the first in its line after the indentation.
func (f *formatter) begins(offset int) bool {
	l := f.lines[f.lineOf(offset)]
	return l.start+l.indent == offset
}

// put sets the new indentation of the line that begins with the text at an offset, unless it is already set. It does
// nothing if other text comes first.
func (f *formatter) put(offset, dst int) {
	if l := &f.lines[f.lineOf(offset)]; f.begins(offset) && l.target < 0 {
		l.target = dst
	}
}

// node formats a node so that it begins in column dst.
func (f *formatter) node(n *yamlnode.Node, dst int) {
	switch {
	case n.Kind == yamlnode.Alias:
		f.put(n.Start, dst)
	case n.Kind == yamlnode.Scalar, n.Flow():
		f.put(n.Start, dst)
		f.whole(n)
	case n.Kind == yamlnode.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			f.entry(n.Content[i], n.Content[i+1], dst)
		}
	case n.Kind == yamlnode.List:
		f.sequence(n, dst)
	}
}

func (f *formatter) entry(key, value *yamlnode.Node, dst int) {
	if key.Kind != yamlnode.Scalar || f.lineOf(key.Start) != f.lineOf(max(key.End-1, key.Start)) || key.Anchor() != "" {
		f.odd = true
		return
	}
	f.put(key.Start, dst)
	colon := yamlnode.SkipBlanks(f.text, key.End)
	if colon >= len(f.text) || f.text[colon] != ':' {
		f.odd = true
		return
	}
	f.tighten(colon + 1)
	if (value.Anchor() != "" || value.Tagged()) && value.Kind != yamlnode.Scalar && !value.Flow() {
		f.odd = true // the map or list begins after its anchor or tag
		return
	}
	f.node(value, dst+2)
}

// tighten reduces the spaces after a colon or dash to one, unless a comment or nothing follows.
func (f *formatter) tighten(i int) {
	end := yamlnode.SkipSpaces(f.text, i)
	if end-i > 1 && end < len(f.text) && strings.IndexByte("#\n\r\t", f.text[end]) < 0 {
		l := &f.lines[f.lineOf(i)]
		l.cuts = append(l.cuts, shortening{i, end, 1})
	}
}

func (f *formatter) sequence(n *yamlnode.Node, dst int) {
	column := -1
	for i, item := range n.Content {
		dash := f.dash(n, item, i)
		if dash < 0 || item.Anchor() != "" && item.Kind != yamlnode.Scalar {
			f.odd = true
			return
		}
		pos := dash - f.lines[f.lineOf(dash)].start
		if column >= 0 && pos != column {
			f.odd = true
			return
		}
		column = pos
		f.put(dash, dst)
		f.tighten(dash + 1)
		f.node(item, dst+2)
	}
}

// dash returns the offset of the dash before an item of a list, or -1 if it is not found.
func (f *formatter) dash(list, item *yamlnode.Node, i int) int {
	start := list.Start
	if i > 0 {
		start = list.Content[i-1].End
	}
	for pos := start; pos < len(f.text) && pos <= item.Start; pos++ {
		switch c := f.text[pos]; {
		case c == '-' && yamlnode.BlankAt(f.text, pos+1):
			return pos
		case c == '#' && (pos == 0 || yamlnode.BlankAt(f.text, pos-1)):
			pos = yamlnode.LineEnd(f.text, pos)
		case !yamlnode.IsBlank(c) && yamlnode.BreakAt(f.text, pos) == 0:
			return -1
		}
	}
	return -1
}

// whole marks the continuation lines of a multi-line scalar or of brackets.
func (f *formatter) whole(n *yamlnode.Node) {
	first, last := f.lineOf(n.Start), f.lineOf(max(n.End-1, n.Start))
	literal := n.Multiline()
	if literal { // include trailing empty lines, which may be significant
		for last+1 < len(f.lines) && f.lines[last+1].start+f.lines[last+1].indent == f.lines[last+1].end {
			last++
		}
	}
	for i := first + 1; i <= last; i++ {
		f.lines[i].continued = true
		f.lines[i].kept = literal || n.Quoted()
		f.lines[i].target = -2 - first // moves with its first line
	}
}

// write returns the formatted text.
func (f *formatter) write() []byte {
	for i := range f.lines { // continuation lines move with their first line
		if l := &f.lines[i]; l.target <= -2 {
			first := &f.lines[-2-l.target]
			l.target = max(l.indent+first.target-first.indent, 0)
			if first.target < 0 {
				l.target = l.indent
			}
		}
	}
	f.comments()
	var b bytes.Buffer
	b.Write(f.text[:yamlnode.TextStart(f.text)])
	empty := true // the previous line was empty, or there is none
	for i := range f.lines {
		l := &f.lines[i]
		body := f.body(l)
		switch {
		case l.continued && l.kept && strings.TrimSpace(body) == "" && l.start+l.indent == l.end:
			b.Write(f.text[l.start:l.end]) // blanks beyond the indentation are significant
			b.WriteString(l.broken)
			continue
		case body == "":
			if !empty {
				b.WriteString(l.broken)
			}
			empty = true
			continue
		}
		empty = false
		b.WriteString(strings.Repeat(" ", l.target))
		b.WriteString(body)
		b.WriteString(l.broken)
	}
	out := b.Bytes()
	if n := len(f.lines); n > 0 && !f.lines[n-1].continued {
		breaks := "\n"
		if bytes.Contains(f.text, []byte("\r\n")) {
			breaks = "\r\n"
		}
		out = append(bytes.TrimRight(out, "\r\n"), breaks...)
	}
	return out
}

// column is where a block of the text begins, and where it is moved to.
type column struct{ from, to int }

// comments sets the indentation of lines with comments only. A comment stays in its block: it is indented like the line
// that follows, or, if that line is further left and so ends the block, like the entries of the block above it.
func (f *formatter) comments() {
	inside := make([]int, len(f.lines)) // the new indentation in the block above; 0 or less: as that of the next line
	var blocks []column                 // those that are open, from the outermost
	next := f.following()
	for i := range f.lines {
		l := &f.lines[i]
		switch {
		case l.continued:
		case l.target >= 0:
			blocks = f.opened(blocks, l)
		case l.indent > 0 && len(blocks) > 0:
			inside[i] = -1
			deepest := blocks[len(blocks)-1]
			if n := next[i]; n >= 0 && (f.lines[n].indent > deepest.from || f.lines[n].indent >= l.indent) {
				break
			}
			for _, block := range blocks {
				if block.from <= l.indent {
					inside[i] = block.to
				}
			}
			if l.indent > deepest.from+1 {
				inside[i] = deepest.to + 2
			}
		}
	}
	for i := range f.lines {
		l := &f.lines[i]
		switch {
		case l.target >= 0:
		case inside[i] > 0:
			l.target = inside[i]
		case next[i] >= 0 && (l.indent == f.lines[next[i]].indent || l.indent > 0):
			l.target = f.lines[next[i]].target
		default:
			l.target = l.indent
		}
	}
}

// following returns for each line the next one that has more than a comment; -1 for none.
func (f *formatter) following() []int {
	next, n := make([]int, len(f.lines)), -1
	for i := len(f.lines) - 1; i >= 0; i-- {
		next[i] = n
		if l := f.lines[i]; l.target >= 0 && l.start+l.indent < l.end {
			n = i
		}
	}
	return next
}

// opened returns the blocks that are open behind a line, with those that begin in it.
func (f *formatter) opened(blocks []column, l *formattedLine) []column {
	for n := len(blocks); n > 0; n-- {
		// a list below its key
		if top := blocks[n-1]; top.from < l.indent || top.from == l.indent && top.to < l.target {
			break
		}
		blocks = blocks[:n-1]
	}
	blocks = append(blocks, column{l.indent, l.target})
	for pos, to := l.start+l.indent, l.target; pos < l.end && f.text[pos] == '-' && yamlnode.BlankAt(f.text, pos+1); {
		pos, to = yamlnode.SkipSpaces(f.text, pos+1), to+2
		if pos < l.end {
			blocks = append(blocks, column{pos - l.start, to})
		}
	}
	return blocks
}

// body returns the content of a line after its indentation, with its cuts applied.
func (f *formatter) body(l *formattedLine) string {
	start := l.start + l.indent
	slices.SortStableFunc(l.cuts, func(a, b shortening) int { return a.from - b.from })
	var b strings.Builder
	for _, cut := range l.cuts {
		if cut.from < start {
			continue
		}
		b.Write(f.text[start:cut.from])
		b.WriteString(strings.Repeat(" ", cut.blanks))
		start = cut.to
	}
	b.Write(f.text[start:l.end])
	if l.kept {
		return b.String()
	}
	return strings.TrimRight(b.String(), " \t")
}
