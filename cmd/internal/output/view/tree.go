package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// tree arranges rows as the program does: children below their parent, siblings in the order of the program's text. A
// row keeps its place from the preview to the end, in whatever order the engine gets to it.
type tree struct {
	top     []*row             // those without a parent in this operation
	waiting map[urn.URN][]*row // children that came before their parent
	names   siblings           // of those at the top
	count   int                // of rows
}

// siblings holds the common parts of the names of rows with one parent, so that a shortened name keeps the part that
// distinguishes it.
type siblings struct {
	some           bool
	prefix, suffix string
}

// add takes one more name in.
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

// telling is the part of a name that none of its siblings shares, as offsets of bytes; ok is false where there is none.
func (s *siblings) telling(name string) (from, to int, ok bool) {
	if s == nil || !s.some {
		return 0, 0, false
	}
	from, to = len(s.prefix), len(name)-len(s.suffix)
	return from, to, from < to && strings.HasPrefix(name, s.prefix)
}

// position is a place in the program's text. Rows without one come behind those that have one.
type position struct {
	file         string
	line, column int
}

// add puts a row in its place. parent is nil when the row has none, or when its parent has not come yet.
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
		found := make(map[*row]bool, len(early)) // in one pass: a destruction comes to the parent of all last
		for _, child := range early {
			found[child] = true
			r.adopt(child)
		}
		t.top = slices.DeleteFunc(t.top, func(other *row) bool { return found[other] })
	}
}

// adopt puts a row below another one. A name that begins with its parent's is shown without it.
func (r *row) adopt(child *row) {
	child.label = child.urn.Name()
	if rest, found := strings.CutPrefix(child.label, r.urn.Name()+"-"); found && rest != "" && !r.isStack() {
		child.label = "…-" + rest
	}
	r.names.add(child.label)
	child.group = &r.names
	r.children = insert(r.children, child)
}

// putOnTop puts a row at the top of the tree.
func (t *tree) putOnTop(r *row) {
	r.label, r.group = r.urn.Name(), &t.names
	t.names.add(r.label)
	t.top = insert(t.top, r)
}

func insert(siblings []*row, r *row) []*row {
	i, _ := slices.BinarySearchFunc(siblings, r, compareRows)
	return slices.Insert(siblings, i, r)
}

func compareRows(a, b *row) int {
	if placed := b.at.line > 0; placed != (a.at.line > 0) {
		if placed {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.at.file, b.at.file), cmp.Compare(a.at.line, b.at.line),
		cmp.Compare(a.at.column, b.at.column), cmp.Compare(a.seq, b.seq))
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

// positionOf reads the source position of a step's resource, project:///<path>#<line>,<column> (E1.45).
func positionOf(s *engine.Step) position {
	text := ""
	switch {
	case s.New != nil && s.New.SourcePosition != "":
		text = s.New.SourcePosition
	case s.Old != nil:
		text = s.Old.SourcePosition
	}
	path, place, found := strings.Cut(strings.TrimPrefix(text, "project:///"), "#")
	if !found {
		return position{}
	}
	line, column, _ := strings.Cut(place, ",")
	p := position{file: path}
	p.line, _ = strconv.Atoi(line)
	p.column, _ = strconv.Atoi(column)
	return p
}
