package program

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Vertex is a configuration value, a variable, a resource or an output in the dependency graph. Its JSON form is a
// contract: `yamlhost graph --format json` prints it.
type Vertex struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`           // config, variable, resource or output
	Type  string   `json:"type,omitempty"` // a resource's token
	File  string   `json:"file,omitempty"`
	Line  int      `json:"line,omitempty"` // 1-based
	Needs []string `json:"needs"`          // IDs in source order, each once; never nil
	ID    string   `json:"id"`             // unique: the kind and the name
	// Transforms are the transforms of the stack that can change the resource or its children.
	Transforms []TransformPlace `json:"transforms,omitempty"`
}

// TransformPlace is the position of a transform, with the properties that it sets by literal keys.
type TransformPlace struct {
	File       string   `json:"file,omitempty"`
	Line       int      `json:"line,omitempty"` // 1-based
	Properties []string `json:"properties,omitempty"`
}

// positionOf returns the position of a transform.
func (p *Program) positionOf(t *ast.Transform) TransformPlace {
	rng := p.File.Origins.Place(t.Key)
	found := TransformPlace{File: rng.Source.Name(), Line: rng.StartPosition().Line}
	if m, ok := t.Merge.(*ast.Map); ok {
		for _, entry := range m.Entries {
			if key, isText := entry.Key.(*ast.String); isText {
				found.Properties = append(found.Properties, key.Value)
			}
		}
	}
	return found
}

var vertexKinds = [...]string{ConfigNode: "config", VariableNode: "variable", ResourceNode: "resource"}

func (n *Node) vertexID() string { return vertexKinds[n.Kind] + ":" + n.Name }

// Graph lists the program's nodes in the order of evaluation, then its outputs. IDs have the kind in them because an
// output may have the name of a node.
func (p *Program) Graph() []Vertex {
	list := make([]Vertex, 0, len(p.Nodes)+len(p.Outputs))
	add := func(v Vertex, rng diag.Range, needs []Edge) {
		if !rng.IsZero() {
			rng = p.File.Origins.Place(rng)
			v.File, v.Line = rng.Source.Name(), rng.StartPosition().Line
		}
		v.Needs = make([]string, 0, len(needs))
		seen := make(map[*Node]bool, len(needs))
		for _, edge := range needs {
			if !seen[edge.To] {
				seen[edge.To] = true
				v.Needs = append(v.Needs, edge.To.vertexID())
			}
		}
		list = append(list, v)
	}
	for _, n := range p.Nodes {
		v := Vertex{Name: n.Name, Kind: vertexKinds[n.Kind], ID: n.vertexID()}
		if n.Resource != nil {
			v.Type = n.Resource.Token
		}
		for _, t := range n.Transforms {
			v.Transforms = append(v.Transforms, p.positionOf(t))
		}
		add(v, n.Range, n.Needs)
	}
	for _, o := range p.Outputs {
		name := o.Decl.Name
		add(Vertex{Name: name.Value, Kind: "output", ID: "output:" + name.Value}, name.Range, o.Needs)
	}
	return list
}

// Reach adds a node and its transitive dependencies; with byText, only dependencies by names in the text. It keeps a
// stack of its own, as a chain may be as long as the program. seen may hold nodes of earlier calls, which are not
// visited again.
func Reach(from *Node, seen map[*Node]bool, byText bool) {
	work := []*Node{from}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, edge := range n.Needs {
			if !byText || edge.DefaultFor == nil {
				work = append(work, edge.To)
			}
		}
	}
}
