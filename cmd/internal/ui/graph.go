package ui

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/yamlhost/yamlhost/cmd/internal/output/drawing"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// graphRequest selects the resources to draw.
type graphRequest struct {
	Stack      string   `json:"stack"`
	Components bool     `json:"components"` // draw the content of a component as one box
	Types      bool     `json:"types"`      // draw many resources of one type and parent as one box
	Open       []string `json:"open"`       // boxes that are drawn open nevertheless
}

// graphBox is a box or a frame with its position.
type graphBox struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Detail string  `json:"detail,omitempty"`
	Kind   string  `json:"kind"`           // resource, component, folded or frame
	Rows   []int   `json:"rows,omitempty"` // the rows that it represents, if not the row of its name
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	W      float64 `json:"w"`
	H      float64 `json:"h"`

	frame string // ID of the frame that it is in; empty for none
}

type graphAnswer struct {
	Revision string         `json:"revision"`
	Boxes    []graphBox     `json:"boxes"`
	Lines    []drawing.Line `json:"lines"`
	W        float64        `json:"w"`
	H        float64        `json:"h"`
}

// fewest is the number of resources of a type from which on they become one box.
const fewest = 4

func (s *Server) graph(ctx context.Context, req graphRequest) (any, error) {
	k, err := s.kept(ctx, req.Stack)
	if err != nil {
		return nil, err
	}
	return draw(k, req), ctx.Err()
}

// folding chooses the box for each resource.
type folding struct {
	k     *kept
	in    graphRequest
	open  map[string]bool
	boxes map[string]*graphBox
	order []string
	of    []string // by row; empty if not drawn
}

// draw lays out the graph of a state with package drawing.
func draw(k *kept, req graphRequest) *graphAnswer {
	f := &folding{k: k, in: req, open: map[string]bool{}, boxes: map[string]*graphBox{},
		of: make([]string, len(k.snapshot.Resources))}
	for _, id := range req.Open {
		f.open[id] = true
	}
	f.fold()
	p := f.picture()
	boxes, lines, w, h := drawing.Arrange(p)
	slices.SortStableFunc(boxes, func(a, b drawing.Box) int {
		if a.Group != b.Group {
			return 0
		}
		return cmp.Compare(a.Depth, b.Depth)
	})
	out := &graphAnswer{Revision: k.revision, W: w, H: h, Boxes: []graphBox{},
		Lines: append([]drawing.Line{}, lines...)}
	for _, b := range boxes {
		box := *f.boxes[b.ID]
		box.X, box.Y, box.W, box.H = b.X, b.Y, b.W, b.H
		out.Boxes = append(out.Boxes, box)
	}
	return out
}

func (f *folding) fold() {
	rows := f.k.snapshot.Resources
	inside := make([]bool, len(rows)) // has children, and is not the stack
	for _, r := range rows {
		if pos, found := f.k.index[r.Parent]; found && f.drawn(rows[pos]) {
			inside[pos] = true
		}
	}
	type sort struct{ parent, kind string }
	counts := map[sort]int{}
	folded := make([]int, len(rows)) // the row of the box in which a row is drawn; the row itself for most
	frames := make([]string, len(rows))
	for i, r := range rows {
		folded[i] = -1
		if !f.drawn(r) {
			continue
		}
		folded[i] = i
		if pos, found := f.k.index[r.Parent]; found && f.drawn(rows[pos]) && pos != i && folded[pos] >= 0 {
			if at2 := folded[pos]; at2 != pos || f.in.Components && !f.open[rowID(pos)] {
				folded[i] = at2
				continue
			}
			frames[i] = rowID(pos)
		}
		if !inside[i] {
			counts[sort{frames[i], r.Type}]++
		}
	}
	for i, r := range rows {
		pos := folded[i]
		if pos < 0 {
			continue
		}
		if pos != i {
			f.of[i] = f.of[pos]
			box := f.boxes[f.of[i]]
			box.Kind, box.Rows = "folded", append(box.Rows, i)
			continue
		}
		group := sort{frames[i], r.Type}
		if f.in.Types && !inside[i] && counts[group] >= fewest {
			if id := "t" + frames[i] + "|" + r.Type; !f.open[id] {
				f.of[i] = id
				box := f.box(id, graphBox{Name: schema.CollapseToken(r.Type), Kind: "folded", frame: frames[i]})
				box.Rows = append(box.Rows, i)
				box.Detail = strconv.Itoa(len(box.Rows)) + " resources"
				continue
			}
		}
		kind := "resource"
		switch {
		case inside[i] && !(f.in.Components && !f.open[rowID(i)]):
			kind = "frame"
		case inside[i]:
			kind = "folded"
		case !r.Custom:
			kind = "component"
		}
		f.of[i] = rowID(i)
		f.box(rowID(i), graphBox{Name: r.URN.Name(), Detail: schema.CollapseToken(r.Type), Kind: kind, Rows: []int{i},
			frame: frames[i]})
	}
}

func (f *folding) box(id string, b graphBox) *graphBox {
	if known := f.boxes[id]; known != nil {
		return known
	}
	b.ID = id
	f.boxes[id] = &b
	f.order = append(f.order, id)
	return &b
}

// drawn reports whether the picture includes a resource: all except the stack and default providers.
func (f *folding) drawn(r *state.Resource) bool {
	return r.URN.Type() != urn.RootStackType && !r.URN.IsDefaultProvider() && !r.Delete
}

func (f *folding) picture() *drawing.Picture {
	p := &drawing.Picture{}
	for _, id := range f.order {
		b := f.boxes[id]
		if b.Kind == "frame" {
			p.Groups = append(p.Groups, drawing.Group{ID: id, Label: b.Name + " " + b.Detail, Parent: b.frame})
			continue
		}
		p.Nodes = append(p.Nodes,
			drawing.Node{ID: id, Kind: drawing.Resource, Name: b.Name, Detail: b.Detail, Group: b.frame})
	}
	type ends struct{ from, to string }
	seen := map[ends]bool{}
	for i, r := range f.k.snapshot.Resources {
		if f.of[i] == "" {
			continue
		}
		list := needs(r)
		if provider, err := urn.ParseReference(r.Provider); err == nil {
			list = append(list, provider.URN)
		}
		for _, u := range list {
			pos, found := f.k.index[u]
			if !found || f.of[pos] == "" || f.of[pos] == f.of[i] || seen[ends{f.of[pos], f.of[i]}] {
				continue
			}
			seen[ends{f.of[pos], f.of[i]}] = true
			p.Edges = append(p.Edges, drawing.Edge{From: f.of[pos], To: f.of[i]})
		}
	}
	return p
}

func rowID(i int) string { return "r" + strconv.Itoa(i) }
