package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// placed is a row with its depth in the tree.
type placed struct {
	*row
	depth int
}

// walk calls fn for every row, parents first; without depth for a flat list.
func (r *report) walk(fn func(placed)) {
	r.board.tree.walk(func(item *row, depth int) {
		if r.o.Flat {
			depth = 0
		}
		fn(placed{item, depth})
	})
}

// final returns the rows at the end: everything that changed or failed, below its components.
func (r *report) final(width int) []string {
	var rows []placed
	same, left := 0, left{}
	r.walk(func(item placed) {
		if item.shown(r.o) || !r.o.Flat && item.holdsShown(r.o) {
			rows = append(rows, item)
		} else if !left.take(item.row) && (item.planning || !item.broken()) {
			same++
		}
	})
	lines := r.render(rows, width)
	if same > 0 {
		lines = append(lines, r.fit(dim, fmt.Sprintf("     %s unchanged", diag.Count(same, "resource")), width))
	}
	for _, c := range left.counted() {
		lines = append(lines, r.fit(dim, fmt.Sprintf("     %s %s", diag.Count(c.N, "resource"), c.Words), width))
	}
	return lines
}

func (r *report) render(rows []placed, width int) []string {
	all := make([]cells, len(rows))
	for i, item := range rows {
		all[i] = r.cells(item.row)
		all[i].depth = item.depth
	}
	if r.o.Flat {
		r.flatten(rows, all)
	}
	c := arrange(all, width)
	lines := make([]string, len(all))
	for i, item := range all {
		lines[i] = printable.Colored(c.line(item, r.p))
	}
	return lines
}

// List returns resources as rows of a list, without colours.
func List(resources []Resource) []string {
	all := make([]cells, len(resources))
	for i, r := range resources {
		all[i] = cells{sign: r.Sign, status: r.Words}
		all[i].name, all[i].typ = printable.Text(r.URN.Name()), printable.Text(typeOf(r.URN))
	}
	c := arrange(all, 0)
	lines := make([]string, len(all))
	for i, item := range all {
		lines[i] = printable.Colored(c.line(item, palette{}))
	}
	return lines
}

// flatten gives rows their full names, and the part of each name that distinguishes it among all rows.
func (r *report) flatten(rows []placed, all []cells) {
	var names siblings
	for _, item := range rows {
		names.add(item.urn.Name())
	}
	for i, item := range rows {
		name := item.urn.Name()
		all[i].name, all[i].from, all[i].to = printable.Text(name), 0, 0
		if all[i].name == name {
			all[i].from, all[i].to = names.telling(name)
		}
	}
}

// fit cuts a line to the terminal's width and colours it.
func (r *report) fit(style paint, text string, width int) string {
	if width > 0 {
		text = cutEnd(text, width-1)
	}
	return r.p.paint(style, text)
}

