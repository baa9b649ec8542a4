package drawing

import (
	"cmp"
	"math"
	"slices"
)

// vertex is a box in a column, or the point at which a line passes through it.
type vertex struct {
	item  *item // nil for a line
	h     float64
	y     float64 // of its middle
	rank  int     // in its column
	prev  []*vertex
	next  []*vertex
	order float64 // for sorting
}

// openCycles reverses the links that close cycles, found by one walk in the order of items.
func (lv *level) openCycles() {
	out := make(map[*item][]*link, len(lv.items))
	for _, l := range lv.links {
		if l.from != l.to {
			out[l.from] = append(out[l.from], l)
		}
	}
	const entered, left = 1, 2
	state := make(map[*item]int, len(lv.items))
	var visit func(it *item)
	visit = func(it *item) {
		state[it] = entered
		for _, l := range out[it] {
			switch state[l.to] {
			case 0:
				visit(l.to)
			case entered:
				l.reversed, l.left, l.right = true, l.to, l.from
			}
		}
		state[it] = left
	}
	for _, it := range lv.items {
		if state[it] == 0 {
			visit(it)
		}
	}
	for _, l := range lv.links {
		if l.from != l.to {
			l.left.next = append(l.left.next, l)
			l.right.prev = append(l.right.prev, l)
		}
	}
}

// layered lays a block out in columns. links is the number of links in the whole level.
func (b *block) layered(links int) {
	columns := b.assign()
	b.lines = make([][]*vertex, columns)
	b.chains()
	b.untangle()
	b.align()
	b.route(links)
}

// assign gives every item its column: after all items that point to it, in a column with room; and then, if more arrows
// leave it than reach it, as close as possible before the items to which it points. It returns the number of columns.
func (b *block) assign() int {
	area, tallest := 0.0, 0.0
	for _, it := range b.items {
		area += (it.w + 2*columnGap) * (it.h + boxGap + lineGap)
		tallest = max(tallest, it.h)
	}
	limit := max(math.Sqrt(area)*0.75, tallest+boxGap, 460)

	waiting := make(map[*item]int, len(b.items))
	var order []*item
	for _, it := range b.items {
		if waiting[it] = len(it.prev); waiting[it] == 0 {
			order = append(order, it)
		}
	}
	var fill []float64
	for i := 0; i < len(order); i++ {
		it := order[i]
		for _, l := range it.prev {
			it.layer = max(it.layer, l.left.layer+1)
		}
		need := it.h + boxGap
		for it.layer < len(fill) && fill[it.layer] > 0 && fill[it.layer]+need > limit {
			it.layer++
		}
		for it.layer >= len(fill) {
			fill = append(fill, 0)
		}
		fill[it.layer] += need
		for _, l := range it.next {
			if waiting[l.right]--; waiting[l.right] == 0 {
				order = append(order, l.right)
			}
		}
	}
	for _, it := range slices.Backward(order) {
		if len(it.next) <= len(it.prev) {
			continue
		}
		last := math.MaxInt
		for _, l := range it.next {
			last = min(last, l.right.layer-1)
		}
		need := it.h + boxGap
		for last > it.layer && fill[last]+need > limit {
			last--
		}
		if last > it.layer {
			fill[it.layer] -= need
			fill[last] += need
			it.layer = last
		}
	}
	// Remove empty columns.
	used := make([]int, len(fill))
	for _, it := range b.items {
		used[it.layer] = 1
	}
	count := 0
	for i, u := range used {
		used[i] = count
		count += u
	}
	for _, it := range b.items {
		it.layer = used[it.layer]
	}
	return count
}

// maxPassing bounds the vertices of lines in a block, and maxLength the columns that its links pass in total. Links
// beyond are drawn straight, behind the boxes.
func (b *block) maxPassing() int { return max(20_000, 4*(len(b.items)+len(b.links))) }

func (b *block) maxLength() int { return max(50_000, 30*len(b.links)) }

// chains fills the columns with the items and with the vertices of lines, which the arrows of one item share.
func (b *block) chains() {
	vertices := make(map[*item]*vertex, len(b.items))
	for _, it := range b.items {
		v := &vertex{item: it, h: it.h}
		vertices[it] = v
		b.lines[it.layer] = append(b.lines[it.layer], v)
	}
	join := func(a, c *vertex) {
		a.next = append(a.next, c)
		c.prev = append(c.prev, a)
	}
	left, length := b.maxPassing(), b.maxLength()
	for _, it := range b.items {
		chain := []*vertex{vertices[it]}
		for _, l := range it.next {
			columns := l.right.layer - it.layer // up to the box on the right
			if columns > len(chain)+left || columns-1 > length {
				continue
			}
			length -= columns - 1
			for len(chain) < columns {
				v := &vertex{}
				column := it.layer + len(chain)
				b.lines[column] = append(b.lines[column], v)
				join(chain[len(chain)-1], v)
				chain = append(chain, v)
				left--
			}
			join(chain[columns-1], vertices[l.right])
			l.chain = append(slices.Clone(chain[:columns]), vertices[l.right])
		}
	}
}

