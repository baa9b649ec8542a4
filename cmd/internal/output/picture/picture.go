// Package picture draws the graph of a program.
package picture

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/output/drawing"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// OpenMembers is the largest number of members of components in a picture. Further components are closed boxes.
const OpenMembers = 600

// WriteSVG draws a program. Components with a known body are groups of their members; calls of provider functions have
// boxes of their own.
func WriteSVG(w io.Writer, p *check.Program) error {
	s := &sketch{program: p, left: OpenMembers}
	resources := 0
	for _, n := range p.Nodes {
		if n.Kind == check.ResourceNode {
			resources++
		}
	}
	s.picture.Title = p.Name
	s.picture.Subtitle = diag.Count(resources, "resource") + ", " + diag.Count(len(p.Outputs), "output")
	s.body(p, "", "", nil)
	return drawing.Write(w, &s.picture)
}

// sketch collects the parts of a program's picture.
type sketch struct {
	program *check.Program
	picture drawing.Picture
	left    int // members of components that may still be shown
}

// body adds the nodes and outputs of a program, or of a component's body inside of a group. prefix begins the IDs of
// everything in it; open are the components around it.
func (s *sketch) body(p *check.Program, group, prefix string, open []*check.Component) {
	names := [...]string{check.ConfigNode: "configuration", check.VariableNode: "variable", check.ResourceNode: "resource"}
	id := func(n *check.Node) string { return fmt.Sprintf("%sn%d", prefix, n.Index) }
	for _, n := range p.Nodes {
		box := drawing.Node{ID: id(n), Name: n.Name, Group: group, Tip: names[n.Kind] + " " + n.Name}
		owner := needer{id: box.ID, prefix: prefix, group: group, name: n.Name, needs: n.Needs, of: id}
		switch n.Kind {
		case check.ConfigNode:
			box.Kind = drawing.Config
			if open != nil {
				box.Tip = "input " + n.Name
			}
			if decl := n.Config.Decl; decl != nil {
				owner.exprs = []ast.Expr{decl.Default}
				if decl.Type != nil {
					box.Detail = decl.Type.String()
				}
			}
		case check.VariableNode:
			box.Kind = drawing.Variable
			owner.exprs = []ast.Expr{n.Variable.Value}
			if call, ok := n.Variable.Value.(*ast.Call); ok {
				if token := s.invoked(call); token != "" {
					box.Kind, box.Detail, owner.itself = drawing.Function, schema.CollapseToken(token), call
					box.Tip += "\n" + token
				}
			}
		case check.ResourceNode:
			r := n.Resource
			box.Kind, box.Detail = drawing.Resource, schema.CollapseToken(r.Token)
			box.Tip += "\n" + r.Token
			if r.Decl.ForEach != nil {
				box.Detail += " × each"
			}
			r.Decl.Exprs(func(e ast.Expr) { owner.exprs = append(owner.exprs, e) })
			if r.Component != nil {
				box.Kind = drawing.Component
			}
			if s.opens(r.Component, open) {
				box.Tip += place(n.Range)
				s.group(n, &box, prefix, open)
				s.edges(&owner)
				continue
			}
		}
		box.Tip += place(n.Range)
		s.picture.Nodes = append(s.picture.Nodes, box)
		s.edges(&owner)
	}
	for i, out := range p.Outputs {
		box := drawing.Node{ID: fmt.Sprintf("%so%d", prefix, i), Kind: drawing.Output, Name: out.Decl.Name.Value,
			Group: group, Tip: "output " + out.Decl.Name.Value + place(out.Decl.Name.Range)}
		s.picture.Nodes = append(s.picture.Nodes, box)
		s.edges(&needer{id: box.ID, prefix: prefix, group: group, name: "output " + box.Name,
			needs: out.Needs, of: id, exprs: []ast.Expr{out.Decl.Value}})
	}
}

// opens reports whether the picture shows the inside of a component, and counts such components.
func (s *sketch) opens(c *check.Component, around []*check.Component) bool {
	if c == nil || c.Body == nil || slices.Contains(around, c) {
		return false
	}
	members := len(c.Body.Nodes) + len(c.Body.Outputs)
	if members > s.left {
		return false
	}
	s.left -= members
	return true
}

