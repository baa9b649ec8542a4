package drawing

import (
	"cmp"
	"math"
	"slices"
)

const (
	// manyLinks is the largest number of arrows on a level with labels.
	manyLinks = 1500
	// huge is the number of arrows from which on a level's arrows are coarse: they consist of straight lines, and
	// shared stretches are drawn once.
	huge = 3000
)

// route positions everything in a layered block, and gives every link its curve, which bends in the gaps between
// columns and is straight in a column.
func (b *block) route(linksOfLevel int) {
	top := math.Inf(1)
	for _, line := range b.lines {
		for _, v := range line {
			top = min(top, v.y-v.h/2)
		}
	}
	for _, line := range b.lines {
		for _, v := range line {
			v.y -= top
			b.h = max(b.h, v.y+v.h/2)
		}
	}
	wantLabels, coarse := linksOfLevel <= manyLinks, linksOfLevel >= huge
	// Links bend in the gap before a column, then run straight, for their labels.
	wide, gap, run := make([]float64, len(b.lines)), make([]float64, len(b.lines)), make([]float64, len(b.lines))
	for i, line := range b.lines {
		crossing := 0
		for _, v := range line {
			crossing += len(v.prev)
			if v.item == nil {
				continue
			}
			wide[i] = max(wide[i], v.item.w)
			for _, l := range v.item.prev {
				l.label = labelOf(l)
				if wantLabels && l.label != "" {
					run[i] = max(run[i], textWidth(l.label, labelSize)+18)
				}
			}
		}
		gap[i] = columnGap + min(float64(crossing), 80) + run[i]
	}
	start := make([]float64, len(b.lines))
	x := 0.0
	for i, line := range b.lines {
		if i > 0 {
			x += gap[i]
		}
		start[i] = x
		x += wide[i]
		for _, v := range line {
			if v.item != nil {
				v.item.x = start[i] + math.Round((wide[i]-v.item.w)/2)
				v.item.y = v.y - v.h/2
				if coarse {
					v.item.y = math.Round(v.item.y)
				}
			}
		}
	}
	b.w = x
	ports := b.ports()
	drawn := map[*item]int{} // the number of drawn stops of the line that leaves an item
	var curve []point
	var stops []int // the points of the curve at which it leaves each column of the chain except the last
	for _, l := range b.links {
		if l.from == l.to {
			continue
		}
		left, right := l.left, l.right
		curve, stops = append(curve[:0], point{left.x + left.w, left.y + left.h/2}), stops[:0]
		to := func(x, y float64) {
			switch last := curve[len(curve)-1]; {
			case last.x == x && last.y == y:
			case coarse:
				curve = append(curve, point{x, y})
			default:
				half := (last.x + x) / 2
				curve = append(curve, point{half, last.y}, point{half, y}, point{x, y})
			}
		}
		edge := func(column int) float64 { return start[column] + wide[column] }
		if len(l.chain) > 0 {
			to(edge(left.layer), curve[0].y)
			stops = append(stops, len(curve)-1)
			for i, v := range l.chain[1 : len(l.chain)-1] {
				to(start[left.layer+1+i]-run[left.layer+1+i], v.y)
				to(edge(left.layer+1+i), v.y)
				stops = append(stops, len(curve)-1)
			}
			to(start[right.layer]-run[right.layer], ports[l])
		}
		to(right.x+right.inset(ports[l]), ports[l])
		from := 0
		if coarse && !l.reversed && len(stops) > 0 {
			if known := min(drawn[l.from], len(stops)-1); known > 0 {
				from = stops[known]
			}
			drawn[l.from] = max(drawn[l.from], len(stops)-1)
		}
		if l.reversed {
			slices.Reverse(curve)
		}
		l.curve, l.coarse = slices.Clone(curve[from:]), coarse
	}
	if wantLabels {
		b.labels()
	}
}

// ports returns the heights at which links reach the boxes on their right: spread over the side, in the order in which
// they come.
func (b *block) ports() map[*link]float64 {
	ports := make(map[*link]float64, len(b.links))
	before := func(l *link) float64 {
		if len(l.chain) < 2 {
			return l.left.y + l.left.h/2
		}
		return l.chain[len(l.chain)-2].y
	}
	for _, it := range b.items {
		list := slices.Clone(it.prev)
		slices.SortStableFunc(list, func(a, c *link) int { return cmp.Compare(before(a), before(c)) })
		step := 0.0
		if len(list) > 1 {
			step = min(labelSize+4.5, (it.h-12)/float64(len(list)-1))
		}
		for i, l := range list {
			ports[l] = it.y + it.h/2 + (float64(i)-float64(len(list)-1)/2)*step
		}
	}
	return ports
}

