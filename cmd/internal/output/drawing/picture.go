package drawing

// Kind is the kind of thing that a box stands for. It decides shape and colour.
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

// Edge is an arrow between two nodes or groups. Arrows between the same boxes are drawn once, with all their labels.
// An arrow to or from a group ends at its frame. An arrow between a group and its own inside is left out, as is one
// with an end outside of the picture.
type Edge struct {
	From, To string
	Label    string // short; drawn where there is room, and always part of the tip
	Tip      string // the label, when empty
}
