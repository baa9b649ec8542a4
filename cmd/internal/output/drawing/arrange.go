package drawing

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Sizes, in pixels.
const (
	nameSize, detailSize, labelSize = 13.0, 11.0, 10.5

	nameLetters, detailLetters, labelLetters = 30, 36, 30

	boxHeight, flatHeight = 42.0, 30.0 // with a second line, and without
	boxPadding            = 14.0
	boxGap                = 16.0 // between boxes of a column
	lineGap               = 9.0  // between a line and what is above or below it
	slant                 = 10.0 // width of the slanted sides of some boxes
	columnGap             = 56.0 // at least, between columns
	groupPadding          = 18.0
	groupHead             = 24.0 // height of a group's label
	legendHeight          = 44.0
	blockGap              = 34.0 // between parts that are not connected
	margin                = 28.0
)

// item is a node or a group in a picture: a rectangle. Its position is relative to the inside of its group until place
// makes it absolute.
type item struct {
	id, within string // IDs of the item and of its group; within is empty for none
	index      int    // order of the picture, nodes first
	node       *Node
	group      *Group
	inside     *level // of a group
	parent     *item
	depth      int
	x, y, w, h float64

	layer int
	next  []*link // arrows away from it, with cycles opened
	prev  []*link
}

// link is an arrow between two items of one level.
type link struct {
	from, to    *item
	left, right *item // its ends as it is laid out
	labels      []string
	tips        []string
	reversed    bool // it closes a cycle and is laid out in reverse: its left end is to

	chain []*vertex // the vertices that it passes, from left to right
	// curve is the start, then three points for each cubic curve or, of a coarse link, one for each straight stretch.
	curve    []point
	coarse   bool
	label    string
	labelAt  point // left end of its base line
	labelled bool
}

type point struct{ x, y float64 }

// level is the inside of a group, or of the whole picture.
type level struct {
	items []*item
	links []*link
	w, h  float64
}

// scene is a picture that has been laid out.
type scene struct {
	root  *level
	items []*item
	links []*link
	w, h  float64
}

// layOut lays out a picture.
func layOut(p *Picture) *scene {
	s := &scene{root: &level{}}
	byID := make(map[string]*item, len(p.Nodes)+len(p.Groups))
	add := func(it *item) {
		if _, twice := byID[it.id]; twice {
			return
		}
		it.index = len(s.items)
		byID[it.id] = it
		s.items = append(s.items, it)
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		add(&item{id: n.ID, within: n.Group, node: n})
	}
	for i := range p.Groups {
		g := &p.Groups[i]
		add(&item{id: g.ID, within: g.Parent, group: g, inside: &level{}})
	}
	s.nest(byID)
	s.connect(p.Edges, byID)
	s.root.arrange()
	head := headHeight(p)
	s.root.place(margin, margin+head)
	for _, l := range s.links {
		l.round()
	}
	s.w = max(s.root.w, textWidth(p.Title, 17)*1.05, textWidth(p.Subtitle, 12), legendWidth(p)) + 2*margin
	s.h = s.root.h + head + 2*margin
	if len(p.Nodes) > 0 {
		s.h += legendHeight
	}
	return s
}

// nest puts every item in its level. Groups that contain themselves are removed.
func (s *scene) nest(byID map[string]*item) {
	for _, it := range s.items {
		if parent := byID[it.within]; parent != nil && parent.group != nil {
			inItself := false
			for up := parent; up != nil && !inItself; up = up.parent {
				inItself = up == it
			}
			if !inItself {
				it.parent = parent
			}
		}
	}
	for _, it := range s.items {
		home := s.home(it)
		home.items = append(home.items, it)
		for up := it.parent; up != nil; up = up.parent {
			it.depth++
		}
	}
}

// home returns the level that an item is in.
func (s *scene) home(it *item) *level {
	if it.parent == nil {
		return s.root
	}
	return it.parent.inside
}

// connect makes links from edges: between the items of one level that contain their ends.
func (s *scene) connect(edges []Edge, byID map[string]*item) {
	type ends struct{ from, to *item }
	seen := make(map[ends]*link, len(edges))
	for i := range edges {
		e := &edges[i]
		from, to := byID[e.From], byID[e.To]
		if from == nil || to == nil {
			continue
		}
		itself := from == to
		for from.depth > to.depth {
			from = from.parent
		}
		for to.depth > from.depth {
			to = to.parent
		}
		if from == to && !itself {
			continue
		}
		for from.parent != to.parent {
			from, to = from.parent, to.parent
		}
		l := seen[ends{from, to}]
		if l == nil {
			l = &link{from: from, to: to, left: from, right: to}
			seen[ends{from, to}] = l
			s.links = append(s.links, l)
			home := s.home(from)
			home.links = append(home.links, l)
		}
		if e.Label != "" && !slices.Contains(l.labels, e.Label) {
			l.labels = append(l.labels, e.Label)
		}
		if tip := cmp.Or(e.Tip, e.Label); tip != "" && !slices.Contains(l.tips, tip) {
			l.tips = append(l.tips, tip)
		}
	}
}

// arrange lays out a level and everything inside its items.
func (lv *level) arrange() {
	for _, it := range lv.items {
		it.size()
	}
	lv.openCycles()
	var blocks []*block
	var alone []*item
	for _, b := range lv.parts() {
		if len(b.items) == 1 {
			alone = append(alone, b.items[0])
			continue
		}
		b.layered(len(lv.links))
		blocks = append(blocks, b)
	}
	// The biggest blocks come first; single boxes come last, in their own order.
	slices.SortStableFunc(blocks, func(a, b *block) int { return cmp.Compare(b.w*b.h, a.w*a.h) })
	if len(alone) > 0 {
		b := &block{items: alone}
		b.grid()
		blocks = append(blocks, b)
	}
	lv.pack(blocks)
}

