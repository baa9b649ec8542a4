package check

import (
	"slices"

	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// StackNames are the other stacks that the program and its components read by a literal name, in alphabetical order:
// through resources of type pulumi:pulumi:StackReference and through fn::stackReference. Names that are computed are
// not among them.
func (p *Program) StackNames() []string {
	var names []string
	add := func(e ast.Expr) {
		if literal, ok := e.(*ast.String); ok {
			names = append(names, literal.Value)
		}
	}
	visit := func(body *Program, e ast.Expr) {
		ast.Walk(e, func(e ast.Expr) bool {
			if call, ok := e.(*ast.Call); ok {
				if c := body.Call(call); c != nil && c.Func != nil && c.Func.Name == "stackReference" && len(c.Args) > 0 {
					add(c.Args[0])
				}
			}
			return true
		})
	}
	p.eachBody(make(map[*Program]bool), func(body *Program) {
		for _, n := range body.Nodes {
			switch n.Kind {
			case VariableNode:
				visit(body, n.Variable.Value)
			case ResourceNode:
				n.Resource.Decl.Exprs(func(e ast.Expr) { visit(body, e) })
				if n.Resource.Token == schema.StackReferenceToken && n.Resource.Decl.PropertiesExpr == nil {
					named := false
					for _, property := range n.Resource.Decl.Properties {
						if property.Name.Value == "name" {
							named = true
							add(property.Value)
						}
					}
					if !named {
						names = append(names, n.Resource.LogicalName)
					}
				}
			}
		}
		for _, o := range body.Outputs {
			visit(body, o.Decl.Value)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}
