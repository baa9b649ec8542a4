package convert

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Every comment of the input is in the program: beside the entry that it is about, or above the nearest entry that the
// program has. The YAML library loses some comments on reading and on writing, so both are done here.

// entry is an entry of a block collection in a text: a key, or an item of a list. The entries of a document are in the
// order of the text, and above always points backwards.
type entry struct {
	node          *yamlnode.Node // carries the comments above and below the entry
	start, column int
	above         int // index of the entry that it is inside of; -1 for none
}

// span is a part of a text that holds no entries: a scalar, or a collection in brackets. Comments may stand beside a
// span, and, in brackets, inside of it. A hash inside of any other span is text.
type span struct {
	node       *yamlnode.Node
	start, end int
	entry      int // index of the entry that it belongs to; -1 for none
}

// annotator attaches the comments of one document to its nodes.
type annotator struct {
	text    []byte
	root    *yamlnode.Node
	entries []entry
	spans   []span
}

// annotate attaches the comments of a text to the roots of its documents, and returns those of a text without any.
func annotate(text []byte, roots []*yamlnode.Node) []string {
	var orphans []string
	from := 0
	for i, root := range roots {
		to := len(text)
		if i+1 < len(roots) {
			// A comment before the line of --- belongs to the document above.
			to = boundary(text, root.End, roots[i+1].Start)
		}
		a := &annotator{text: text, root: root}
		a.collect(root, -1)
		a.attach(from, to)
		from = to
	}
	// Without a document there is no node that could carry them.
	if len(roots) == 0 {
		a := &annotator{text: text}
		for _, c := range a.comments(0, len(text)) {
			orphans = append(orphans, c.text)
		}
	}
	return orphans
}

// boundary returns the offset of the line that ends a document.
func boundary(text []byte, from, to int) int {
	for i := from; i < to; {
		end := yamlnode.LineEnd(text, i)
		if start := lineStart(text, i); bytes.HasPrefix(text[start:end], []byte("---")) {
			return start
		}
		i = end + max(yamlnode.BreakAt(text, end), 1)
	}
	return to
}

// lineStart returns the offset of the line that has an offset.
func lineStart(text []byte, i int) int {
	return bytes.LastIndexByte(text[:min(i, len(text))], '\n') + 1
}

// collect lists the entries and spans of a tree in the order of the text.
func (a *annotator) collect(n *yamlnode.Node, at int) {
	add := func(n *yamlnode.Node, start, column int) int {
		a.entries = append(a.entries, entry{n, start, column, at})
		return len(a.entries) - 1
	}
	switch {
	// Collections in brackets are one span: their items have no lines of their own to put a comment above.
	case n.Kind == yamlnode.Scalar || n.Kind == yamlnode.Alias || n.Flow():
		if n.End > n.Start {
			a.spans = append(a.spans, span{n, n.Start, n.End, at})
		}
	case n.Kind == yamlnode.List:
		// The column of an item is that of its dash, which is where a comment above it begins.
		column := n.Start - lineStart(a.text, n.Start)
		for _, item := range n.Content {
			a.collect(item, add(item, item.Start, column))
		}
	case n.Kind == yamlnode.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			inside := add(key, key.Start, key.Start-lineStart(a.text, key.Start))
			a.collect(key, inside)
			a.collect(n.Content[i+1], inside)
		}
	}
}

// note is a comment in a text.
type note struct {
	text               string
	start, end, column int
	alone              bool // on lines of its own
}

// comments returns the comments between two offsets, with those on adjacent lines as one.
func (a *annotator) comments(from, to int) []note {
	var notes []note
	// The spans are in the order of the text, and a hash inside one of them is part of a scalar, not a comment.
	spans := a.spans
	for i := from; i < to; {
		if len(spans) > 0 && i >= spans[0].start {
			s := spans[0]
			spans = spans[1:]
			switch {
			case s.node.Flow() && s.node.Kind != yamlnode.Scalar:
				notes = append(notes, a.inBrackets(s.node)...)
				i = max(i, s.end)
			// The only comment of a block scalar is behind its | or >.
			case s.node.Multiline():
				end := yamlnode.LineEnd(a.text, s.start)
				if hash := bytes.Index(a.text[s.start:end], []byte(" #")); hash >= 0 {
					notes = append(notes, a.note(s.start+hash+1, end))
				}
				i = max(i, s.end)
			default:
				i = max(i, s.end)
			}
			continue
		}
		// A hash begins a comment only after a blank or at the beginning of a line.
		if a.text[i] != '#' || i > 0 && !yamlnode.BlankAt(a.text, i-1) && a.text[i-1] != '\n' && a.text[i-1] != '\r' {
			i++
			continue
		}
		end := yamlnode.LineEnd(a.text, i)
		n := a.note(i, end)
		// Lines with the same indentation are one comment. A comment behind an entry does not go on in the next line.
		if last := len(notes) - 1; last >= 0 && n.alone && notes[last].alone && notes[last].column == n.column &&
			bytes.Count(a.text[notes[last].end:i], []byte("\n")) == 1 {
			notes[last].text += "\n" + n.text
			notes[last].end = end
		} else {
			notes = append(notes, n)
		}
		i = end
	}
	return notes
}

