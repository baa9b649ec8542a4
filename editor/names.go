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

// location returns the file and the range in its whole text of a range in a tree or a finding.
func (p *Program) location(r diag.Range) Location {
	whole := p.File.Origins.Place(r)
	return Location{Path: p.PathOf(whole), At: whole}
}

// name is a named declaration of a program. Exactly one of node, component and output is set.
type name struct {
	node      *check.Node // a configuration value, variable or resource; an input of a component
	component *check.Component
	output    *check.Output    // an output of owner
	owner     *check.Component // the component of an input or output
}

// declared reports whether the program's text declares the name. Configuration may exist in a stack's settings only.
func (n name) declared() bool {
	return n.node == nil || declared(n.node)
}

// at returns the range of the name in its declaration.
func (n name) at() diag.Range {
	switch {
	case n.component != nil:
		return n.component.Decl.Name.Range
	case n.output != nil:
		return n.output.Decl.Name.Range
	}
	return n.node.Range
}

// named returns the program of a file and the name at an offset. Both are nil if the file has no checked program. A key
// in a settings file is a name of its program.
func (s *Snapshot) named(ctx context.Context, path string, offset int) (*Program, *name, error) {
	p, err := s.Program(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	// Settings have no tree; their keys are names of the program that declares them.
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

// nameOf returns the name at an offset of a program's file, or nil. A component has three kinds of names beside its
// own: its inputs, which its users write as properties, its outputs, which they write as members, and its type.
func (p *Program) nameOf(path string, offset int) *name {
	found := p.at(path, offset)
	switch {
	case found.typed != nil && found.resource.Resource.Component != nil && !found.resource.Resource.Component.Packaged:
		return &name{component: found.resource.Resource.Component}
	// A property of an instance of a component is the name of an input.
	case len(found.property) == 1 && found.resource.Resource.Component != nil:
		c := found.resource.Resource.Component
		for _, n := range c.Body.Nodes {
			if n.Config != nil && n.Config.Decl != nil && n.Name == found.property[0].Value {
				return &name{node: n, owner: c}
			}
		}
	// The first step of an access to an instance of a component is the name of an output.
	case found.access != nil && found.step == 0:
		if ref := p.Checked.Ref(found.access); ref.Kind == check.RefNode && ref.Node.Resource != nil {
			if c := ref.Node.Resource.Component; c != nil {
				return outputOf(c, found.access.Steps[0].Name)
			}
		}
	case found.node != nil && (found.access == nil || found.step < 0):
		return &name{node: found.node, owner: ownerOf(p.Checked, found.node)}
	}
	// What remains are declarations in components: at finds no name for the component itself, and an output as a
	// declaration without its owner.
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

// outputOf returns the output of a component with a name, or nil.
func outputOf(c *check.Component, called string) *name {
	for _, o := range c.Body.Outputs {
		if o.Decl.Name.Value == called {
			return &name{output: o, owner: c}
		}
	}
	return nil
}

// ownerOf returns the component that has n as an input; nil if n is no input.
func ownerOf(p *check.Program, n *check.Node) *check.Component {
	for _, c := range p.Components {
		if n.Config != nil && !c.Packaged && slices.Contains(c.Body.Nodes, n) {
			return c
		}
	}
	return nil
}

// use is one occurrence of a name.
type use struct {
	at     diag.Range // in the parsed source, with quotes, or in a whole text
	access bool       // reports whether the use is the root of an access
}

// places returns the occurrences of a name in the program and its stacks' settings, without its declaration.
func (p *Program) places(n *name) (found []use) {
	switch {
	case n.component != nil:
		for _, r := range instances(p.bodies(), n.component) {
			// The type is the component's name alone, or ends with it behind a colon, as in components:name.
			if rng, ok := r.Resource.Decl.Type.Range.Word(n.component.Decl.Name.Value); ok {
				found = append(found, use{at: rng})
			} else if rng := afterColons(unquoted(r.Resource.Decl.Type.Range)); rng.Text() ==
				n.component.Decl.Name.Value {
				found = append(found, use{at: rng})
			}
		}
	case n.output != nil:
		p.walk(func(e ast.Expr) {
			a, ok := e.(*ast.Access)
			if !ok || len(a.Steps) == 0 || a.Steps[0].Name != n.output.Decl.Name.Value {
				return
			}
			ref := p.Checked.Ref(a)
			if ref.Kind == check.RefNode && ref.Node.Resource != nil && ref.Node.Resource.Component == n.owner {
				// An escaped name cannot be replaced in place, and is left to the reader.
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
			for _, r := range instances(p.bodies(), n.owner) {
				for _, property := range r.Resource.Decl.Properties {
					if property.Name.Value == n.node.Name {
						found = append(found, use{at: property.Name.Range})
					}
				}
			}
		} else if n.node.Config != nil {
			// Inputs of components are set by their users, configuration by stacks.
			for _, rng := range p.settingsOf(n.node) {
				found = append(found, use{at: rng})
			}
		}
	}
	return found
}

// instances returns the resources in bodies whose type is a component.
func instances(bodies []*check.Program, c *check.Component) (found []*check.Node) {
	for _, body := range bodies {
		for _, n := range body.Nodes {
			if n.Resource != nil && n.Resource.Component == c {
				found = append(found, n)
			}
		}
	}
	return found
}

// afterColons returns the range behind the last colon of r.
func afterColons(r diag.Range) diag.Range {
	i := strings.LastIndexByte(r.Text(), ':') + 1
	return diag.NewRange(r.Source, int(r.Start)+i, int(r.End))
}

// stepName returns the range of a step's name, without its dot, brackets or quotes. It reports false if the name is
// escaped or the step is an index.
func stepName(s ast.Step) (diag.Range, bool) {
	i := strings.Index(s.Range.Text(), s.Name)
	if s.IsIndex || i < 0 {
		return diag.Range{}, false
	}
	start := int(s.Range.Start) + i
	return diag.NewRange(s.Range.Source, start, start+len(s.Name)), true
}

// settingsOf returns the ranges of a configuration value's keys in the settings of stacks, without their namespaces.
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
				if setBy(p.Checked, entry.Name, n) {
					found = append(found, afterColons(unquoted(entry.Key)))
				}
			}
		}
	}
	return found
}

// Definition returns the declaration of the name at an offset; for a step into a resource, the property that the
// resource sets. It returns nothing for names without a declaration in a text.
func Definition(ctx context.Context, s *Snapshot, path string, offset int) ([]Location, error) {
	p, n, err := s.named(ctx, path, offset)
	if err != nil || p == nil {
		return nil, err
	}
	if n == nil {
		return p.assignedProperty(path, offset), nil
	}
	if !n.declared() {
		return nil, nil
	}
	return []Location{p.location(n.at())}, nil
}

// assignedProperty returns the property that a resource sets, for the first step of an access to it.
func (p *Program) assignedProperty(path string, offset int) []Location {
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

// References returns all uses of the name at an offset, ordered by path and position. With declaration it includes the
// declaration.
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
	// Clients show the list as it comes.
	slices.SortStableFunc(found, func(a, b Location) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), int(a.At.Start-b.At.Start))
	})
	return found, nil
}

