package program

import (
	"slices"

	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// StackNames returns the other stacks that the program and its components read by a literal name, in alphabetical
// order: through resources of type pulumi:pulumi:StackReference and through fn::stackReference. Computed names are not
// included. They are the edges between projects that can be known without a run: `run --all` orders projects by them,
// and an untrusted run asks whether they may be read.
func (p *Program) StackNames() []string {
	var names []string
	for _, body := range p.bodies() {
		for _, c := range body.calls() {
			if c.Func == nil || c.Func.Name != "stackReference" || len(c.Args) == 0 {
				continue
			}
			if name, literal := c.Args[0].(*ast.String); literal {
				names = append(names, name.Value)
			}
		}
		for _, n := range body.Nodes {
			if n.Resource == nil || n.Resource.Token != schema.StackReferenceToken {
				continue
			}
			if name, literal := n.Resource.StackName(); literal {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NamesMember reports whether the program or one of its components names a member of a value, in an access or as a text
// in the arguments of a function. A text counts since functions take the names of members as texts.
func (p *Program) NamesMember(member string) bool {
	named := false
	for _, body := range p.bodies() {
		for _, unit := range body.units() {
			for _, access := range unit.Accesses {
				named = named || slices.ContainsFunc(access.Steps, func(s ast.Step) bool { return s.Name == member })
			}
			for _, call := range unit.Calls {
				ast.Walk(call, func(e ast.Expr) bool {
					switch e := e.(type) {
					case *ast.String:
						named = named || e.Value == member
					case *ast.Member:
						named = named || e.Name.Value == member
					}
					return !named
				})
			}
		}
	}
	return named
}

// StackName returns the name of the stack that a StackReference reads; literal is false for a computed name.
func (r *Resource) StackName() (name string, literal bool) {
	if r.Decl.PropertiesExpr != nil {
		return "", false
	}
	switch e := r.Decl.Property("name").(type) {
	case nil:
		return r.LogicalName, true
	case *ast.String:
		return e.Value, true
	}
	return "", false
}
