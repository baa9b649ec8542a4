package drawing

// Box is a node or group of a picture with its place, in pixels from the upper left corner.
type Box struct {
	ID         string
	Group      bool
	Depth      int // how many groups it is in
	X, Y, W, H float64
}

// Line is an arrow with its course: x and y of the start, then three points for each cubic curve or, of a coarse line,
// one for each straight stretch.
type Line struct {
	From, To string
	Coarse   bool
	Points   []float64
}

// Arrange returns the places of everything in a picture, for those who draw it themselves, and its size. Groups come
// before what is in them.
func Arrange(p *Picture) (boxes []Box, lines []Line, width, height float64) {
	s := layOut(p)
	name := func(it *item) string {
		if it.node != nil {
			return it.node.ID
		}
		return it.group.ID
	}
	for _, groups := range []bool{true, false} {
		for _, it := range s.items {
			if (it.group != nil) == groups {
				boxes = append(boxes, Box{name(it), groups, it.depth, it.x, it.y, it.w, it.h})
			}
		}
	}
	for _, l := range s.links {
		line := Line{From: name(l.from), To: name(l.to), Coarse: l.coarse, Points: make([]float64, 0, 2*len(l.curve))}
		for _, pt := range l.curve {
			line.Points = append(line.Points, pt.x, pt.y)
		}
		lines = append(lines, line)
	}
	return boxes, lines, s.w, s.h
}