// group adds a component as a group.
func (s *sketch) group(n *check.Node, box *drawing.Node, prefix string, around []*check.Component) {
	s.picture.Groups = append(s.picture.Groups, drawing.Group{ID: box.ID, Parent: box.Group, Label: box.Name + " · " +
		box.Detail, Tip: box.Tip})
	open := append(around[:len(around):len(around)], n.Resource.Component)
	s.body(n.Resource.Component.Body, box.ID, fmt.Sprintf("%sn%d.", prefix, n.Index), open)
}

// needer is an element with edges to its dependencies.
type needer struct {
	id, prefix, group, name string
	needs                   []check.Edge
	of                      func(*check.Node) string // the ID of a node
	exprs                   []ast.Expr
	itself                  *ast.Call // the call that the needer represents
}

// edges adds the arrows to a needer. The inputs of its calls of provider functions have arrows to the calls, and the
// calls have arrows to it.
func (s *sketch) edges(o *needer) {
	type at struct {
		source *diag.Source
		offset int32
	}
	references := map[at]string{} // by their start
	type call struct {
		id    string
		where diag.Range
	}
	var calls []call // outer calls first
	for _, e := range o.exprs {
		ast.Walk(e, func(e ast.Expr) bool {
			switch e := e.(type) {
			case *ast.Access:
				references[at{e.Root.Range.Source, e.Root.Range.Start}] = referenceText(e)
			case *ast.Call:
				if token := s.invoked(e); token != "" && e != o.itself {
					c := call{id: fmt.Sprintf("%s.f%d", o.id, len(calls)), where: e.Range()}
					dst := o.id
					for _, outer := range calls {
						if within(c.where, outer.where) {
							dst = outer.id
						}
					}
					calls = append(calls, c)
					name := token[strings.LastIndexByte(token, ':')+1:]
					s.picture.Nodes = append(s.picture.Nodes, drawing.Node{ID: c.id, Kind: drawing.Function, Name: name,
						Group: o.group, Detail: schema.CollapseToken(token), Tip: "function\n" + token + place(c.where)})
					s.picture.Edges = append(s.picture.Edges, drawing.Edge{From: c.id, To: dst, Tip: o.name + " calls " + token +
						place(c.where)})
				}
			}
			return true
		})
	}
	for _, need := range o.needs {
		label, known := references[at{need.Range.Source, need.Range.Start}]
		tip := o.name + " uses " + label
		if !known { // by an option or a type, not by a reference
			label = need.To.Name
			cause, _, _ := strings.Cut(need.Range.Text(), "\n")
			tip = fmt.Sprintf("%s needs %s because of %s", o.name, label, strings.TrimSpace(cause))
		}
		dst := o.id
		for _, c := range calls {
			if within(need.Range, c.where) {
				dst = c.id
			}
		}
		s.picture.Edges = append(s.picture.Edges, drawing.Edge{From: o.of(need.To), To: dst, Label: label, Tip: tip +
			place(need.Range)})
	}
}

// invoked returns the token of the provider function, or of the method, that a call calls; empty for other calls.
func (s *sketch) invoked(c *ast.Call) string {
	switch call := s.program.Call(c); {
	case call == nil:
		return ""
	case call.Invoke != nil:
		return call.Invoke.Token
	case call.Method != nil:
		return cmp.Or(call.Method.Token, call.Method.Name)
	}
	return ""
}

func within(inner, outer diag.Range) bool {
	return inner.Source == outer.Source && inner.Start >= outer.Start && inner.End <= outer.End
}

// referenceText returns a reference as programs write it.
func referenceText(a *ast.Access) string {
	text := a.Root.Value
	for _, step := range a.Steps {
		switch {
		case step.IsIndex:
			text += fmt.Sprintf("[%d]", step.Index)
		case step.Quoted:
			text += fmt.Sprintf("[%q]", step.Name)
		default:
			text += "." + step.Name
		}
	}
	return text
}

// place returns a position in brackets for appending to a text; empty if unknown.
func place(r diag.Range) string {
	if r.IsZero() {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", r.Source.Name(), r.StartPosition().Line)
}