var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func (r *report) cells(item *row) cells {
	style := opStyles[item.op]
	c := cells{sign: style.sign, name: printable.Text(item.label), typ: printable.Text(item.shortType()),
		color: style.color}
	outcome, words := item.outcome()
	c.status, c.short = words, words
	switch {
	case outcome == Failed:
		c.color, c.short, c.sign = red, "failed", failedSign
	case item.running > 0 && r.board.summary == nil:
		c.status, c.short = style.running, style.running
		c.sign = spinner[r.board.spin%len(spinner)]
		if t := Seconds(r.board.now().Sub(item.started)); t != "" {
			c.status += " " + t
		}
		c.note = firstLine(printable.Text(r.mask.Hide(item.note)))
	case outcome == Interrupted:
		c.color, c.short, c.sign = red, "stopped", failedSign
	case item.broken():
		c.color = red
	case outcome == Done && item.op != engine.OpSame:
		if t := Seconds(item.took); t != "" {
			c.status += " in " + t
		}
	}
	if item.gone && item.op != opGone {
		c.status += ", as it was gone"
	}
	if c.name == item.label { // without escaped characters
		c.from, c.to = item.group.telling(item.label)
	}
	if was := was(item.step); was != "" {
		c.name += " (was " + printable.Text(was) + ")"
	}
	return c
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// tree arranges rows as the program does: children below their parent, siblings in the order of the program's text. A
// row keeps its position from the preview to the end, whatever the engine's order is.
type tree struct {
	top     []*row             // those without a parent in this operation
	waiting map[urn.URN][]*row // children that arrived before their parent
	names   siblings           // of those at the top
	count   int                // of rows
}

// siblings holds the common parts of the names of rows with one parent, so that a shortened name keeps the part that
// distinguishes it.
type siblings struct {
	some           bool
	prefix, suffix string
}

// add adds a name.
func (s *siblings) add(name string) {
	if !s.some {
		s.some, s.prefix, s.suffix = true, name, name
		return
	}
	s.prefix = commonPrefix(s.prefix, name)
	for !strings.HasSuffix(name, s.suffix) {
		_, size := utf8.DecodeRuneInString(s.suffix)
		s.suffix = s.suffix[size:]
	}
}

func commonPrefix(a, b string) string {
	for i, r := range a {
		if other, _ := utf8.DecodeRuneInString(b[min(i, len(b)):]); other != r || i >= len(b) {
			return a[:i]
		}
	}
	return a
}

// telling returns the part of a name that distinguishes it from its siblings, as byte offsets; from is not below to if
// there is none.
func (s *siblings) telling(name string) (from, to int) {
	return len(s.prefix), len(name) - len(s.suffix)
}

// Position is a place in the program's text. Rows without one follow those with one.
type Position struct {
	File         string
	Line, Column int
}

// add inserts a row. parent is nil if the row has none, or if its parent has not arrived yet.
func (t *tree) add(r, parent *row, parentURN urn.URN) {
	r.seq = t.count
	t.count++
	switch {
	case parent != nil:
		parent.adopt(r)
	case parentURN != "":
		if t.waiting == nil {
			t.waiting = map[urn.URN][]*row{}
		}
		t.waiting[parentURN] = append(t.waiting[parentURN], r)
		t.putOnTop(r)
	default:
		t.putOnTop(r)
	}
	if early := t.waiting[r.urn]; early != nil {
		delete(t.waiting, r.urn)
		found := make(map[*row]bool, len(early)) // in one pass, since a destruction reaches the common parent last
		for _, child := range early {
			found[child] = true
			r.adopt(child)
		}
		t.top = slices.DeleteFunc(t.top, func(other *row) bool { return found[other] })
	}
}

// adopt makes child a child of r. A name that begins with its parent's is shown without that prefix.
func (r *row) adopt(child *row) {
	child.label = child.urn.Name()
	if rest, found := strings.CutPrefix(child.label, r.urn.Name()+"-"); found && rest != "" && !r.isStack() {
		child.label = "…-" + rest
	}
	r.names.add(child.label)
	child.group = &r.names
	r.children = insert(r.children, child)
}

// putOnTop inserts a row at the top level of the tree.
func (t *tree) putOnTop(r *row) {
	r.label, r.group = r.urn.Name(), &t.names
	t.names.add(r.label)
	t.top = insert(t.top, r)
}

func insert(siblings []*row, r *row) []*row {
	i, _ := slices.BinarySearchFunc(siblings, r, compareRows)
	return slices.Insert(siblings, i, r)
}

// compareRows orders rows by their places in the program, and the instances of one forEach by their keys: they come in
// another order each time.
func compareRows(a, b *row) int {
	if placed := b.at.Line > 0; placed != (a.at.Line > 0) {
		if placed {
			return 1
		}
		return -1
	}
	place := cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Column, b.at.Column))
	if a.at.File != b.at.File {
		place = cmp.Compare(a.at.File, b.at.File)
	}
	if place == 0 && a.at.Line > 0 { // names are compared only here: nearly all rows have places of their own
		place = compareKeys(a.urn.Name(), b.urn.Name())
	}
	return cmp.Or(place, cmp.Compare(a.seq, b.seq))
}

// compareKeys compares names whose numbers count as numbers: job-9 comes before job-10.
func compareKeys(a, b string) int {
	for a != "" && b != "" {
		x, y := leadingDigits(a), leadingDigits(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				break
			}
			a, b = a[1:], b[1:]
			continue
		}
		p, q := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if order := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q), cmp.Compare(len(x), len(y))); order != 0 {
			return order
		}
		a, b = a[len(x):], b[len(y):]
	}
	return cmp.Compare(a, b)
}

func leadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

// walk calls fn for every row, parents first.
func (t *tree) walk(fn func(r *row, depth int)) {
	var visit func(rows []*row, depth int)
	visit = func(rows []*row, depth int) {
		for _, r := range rows {
			fn(r, depth)
			visit(r.children, depth+1)
		}
	}
	visit(t.top, 0)
}

// positionOf returns the place of a step's resource in the program.
func positionOf(s *engine.Step) Position {
	switch {
	case s.New != nil && s.New.SourcePosition != "":
		return PositionIn(s.New.SourcePosition)
	case s.Old != nil:
		return PositionIn(s.Old.SourcePosition)
	}
	return Position{}
}

// PositionIn reads a source position, project:///<path>#<line>,<column> (E1.45). Line is 0 for any other text.
func PositionIn(text string) (p Position) {
	text, _ = strings.CutPrefix(text, "project:///")
	file, place, found := strings.Cut(text, "#")
	if !found {
		return Position{}
	}
	line, column, _ := strings.Cut(place, ",")
	p.File = file
	p.Line, _ = strconv.Atoi(line)
	p.Column, _ = strconv.Atoi(column)
	return p
}
