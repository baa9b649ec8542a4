package check

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
	add := func(e ast.Expr) {
		if literal, ok := e.(*ast.String); ok {
			names = append(names, literal.Value)
		}
	}
	for _, body := range p.bodies() {
		for _, c := range body.calls() {
			if c.Func != nil && c.Func.Name == "stackReference" && len(c.Args) > 0 {
				add(c.Args[0])
			}
		}
		for _, n := range body.Nodes {
			if n.Resource == nil || n.Resource.Token != schema.StackReferenceToken || n.Resource.Decl.PropertiesExpr != nil {
				continue
			}
			named := propertyNamed(n.Resource.Decl.Properties, "name")
			if named == nil {
				names = append(names, n.Resource.LogicalName)
			}
			add(named)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// propertyNamed returns the value of a property; nil if the program does not set it.
func propertyNamed(properties []ast.Property, name string) ast.Expr {
	for _, p := range properties {
		if p.Name.Value == name {
			return p.Value
		}
	}
	return nil
}
