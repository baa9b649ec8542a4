package editor

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Location is a stretch of a file.
type Location struct {
	Path string     // absolute
	At   diag.Range // in the whole text
}

func (p *Program) location(r diag.Range) Location {
	whole := p.File.Origins.Place(r)
	return Location{Path: p.PathOf(whole), At: whole}
}

// name is something that a program declares, and whose name may stand in several places. One of the fields is set.
type name struct {
	node      *check.Node // a configuration value, variable or resource; an input of a component
	component *check.Component
	output    *check.Output // of the component owner
	owner     *check.Component
}

// declared reports whether a text declares the name.
func (n name) declared() bool {
	return n.node == nil || n.node.Config == nil || n.node.Config.Decl != nil
}

// at is where the name is declared.
func (n name) at() diag.Range {
	switch {
	case n.component != nil:
		return n.component.Decl.Name.Range
	case n.output != nil:
		return n.output.Decl.Name.Range
	}
	return n.node.Range
}

// named returns the program of a file and the name that stands at a place of it; nil where there is none.
func (s *Snapshot) named(ctx context.Context, path string, offset int) (*Program, *name, error) {
	p, err := s.Program(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if p.SettingsOf != "" {
		program, n, _ := s.setting(ctx, p, path, offset)
		if n == nil {
			return nil, nil, ctx.Err()
		}
		return program, &name{node: n}, nil
	}
	if p.Checked == nil {
		return nil, nil, nil
	}
	return p, p.nameOf(path, offset), nil
}

// nameOf returns the name at a place of a program.
func (p *Program) nameOf(path string, offset int) *name {
	found := p.at(path, offset)
	switch {
	case found.typed != nil && found.resource.Resource.Component != nil && !found.resource.Resource.Component.Packaged:
		return &name{component: found.resource.Resource.Component}
	case len(found.property) == 1 && found.resource.Resource.Component != nil:
		c := found.resource.Resource.Component
		for _, n := range c.Body.Nodes {
			if n.Config != nil && n.Config.Decl != nil && n.Name == found.property[0].Value {
				return &name{node: n, owner: c}
			}
		}
	case found.access != nil && found.step == 0:
		if ref := p.Checked.Ref(found.access); ref.Kind == check.RefNode && ref.Node.Resource != nil {
			if c := ref.Node.Resource.Component; c != nil {
				return outputOf(c, found.access.Steps[0].Name)
			}
		}
	case found.node != nil && (found.access == nil || found.step < 0):
		return &name{node: found.node, owner: ownerOf(p.Checked, found.node)}
	}
	src, i := p.source(path, offset)
	here := func(r diag.Range) bool { return r.Source == src && r.Contains(i) }
	for _, c := range p.Checked.Components {
		switch {
		case c.Packaged:
		case here(c.Decl.Name.Range):
			return &name{component: c}
		case found.output != nil:
			if out := outputOf(c, found.output.Name.Value); out != nil && out.output.Decl == found.output {
				return out
			}
		}
	}
	return nil
}

func outputOf(c *check.Component, called string) *name {
	for _, o := range c.Body.Outputs {
		if o.Decl.Name.Value == called {
			return &name{output: o, owner: c}
		}
	}
	return nil
}

// ownerOf returns the component that a node is an input of; nil for any other node.
func ownerOf(p *check.Program, n *check.Node) *check.Component {
	for _, c := range p.Components {
		if n.Config != nil && !c.Packaged && slices.Contains(c.Body.Nodes, n) {
			return c
		}
	}
	return nil
}

// use is a place that a name stands in.
type use struct {
	at     diag.Range // in the text that was parsed, with quotes; or else in a whole text
	access bool       // the root of an access
}

// places returns those that a name stands in, but for its declaration. settings are the files of stacks.
func (p *Program) places(n *name) (found []use) {
	instances := func(c *check.Component, fn func(*check.Node)) {
		for _, body := range p.bodies() {
			for _, other := range body.Nodes {
				if other.Resource != nil && other.Resource.Component == c {
					fn(other)
				}
			}
		}
	}
	switch {
	case n.component != nil:
		instances(n.component, func(r *check.Node) {
			if rng, ok := r.Resource.Decl.Type.Range.Word(n.component.Decl.Name.Value); ok {
				found = append(found, use{at: rng})
			} else if rng := afterColons(unquoted(r.Resource.Decl.Type.Range)); rng.Text() == n.component.Decl.Name.Value {
				found = append(found, use{at: rng})
			}
		})
	case n.output != nil:
		p.walk(func(e ast.Expr) {
			a, ok := e.(*ast.Access)
			if !ok || len(a.Steps) == 0 || a.Steps[0].Name != n.output.Decl.Name.Value {
				return
			}
			ref := p.Checked.Ref(a)
			if ref.Kind == check.RefNode && ref.Node.Resource != nil && ref.Node.Resource.Component == n.owner {
				if rng, ok := stepName(a.Steps[0]); ok {
					found = append(found, use{at: rng})
				}
			}
		})
	default:
		for _, a := range p.uses(n.node) {
			found = append(found, use{at: a.Root.Range, access: true})
		}
		if n.owner != nil && n.node.Config != nil {
			instances(n.owner, func(r *check.Node) {
				for _, property := range r.Resource.Decl.Properties {
					if property.Name.Value == n.node.Name {
						found = append(found, use{at: property.Name.Range})
					}
				}
			})
		} else if n.node.Config != nil {
			for _, rng := range p.settingsOf(n.node) {
				found = append(found, use{at: rng})
			}
		}
	}
	return found
}

// afterColons returns the part of a token behind its last colon.
func afterColons(r diag.Range) diag.Range {
	i := strings.LastIndexByte(r.Text(), ':') + 1
	return diag.NewRange(r.Source, int(r.Start)+i, int(r.End))
}

// stepName returns the place of the name of a step, without its dot, brackets or quotes.
func stepName(s ast.Step) (diag.Range, bool) {
	i := strings.Index(s.Range.Text(), s.Name)
	if s.IsIndex || i < 0 {
		return diag.Range{}, false
	}
	start := int(s.Range.Start) + i
	return diag.NewRange(s.Range.Source, start, start+len(s.Name)), true
}

// settingsOf returns the keys of a configuration value in the files of stacks, without their namespaces.
func (p *Program) settingsOf(n *check.Node) (found []diag.Range) {
	if p.Settings == nil || n.Config.Decl == nil {
		return nil
	}
	for _, document := range p.Settings() {
		for _, section := range document.Spans() {
			if section.Name != "config" {
				continue
			}
			for _, entry := range section.Children {
				if rng := afterColons(unquoted(entry.Key)); entry.Name == n.Config.Key {
					found = append(found, rng)
				}
			}
		}
	}
	return found
}

// Definition is where the name at a place is declared; for a step into a resource, where its property is given. Nothing
// is found for what no text declares.
func Definition(ctx context.Context, s *Snapshot, path string, offset int) ([]Location, error) {
	p, n, err := s.named(ctx, path, offset)
	if err != nil || p == nil {
		return nil, err
	}
	if n == nil {
		return p.given(path, offset), nil
	}
	if !n.declared() {
		return nil, nil
	}
	return []Location{p.location(n.at())}, nil
}

// given is where the property that a step into a resource leads to is given.
func (p *Program) given(path string, offset int) []Location {
	found := p.at(path, offset)
	if found.access == nil || found.step != 0 {
		return nil
	}
	ref := p.Checked.Ref(found.access)
	if ref.Kind != check.RefNode || ref.Node.Resource == nil || ref.Node.Resource.Decl == nil {
		return nil
	}
	for _, property := range ref.Node.Resource.Decl.Properties {
		if property.Name.Value == found.access.Steps[0].Name {
			return []Location{p.location(property.Name.Range)}
		}
	}
	return nil
}

// References returns the places at which the name at a place is used, in the order of the text.
func References(ctx context.Context, s *Snapshot, path string, offset int, declaration bool) ([]Location, error) {
	p, n, err := s.named(ctx, path, offset)
	if err != nil || n == nil {
		return nil, err
	}
	var found []Location
	if declaration && n.declared() {
		found = append(found, p.location(n.at()))
	}
	for _, use := range p.places(n) {
		found = append(found, p.location(use.at))
	}
	slices.SortStableFunc(found, func(a, b Location) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), int(a.At.Start-b.At.Start))
	})
	return found, nil
}

