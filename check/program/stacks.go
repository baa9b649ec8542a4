package program

import (
	"slices"

	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// StackNames returns the other stacks that the program and its components read by a literal name, in alphabetical
// order: through resources of type pulumi:pulumi:StackReference and through fn::stackReference. Computed names are not
// included.
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