// note returns the comment between two offsets of one line.
func (a *annotator) note(start, end int) note {
	line := lineStart(a.text, start)
	return note{text: strings.TrimRight(string(a.text[start:end]), " \t\r"), start: start, end: end, column: start - line,
		alone: len(bytes.Trim(a.text[line:start], " \t\ufeff")) == 0}
}

// inBrackets returns the comments inside of a collection in brackets. The spans of scalars are enough: what is between
// them may only be white space, commas, brackets and comments.
func (a *annotator) inBrackets(n *yamlnode.Node) []note {
	inner := &annotator{text: a.text}
	var scalars func(n *yamlnode.Node)
	scalars = func(n *yamlnode.Node) {
		if len(n.Content) == 0 && n.End > n.Start && n.Kind != yamlnode.Map && n.Kind != yamlnode.List {
			inner.spans = append(inner.spans, span{node: n, start: n.Start, end: n.End})
		}
		for _, child := range n.Content {
			scalars(child)
		}
	}
	scalars(n)
	return inner.comments(n.Start, n.End)
}

// attach attaches the comments between two offsets. entries and spans must be complete: each comment is put relative to
// the last one that begins before it, or the next one.
func (a *annotator) attach(from, to int) {
	for _, n := range a.comments(from, to) {
		last := sort.Search(len(a.spans), func(i int) bool { return a.spans[i].start > n.start }) - 1
		next := sort.Search(len(a.entries), func(i int) bool { return a.entries[i].start > n.start })
		switch {
		case last >= 0 && a.spans[last].node.Multiline() && n.start < a.spans[last].end,
			last >= 0 && !n.alone && a.spans[last].end <= n.start && a.spans[last].end > n.start-n.column:
			node := a.spans[last].node // on its line
			notes := node.Notes()
			notes.Line = joined(notes.Line, n.text)
			node.SetNotes(notes)
		case last >= 0 && n.start < a.spans[last].end: // inside of brackets
			a.add(a.spans[last].entry, n.text, false)
		case next < len(a.entries):
			a.beside(n, next)
		default:
			a.below(n, next-1)
		}
	}
}

// beside attaches a comment above the entry that follows, or, if it has another indentation, below the one before.
func (a *annotator) beside(n note, next int) {
	first := true // next is the first entry inside of another one
	for at := next; at != next-1 && at >= 0; at = a.entries[at].above {
		first = a.entries[at].above == next-1
	}
	// A comment that is indented deeper than what follows is the last line of what comes before.
	if first || !n.alone || n.column <= a.entries[next].column {
		a.add(next, n.text, false)
		return
	}
	a.below(n, next-1)
}

// below attaches a comment below an entry or, by its indentation, one around that.
func (a *annotator) below(n note, at int) {
	// The entry is the innermost that is not deeper than the comment.
	for at >= 0 && a.entries[at].column > n.column && a.entries[at].above >= 0 {
		at = a.entries[at].above
	}
	a.add(at, n.text, at >= 0)
}

// add puts a comment above or below an entry; without one, above the root.
func (a *annotator) add(at int, text string, below bool) {
	node := a.root
	if at >= 0 {
		node = a.entries[at].node
	}
	notes := node.Notes()
	if below {
		notes.Foot = joined(notes.Foot, text)
	} else {
		notes.Head = joined(notes.Head, text)
	}
	node.SetNotes(notes)
}

// joined joins comments, of which any may be empty.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n")
}

// uncommented returns the text of a comment.
func uncommented(comment string) string {
	texts := lines(comment)
	for i, line := range texts {
		texts[i] = strings.TrimPrefix(strings.TrimPrefix(line, "#"), " ")
	}
	return strings.Join(texts, "\n")
}

// commentLines returns the lines of all comments in trees.
func commentLines(nodes ...*yamlnode.Node) []string {
	var lines []string
	for _, n := range nodes {
		notes := n.Notes()
		for line := range strings.SplitSeq(joined(notes.Head, notes.Line, notes.Foot), "\n") {
			if line != "" {
				lines = append(lines, line)
			}
		}
		lines = append(lines, commentLines(n.Content...)...)
	}
	return lines
}

// keep puts the comments of a part of the input that the program would lose above an entry of the program. value is the
// entry's value. It is called when value is complete: a later change of value would take comments with it.
func (p *Program) keep(key, value *yamlnode.Node, source ...*yamlnode.Node) {
	if lost := p.lost([]*yamlnode.Node{key, value}, source...); lost != "" {
		key.SetHead(joined(key.Head(), lost))
	}
}