// sweeps returns the number of passes over the columns: fewer in big blocks.
func (b *block) sweeps() int {
	size := 0
	for _, line := range b.lines {
		for _, v := range line {
			size += 1 + len(v.next)
		}
	}
	return min(24, max(2, 200_000/max(size, 1)))
}

// untangle orders each column by the barycentres of neighbours, forth and back, and keeps the order with the fewest
// crossings.
func (b *block) untangle() {
	for _, line := range b.lines {
		number(line)
	}
	best, fewest := b.ranks(), b.crossings()
	for sweep := range b.sweeps() {
		if fewest == 0 {
			break
		}
		for i := range b.lines {
			line, near := b.lines[i], func(v *vertex) []*vertex { return v.prev }
			if sweep%2 == 1 {
				line, near = b.lines[len(b.lines)-1-i], func(v *vertex) []*vertex { return v.next }
			}
			for _, v := range line {
				v.order = float64(v.rank)
				if list := near(v); len(list) > 0 {
					sum := 0.0
					for _, n := range list {
						sum += float64(n.rank)
					}
					v.order = sum / float64(len(list))
				}
			}
			slices.SortStableFunc(line, func(a, c *vertex) int { return cmp.Compare(a.order, c.order) })
			number(line)
		}
		if n := b.crossings(); n < fewest {
			best, fewest = b.ranks(), n
		}
	}
	for i, line := range b.lines {
		copy(line, best[i])
		number(line)
	}
}

// number records the positions of vertices in their column.
func number(line []*vertex) {
	for i, v := range line {
		v.rank = i
	}
}

func (b *block) ranks() [][]*vertex {
	list := make([][]*vertex, len(b.lines))
	for i, line := range b.lines {
		list[i] = slices.Clone(line)
	}
	return list
}

// crossings returns the number of pairs of lines that cross between columns.
func (b *block) crossings() int {
	total := 0
	for i := 0; i+1 < len(b.lines); i++ {
		tree := make([]int, len(b.lines[i+1])+1) // a Fenwick tree of the ends of lines
		drawn := 0
		for _, v := range b.lines[i] {
			for _, n := range v.next {
				above := 0
				for k := n.rank + 1; k > 0; k -= k & -k {
					above += tree[k]
				}
				total += drawn - above
			}
			for _, n := range v.next {
				for k := n.rank + 1; k < len(tree); k += k & -k {
					tree[k]++
				}
			}
			drawn += len(v.next)
		}
	}
	return total
}

// align moves the vertices of each column towards their neighbours, without changing the order or coming too close.
func (b *block) align() {
	for _, line := range b.lines {
		y := 0.0
		for i, v := range line {
			if i > 0 {
				y += distance(line[i-1], v)
			}
			v.y = y
		}
		for _, v := range line {
			v.y -= y / 2
		}
	}
	want, weight := []float64{}, []float64{}
	rounds := min(b.sweeps(), 16)
	for round := range rounds {
		for i := range b.lines {
			line := b.lines[i]
			if round%2 == 1 {
				line = b.lines[len(b.lines)-1-i]
			}
			want, weight = want[:0], weight[:0]
			for _, v := range line {
				sum, n, heavy := 0.0, 0.0, 1.0
				add := func(list []*vertex) {
					for _, u := range list {
						w := 1.0
						if u.item == nil && v.item == nil { // keep long lines straight
							w, heavy = 4, 4
						}
						sum += w * u.y
						n += w
					}
				}
				last := round >= rounds-2
				if last || round%2 == 0 || len(v.next) == 0 {
					add(v.prev)
				}
				if last || round%2 == 1 || len(v.prev) == 0 {
					add(v.next)
				}
				if n == 0 {
					sum, n = v.y, 1
				}
				want, weight = append(want, sum/n), append(weight, heavy)
			}
			spread(line, want, weight)
		}
	}
}

// distance returns the minimum distance between the centres of two vertices, a above c.
func distance(a, c *vertex) float64 {
	gap := lineGap
	if a.item != nil && c.item != nil {
		gap = boxGap
	}
	return a.h/2 + gap + c.h/2
}

// spread places vertices as close as possible to their wanted positions, with their order and distances kept: it
// minimizes the sum of squares by joining neighbours that push each other.
func spread(line []*vertex, want, weight []float64) {
	type heap struct {
		sum, weight float64
		count       int
	}
	var heaps []heap
	offset := make([]float64, len(line))
	for i := range line {
		if i > 0 {
			offset[i] = offset[i-1] + distance(line[i-1], line[i])
		}
		h := heap{sum: (want[i] - offset[i]) * weight[i], weight: weight[i], count: 1}
		for len(heaps) > 0 {
			last := heaps[len(heaps)-1]
			if last.sum/last.weight <= h.sum/h.weight {
				break
			}
			h = heap{sum: h.sum + last.sum, weight: h.weight + last.weight, count: h.count + last.count}
			heaps = heaps[:len(heaps)-1]
		}
		heaps = append(heaps, h)
	}
	i := 0
	for _, h := range heaps {
		for range h.count {
			line[i].y = h.sum/h.weight + offset[i]
			i++
		}
	}
}