// inset returns the distance between a box's left side and its outline at a height.
func (it *item) inset(y float64) float64 {
	if it.node == nil {
		return 0
	}
	half := it.h / 2
	distance := min(math.Abs(y-it.y-half), half)
	switch it.node.Kind {
	case Variable:
		return half - math.Sqrt(half*half-distance*distance)
	case Function:
		return slant * distance / half
	}
	return 0
}

// round bends an arrow from a box to itself beside the box.
func (l *link) round() {
	if l.from != l.to {
		return
	}
	x, y := l.from.x+l.from.w, l.from.y+l.from.h/2
	l.curve = []point{{x, y - 6}, {x + 18, y - 14}, {x + 18, y + 14}, {x, y + 6}}
}

func labelOf(l *link) string {
	if len(l.labels) == 0 {
		return ""
	}
	label := shorten(l.labels[0], labelLetters)
	if len(l.labels) > 1 {
		label += " …"
	}
	return label
}

type rect struct{ x, y, w, h float64 }

func (r rect) holds(p point) bool { return p.x > r.x && p.x < r.x+r.w && p.y > r.y && p.y < r.y+r.h }

func (r rect) overlaps(o rect) bool {
	return r.x < o.x+o.w && o.x < r.x+r.w && r.y < o.y+o.h && o.y < r.y+r.h
}

// labels puts labels beside the ends of links, their starts, or along them, where there is free space.
func (b *block) labels() {
	taken, dots := make(crowd[rect]), make(crowd[point])
	for _, it := range b.items {
		r := rect{it.x, it.y, it.w, it.h}
		taken.add(r, r)
	}
	for _, l := range b.links {
		for _, p := range l.dots() {
			dots.add(rect{p.x, p.y, 0, 0}, p)
		}
	}
	for _, l := range b.links {
		if l.label == "" || len(l.curve) == 0 {
			continue
		}
		w := textWidth(l.label, labelSize)
		for _, pt := range l.labelPlaces(w) {
			r := rect{pt.x - 2, pt.y - labelSize, w + 2, labelSize + 2}
			if pt.y-labelSize < 0 || pt.y+3 > b.h || taken.any(r, r.overlaps) || dots.any(r, r.holds) {
				continue
			}
			l.labelAt, l.labelled = pt, true
			taken.add(r, r)
			break
		}
	}
}

// labelPlaces returns the possible positions of a label with a width, best first: left ends of base lines.
func (l *link) labelPlaces(w float64) []point {
	first, last := l.curve[0], l.curve[len(l.curve)-1]
	if l.reversed {
		first, last = last, first
	}
	places := []point{
		{last.x - w - 14, last.y - 4}, {last.x - w - 14, last.y + 12},
		{first.x + 6, first.y - 4}, {first.x + 6, first.y + 12},
	}
	for i := 0; i+3 < len(l.curve); i += 3 {
		p, q := l.curve[i], l.curve[i+3]
		if left, room := min(p.x, q.x), math.Abs(q.x-p.x)-w; p.y == q.y && room > 12 {
			for _, x := range []float64{left + room/2, left + room/4, left + room*3/4} {
				places = append(places, point{x, p.y - 4}, point{x, p.y + 12})
			}
		}
	}
	return places
}

// crowd finds the elements near a place.
type crowd[T any] map[[2]int][]T

const crowdCell = 64.0

// cells calls fn for each cell that a rectangle touches until it returns true, and returns that.
func (c crowd[T]) cells(r rect, fn func(cell [2]int) bool) bool {
	for x := math.Floor(r.x / crowdCell); x <= (r.x+r.w)/crowdCell; x++ {
		for y := math.Floor(r.y / crowdCell); y <= (r.y+r.h)/crowdCell; y++ {
			if fn([2]int{int(x), int(y)}) {
				return true
			}
		}
	}
	return false
}

func (c crowd[T]) add(r rect, thing T) {
	c.cells(r, func(cell [2]int) bool {
		c[cell] = append(c[cell], thing)
		return false
	})
}

// any reports whether an element near r is in the way.
func (c crowd[T]) any(r rect, inTheWay func(T) bool) bool {
	return c.cells(r, func(cell [2]int) bool { return slices.ContainsFunc(c[cell], inTheWay) })
}

// dots returns points on a link, so close together that a label cannot lie between them.
func (l *link) dots() []point {
	var list []point
	for i := 0; i+3 < len(l.curve); i += 3 {
		p, q, r, s := l.curve[i], l.curve[i+1], l.curve[i+2], l.curve[i+3]
		n := min(200, int((math.Abs(s.x-p.x)+math.Abs(s.y-p.y))/5)+2)
		for k := range n + 1 {
			t := float64(k) / float64(n)
			u := 1 - t
			list = append(list, point{
				u*u*u*p.x + 3*u*u*t*q.x + 3*u*t*t*r.x + t*t*t*s.x,
				u*u*u*p.y + 3*u*u*t*q.y + 3*u*t*t*r.y + t*t*t*s.y,
			})
		}
	}
	return list
}