// lost returns the comments of a part of the input that are neither in parts of the program nor in what was left out.
func (p *Program) lost(kept []*yamlnode.Node, source ...*yamlnode.Node) string {
	// Lines are counted, not only looked up: the same comment may occur several times.
	there := map[string]int{}
	for _, line := range commentLines(kept...) {
		there[line]++
	}
	var lost []string
	for _, line := range commentLines(source...) {
		switch {
		case there[line] > 0:
			there[line]--
		case p.shown[line] > 0:
			p.shown[line]--
		default:
			lost = append(lost, maskedComment(line))
		}
	}
	return strings.Join(lost, "\n")
}

// encode writes a tree with its comments. The library writes some of them at wrong places, so they are entries for it,
// which become comments after change, a function that may be nil.
func encode(n *yamlnode.Node, change func([]byte) []byte) ([]byte, error) {
	l := &layout{}
	out, above := l.node(n, true)
	text, err := yamlnode.Encode(out)
	if err != nil {
		return nil, err
	}
	if change != nil {
		text = change(text)
	}
	var b bytes.Buffer
	write := func(indent []byte, comments []string) {
		for _, comment := range comments {
			b.Write(indent)
			b.WriteString(comment + "\n")
		}
	}
	write(nil, above)
	// A line that looks like a marker and has no such number is the input's own.
	for line := range bytes.Lines(text) {
		if m := marker().FindSubmatch(line); m == nil {
			b.Write(line)
		} else if at, err := strconv.Atoi(string(m[2])); err != nil || at >= len(l.comments) {
			b.Write(line)
		} else {
			write(m[1], l.comments[at])
		}
	}
	// Comments below everything have no entry after them.
	write(nil, lines(n.Notes().Foot))
	return b.Bytes(), nil
}

// layout replaces the comments of a tree by entries.
type layout struct{ comments [][]string }

// marker matches the line of an entry that stands for comments.
var marker = lazyregexp.New(`^( *)(?:- )?x-comment-([0-9]+)-x(?:: null)?\n$`)

// node returns a copy of a tree, and the comments that belong above it. dash reports that it begins on the line of a
// dash, so that no comment can be above its first entry.
func (l *layout) node(n *yamlnode.Node, dash bool) (*yamlnode.Node, []string) {
	out := *n
	out.SetNotes(yamlnode.Comments{})
	notes := n.Notes()
	above := lines(notes.Head)
	// Behind such a value the library would not write the comment where it belongs.
	if block(n) || n.Multiline() || strings.Contains(notes.Line, "\n") {
		above = append(above, lines(notes.Line)...)
	} else {
		out.SetNotes(yamlnode.Comments{Line: notes.Line})
	}
	if n.Kind == yamlnode.Scalar || n.Kind == yamlnode.Alias {
		return &out, above
	}
	out.Content = nil
	// In brackets nothing can stand on lines of its own, so everything goes above.
	if !block(n) {
		for _, child := range n.Content {
			copied, comments := l.node(child, false)
			above = slices.Concat(above, comments, lines(copied.Notes().Line), lines(child.Notes().Foot))
			copied.SetNotes(yamlnode.Comments{})
			out.Content = append(out.Content, copied)
		}
		return &out, above
	}
	step := 1
	if n.Kind == yamlnode.Map {
		step = 2
	}
	for i := 0; i+step <= len(n.Content); i += step {
		copies, heads, feet := l.entry(n.Content[i : i+step])
		if dash && i == 0 {
			above = append(above, heads...)
		} else {
			l.put(&out, heads)
		}
		out.Content = append(out.Content, copies...)
		l.put(&out, feet)
	}
	return &out, above
}

// block reports whether a collection has lines of its own.
func block(n *yamlnode.Node) bool {
	return (n.Kind == yamlnode.Map || n.Kind == yamlnode.List) && !n.Flow() && len(n.Content) > 0
}

// entry copies an item of a list, or a key with its value, and returns the comments above and below it.
func (l *layout) entry(parts []*yamlnode.Node) (copies []*yamlnode.Node, heads, feet []string) {
	for i, part := range parts {
		copied, comments := l.node(part, len(parts) == 1)
		heads = append(heads, comments...)
		// A comment behind a key with a value on the same line belongs behind the value, which may have one already.
		if isKey := i+1 < len(parts); isKey && !block(parts[i+1]) {
			heads = append(heads, lines(copied.Notes().Line)...)
			copied.SetNotes(yamlnode.Comments{})
		}
		feet = slices.Concat(lines(part.Notes().Foot), feet)
		copies = append(copies, copied)
	}
	return copies, heads, feet
}

// put adds an entry for comments to a collection.
func (l *layout) put(out *yamlnode.Node, comments []string) {
	if len(comments) == 0 {
		return
	}
	out.Content = append(out.Content, text(fmt.Sprintf("x-comment-%d-x", len(l.comments))))
	if out.Kind == yamlnode.Map {
		out.Content = append(out.Content, null())
	}
	l.comments = append(l.comments, comments)
}

// lines returns the lines of a comment; none for an empty one.
func lines(comment string) []string {
	if comment == "" {
		return nil
	}
	return strings.Split(comment, "\n")
}
