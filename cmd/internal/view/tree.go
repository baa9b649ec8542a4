package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value/urn"
)

// tree arranges rows as the program does: children below their parent, siblings in the order of the program's text. A row
// keeps its place from the preview to the end, in whatever order the engine gets to it.
type tree struct {
	top     []*row             // those without a parent in this operation
	waiting map[urn.URN][]*row // children that came before their parent
	count   int                // of rows
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
		parent.children = insert(parent.children, r)
	case parentURN != "":
		if t.waiting == nil {
			t.waiting = map[urn.URN][]*row{}
		}
		t.waiting[parentURN] = append(t.waiting[parentURN], r)
		t.top = insert(t.top, r)
	default:
		t.top = insert(t.top, r)
	}
	if early := t.waiting[r.urn]; early != nil {
		delete(t.waiting, r.urn)
		for _, child := range early {
			t.top = slices.DeleteFunc(t.top, func(other *row) bool { return other == child })
			r.children = insert(r.children, child)
		}
	}
}

func insert(siblings []*row, r *row) []*row {
	at, _ := slices.BinarySearchFunc(siblings, r, compareRows)
	return slices.Insert(siblings, at, r)
}

func compareRows(a, b *row) int {
	if placed := b.at.line > 0; placed != (a.at.line > 0) {
		if placed {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.at.file, b.at.file), cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.column, b.at.column),
		cmp.Compare(a.seq, b.seq))
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