// size sets the width and height of an item.
func (it *item) size() {
	if it.group != nil {
		it.inside.arrange()
		it.w = max(it.inside.w, textWidth(shorten(it.group.Label, nameLetters+detailLetters),
			nameSize)) + 2*groupPadding
		it.h = max(it.inside.h, 10) + groupHead + 2*groupPadding - 6
		return
	}
	it.h = flatHeight
	it.w = textWidth(shorten(it.node.Name, nameLetters), nameSize) * 1.05
	if it.node.Detail != "" {
		it.h = boxHeight
		it.w = max(it.w, textWidth(shorten(it.node.Detail, detailLetters), detailSize))
	}
	it.w = max(it.w+2*boxPadding, 64)
	if it.node.Kind == Function || it.node.Kind == Output {
		it.w += 12 // their slanted sides
	}
	it.w = math.Ceil(it.w)
}

// block is a connected part of a level.
type block struct {
	items []*item
	links []*link
	w, h  float64
	lines [][]*vertex // of a layered block: its columns
}

// parts returns the connected parts of a level, in the order of their first items.
func (lv *level) parts() []*block {
	root := make(map[*item]*item, len(lv.items))
	find := func(it *item) *item {
		top := it
		for root[top] != nil {
			top = root[top]
		}
		for it != top {
			it, root[it] = root[it], top
		}
		return top
	}
	for _, l := range lv.links {
		a, b := find(l.from), find(l.to)
		if a.index < b.index {
			root[b] = a
		} else if a != b {
			root[a] = b
		}
	}
	var list []*block
	blocks := map[*item]*block{}
	for _, it := range lv.items {
		top := find(it)
		if blocks[top] == nil {
			blocks[top] = &block{}
			list = append(list, blocks[top])
		}
		blocks[top].items = append(blocks[top].items, it)
	}
	for _, l := range lv.links {
		b := blocks[find(l.from)]
		b.links = append(b.links, l)
	}
	return list
}

// grid puts items in rows, in the cells of a table.
func (b *block) grid() {
	area := 0.0
	for _, it := range b.items {
		area += (it.w + boxGap) * (it.h + boxGap)
	}
	wide := max(math.Sqrt(area)*1.5, 300)
	x, y, row := 0.0, 0.0, 0.0
	for _, it := range b.items {
		if x > 0 && x+it.w > wide {
			x, y, row = 0, y+row+boxGap, 0
		}
		it.x, it.y = x, y
		x += it.w + boxGap
		row = max(row, it.h)
		b.w, b.h = max(b.w, it.x+it.w), y+row
	}
}

// pack puts blocks on shelves. To the right of the first block of a shelf, others are stacked as long as the stack is
// not higher.
func (lv *level) pack(blocks []*block) {
	area, widest := 0.0, 0.0
	for _, b := range blocks {
		area += (b.w + blockGap) * (b.h + blockGap)
		widest = max(widest, b.w)
	}
	wide := max(widest, math.Sqrt(area)*1.4)
	var shelf, stack rect // the stack is the last on the shelf
	for i, b := range blocks {
		switch {
		case i > 0 && stack.x > 0 && stack.y+stack.h+blockGap+b.h <= shelf.y+shelf.h && stack.x+b.w <= wide:
			stack.h += blockGap + b.h
			stack.w = max(stack.w, b.w)
		case i > 0 && stack.x+stack.w+blockGap+b.w <= wide:
			stack = rect{stack.x + stack.w + blockGap, shelf.y, b.w, b.h}
			shelf.h = max(shelf.h, b.h)
		default:
			if i > 0 {
				shelf.y += shelf.h + blockGap
			}
			shelf.h = b.h
			stack = rect{0, shelf.y, b.w, b.h}
		}
		x, y := stack.x, stack.y+stack.h-b.h
		for _, it := range b.items {
			it.x += x
			it.y += y
		}
		for _, l := range b.links {
			l.shift(x, y)
		}
		lv.w, lv.h = max(lv.w, x+b.w), max(lv.h, y+b.h)
	}
}

// place makes all positions in a level absolute.
func (lv *level) place(x, y float64) {
	for _, it := range lv.items {
		it.x += x
		it.y += y
		if it.inside != nil {
			it.inside.place(it.x+groupPadding, it.y+groupHead+groupPadding-6)
		}
	}
	for _, l := range lv.links {
		l.shift(x, y)
	}
}

func (l *link) shift(x, y float64) {
	for i := range l.curve {
		l.curve[i].x += x
		l.curve[i].y += y
	}
	l.labelAt.x += x
	l.labelAt.y += y
}

// textWidth estimates the width of a text in a sans-serif font, generously, since the font of the viewer is unknown.
func textWidth(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljtfrI.,:;|/!'()[] ", r):
			em += 0.40
		case strings.ContainsRune("mwMW@%", r):
			em += 0.98
		case r >= 'A' && r <= 'Z':
			em += 0.72
		case r < 0x1100:
			em += 0.63
		default:
			em += 1.05 // East Asian letters and pictures
		}
	}
	return em * size
}

// shorten cuts a text to a number of letters in its middle, since both ends of a name distinguish it.
func shorten(s string, letters int) string {
	runes := []rune(s)
	if len(runes) <= letters {
		return s
	}
	head := (letters - 1) * 3 / 5
	return string(runes[:head]) + "…" + string(runes[len(runes)-(letters-1-head):])
}
