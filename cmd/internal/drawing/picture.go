package drawing

// Kind is what a box stands for. It decides about shape and colour.
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

// Picture is what to draw. IDs of nodes and groups are unique in it, over both.
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

// Edge is an arrow between two nodes or groups. What crosses the frame of a group ends at the frame. Arrows between the
// same boxes are drawn once, with all their labels. An arrow between a group and its own inside has no place and is
// left out, as is one whose ends are not in the picture.
type Edge struct {
	From, To string
	Label    string // short; drawn where there is room, and always part of the tip
	Tip      string // the label, when empty
}
