package editor

import (
	"context"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// Dependency is a dependency between two declarations, seen from one of them.
type Dependency struct {
	Symbol Symbol       // the other declaration
	Uses   []diag.Range // uses in the dependent declaration, in source order
}

// Declared returns the declaration of the name at an offset, which may be a use. It returns nil if no text declares it.
func Declared(ctx context.Context, s *Snapshot, path string, offset int) (*Symbol, error) {
	p, v, err := vertexAt(ctx, s, path, offset)
	if v == nil {
		return nil, err
	}
	symbol := p.vertexSymbol(v)
	return &symbol, nil
}

// Needs returns the dependencies of the declaration at an offset, in source order.
func Needs(ctx context.Context, s *Snapshot, path string, offset int) ([]Dependency, error) {
	p, v, err := vertexAt(ctx, s, path, offset)
	if v == nil {
		return nil, err
	}
	var found []Dependency
	index := map[*check.Node]int{}
	for _, edge := range v.needs() {
		dst := edge.To
		// An editor cannot go to a value that only a stack's settings have.
		if !declared(dst) {
			continue
		}
		i, known := index[dst]
		if !known {
			i = len(found)
			index[dst] = i
			found = append(found, Dependency{Symbol: p.vertexSymbol(&vertex{node: dst})})
		}
		found[i].use(p, edge)
	}
	return found, nil
}

// NeededBy returns the dependents of the declaration at an offset: config, variables and resources in evaluation order,
// then outputs. The graph has edges in one direction only, and so all declarations are asked.
func NeededBy(ctx context.Context, s *Snapshot, path string, offset int) ([]Dependency, error) {
	p, v, err := vertexAt(ctx, s, path, offset)
	// Nothing depends on an output within the program.
	if v == nil || v.node == nil {
		return nil, err
	}
	var found []Dependency
	add := func(other vertex) {
		d := Dependency{}
		needed := false
		for _, edge := range other.needs() {
			if edge.To == v.node {
				needed = true
				d.use(p, edge)
			}
		}
		if needed {
			d.Symbol = p.vertexSymbol(&other)
			found = append(found, d)
		}
	}
	for _, body := range p.bodies() {
		for _, n := range body.Nodes {
			if declared(n) {
				add(vertex{node: n})
			}
		}
		for _, o := range body.Outputs {
			add(vertex{output: o})
		}
	}
	return found, nil
}

// use adds the range of an edge once.
func (d *Dependency) use(p *Program, edge check.Edge) {
	// An edge without a place comes from the whole resource, as that of a default provider.
	if rng := p.File.Origins.Place(edge.Range); !rng.IsZero() && !slices.Contains(d.Uses, rng) {
		d.Uses = append(d.Uses, rng)
	}
}

// vertex is a node or an output of the dependency graph.
type vertex struct {
	node   *check.Node
	output *check.Output
}

// needs returns the edges to what the declaration depends on.
func (v *vertex) needs() []check.Edge {
	if v.output != nil {
		return v.output.Needs
	}
	return v.node.Needs
}

// declared reports whether the program's text declares a node. Configuration may exist in a stack's settings only.
func declared(n *check.Node) bool { return n.Config == nil || n.Config.Decl != nil }

// vertexAt returns the vertex of the name at an offset, which may be a use. It is nil if there is none that a text
// declares.
func vertexAt(ctx context.Context, s *Snapshot, path string, offset int) (*Program, *vertex, error) {
	p, err := s.Program(ctx, path)
	if err != nil || p.Checked == nil {
		return nil, nil, err
	}
	found := p.at(path, offset)
	// Outputs are no nodes, so they are looked for by their declaration.
	if n := p.nodeOf(found); n != nil && declared(n) {
		return p, &vertex{node: n}, nil
	}
	for _, body := range p.bodies() {
		for _, o := range body.Outputs {
			if found.output != nil && o.Decl == found.output {
				return p, &vertex{output: o}, nil
			}
		}
	}
	return p, nil, nil
}

// nodeOf returns the node that a name or a step of an access at a spot refers to, or nil.
func (p *Program) nodeOf(s spot) *check.Node {
	if s.node == nil && s.access != nil {
		if ref := p.Checked.Ref(s.access); ref.Kind == check.RefNode || ref.Kind == check.RefEach {
			return ref.Node
		}
	}
	return s.node
}

// vertexSymbol describes a declaration. Configuration that no text declares is no vertex, so Decl is set.
func (p *Program) vertexSymbol(v *vertex) Symbol {
	if v.output != nil {
		return p.symbol(OutputSymbol, v.output.Decl.Name, v.output.Decl.Range, "output")
	}
	n := v.node
	switch {
	case n.Config != nil:
		return p.symbol(ConfigSymbol, n.Config.Decl.Name, n.Config.Decl.Range, "config")
	case n.Resource != nil:
		decl := n.Resource.Decl
		return p.symbol(ResourceSymbol, decl.Name, decl.Range,
			schema.CollapseToken(strings.TrimSpace(decl.Type.Text())))
	}
	return p.symbol(VariableSymbol, n.Variable.Name, n.Variable.Range, "variable")
}
