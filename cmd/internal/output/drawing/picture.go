package drawing

// Kind is the kind of element that a box represents. It determines shape and colour.
type Kind uint8

// The kinds of boxes.
const (
	Resource Kind = iota
	Component
	Variable
	Config
	Function
	Output
	kinds
)

var kindNames = [kinds]string{"resource", "component", "variable", "config", "function", "output"}

// Picture is the input of a drawing. IDs are unique over all its nodes and groups.
type Picture struct {
	Title    string
	Subtitle string
	Nodes    []Node
	Groups   []Group
	Edges    []Edge
}

// Node is a box with a name and a smaller line below it.
type Node struct {
	ID     string
	Kind   Kind
	Name   string
	Detail string // may be empty
	Tip    string // shown when a pointer rests on the box
	Group  string // ID of the group it is in; empty for none
}

// Group is a labelled frame around nodes and other groups. One without members is drawn empty.
type Group struct {
	ID     string
	Label  string
	Tip    string
	Parent string // ID of the group it is in; empty for none
}

// Edge is an arrow between two nodes or groups. Arrows between the same boxes are drawn once, with all their labels. An
// arrow to or from a group ends at its frame. Arrows between a group and its own inside, and arrows with an end outside
// of the picture, are left out.
type Edge struct {
	From, To string
	Label    string // short; drawn where there is room, and always part of the tip
	Tip      string // the label, when empty
}

// Box is a node or group of a picture with its place, in pixels from the upper left corner.
type Box struct {
	ID         string
	Group      bool
	Depth      int // the number of enclosing groups
	X, Y, W, H float64
}

// Line is an arrow with its course: x and y of the start, then three points for each cubic curve or, of a coarse line,
// one for each straight stretch.
type Line struct {
	From   string    `json:"from"`
	To     string    `json:"to"`
	Coarse bool      `json:"coarse,omitempty"`
	Points []float64 `json:"points"`
}

// Arrange returns the positions of all boxes and lines in a picture, for callers that draw it themselves, and its size.
// Groups come before their members.
func Arrange(p *Picture) (boxes []Box, lines []Line, width, height float64) {
	s := layOut(p)
	for _, groups := range []bool{true, false} {
		for _, it := range s.items {
			if (it.group != nil) == groups {
				boxes = append(boxes, Box{it.id, groups, it.depth, it.x, it.y, it.w, it.h})
			}
		}
	}
	for _, l := range s.links {
		line := Line{From: l.from.id, To: l.to.id, Coarse: l.coarse, Points: make([]float64, 0, 2*len(l.curve))}
		for _, pt := range l.curve {
			line.Points = append(line.Points, pt.x, pt.y)
		}
		lines = append(lines, line)
	}
	return boxes, lines, s.w, s.h
}