// uses returns the accesses that begin with a name.
func (p *Program) uses(n *check.Node) []*ast.Access {
	var uses []*ast.Access
	p.walk(func(e ast.Expr) {
		if a, ok := e.(*ast.Access); ok {
			if ref := p.Checked.Ref(a); ref.Kind == check.RefNode && ref.Node == n {
				uses = append(uses, a)
			}
		}
	})
	return uses
}

// TypeDefinition returns the declaration of the type of the name at a position: the component, or the dynamic type, of
// a resource or of a type's name. Types of packages are declared by no text.
func TypeDefinition(ctx context.Context, s *Snapshot, path string, offset int) ([]Location, error) {
	p, err := s.Program(ctx, path)
	if err != nil || p.Checked == nil {
		return nil, err
	}
	found := p.at(path, offset)
	n := p.nodeOf(found)
	if found.typed != nil {
		n = found.resource
	}
	switch {
	case n == nil || n.Resource == nil:
		return nil, nil
	case n.Resource.Component != nil:
		return []Location{p.location(n.Resource.Component.Decl.Name.Range)}, nil
	case n.Resource.Dynamic != nil:
		return []Location{p.location(n.Resource.Dynamic.Decl.Name.Range)}, nil
	}
	return nil, nil
}

// NamePattern is the regular expression of names that can be declared.
const NamePattern = `[A-Za-z_][A-Za-z0-9_-]*`

// Linked returns the places in the whole text that hold the name at an offset and can be edited together: its
// declaration and all uses. There are none where another file uses the name too, for a name that Rename does not
// change, and for one that is written with escapes.
func Linked(ctx context.Context, s *Snapshot, path string, offset int) ([]diag.Range, error) {
	name, _, ok := Renamable(ctx, s, path, offset)
	if !ok {
		return nil, ctx.Err()
	}
	if _, n, _ := s.named(ctx, path, offset); n.node == nil || n.node.Config != nil {
		return nil, ctx.Err() // the files of stacks, and types, hold such names in other forms
	}
	found, err := References(ctx, s, path, offset, true)
	if err != nil {
		return nil, err
	}
	var linked []diag.Range
	for _, l := range found {
		rng := unquoted(l.At)
		if l.Path != path || rng.Text() != name {
			return nil, nil
		}
		linked = append(linked, rng)
	}
	return linked, nil
}