// uses returns the accesses with n as their root.
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

// TypeDefinition returns the declaration of a resource's component or dynamic type. The offset may be on the resource's
// name, a use of it, or its type. Types of packages have no declaration.
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

// NamePattern is the regular expression of valid names.
const NamePattern = `[A-Za-z_][A-Za-z0-9_-]*`

// Linked returns the ranges of the whole text that can be edited together with the name at an offset: its declaration
// and all uses. It returns none if another file uses the name, if Rename would refuse it, or if it is written with
// escapes.
func Linked(ctx context.Context, s *Snapshot, path string, offset int) ([]diag.Range, error) {
	name, _, ok := Renamable(ctx, s, path, offset)
	if !ok {
		return nil, ctx.Err()
	}
	// n is set: Renamable has found the same name in the same snapshot.
	if _, n, _ := s.named(ctx, path, offset); n.node == nil || n.node.Config != nil {
		return nil, ctx.Err() // stack settings and types write these names in other forms
	}
	found, err := References(ctx, s, path, offset, true)
	if err != nil {
		return nil, err
	}
	var linked []diag.Range
	for _, l := range found {
		rng := unquoted(l.At)
		// A client edits the ranges by typing, so all of them must read alike and be in one file.
		if l.Path != path || rng.Text() != name {
			return nil, nil
		}
		linked = append(linked, rng)
	}
	return linked, nil
}
