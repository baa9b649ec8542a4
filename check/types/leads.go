package types

import "github.com/yamlhost/yamlhost/parser/ast"

// leadsOn records that an expression steps into another, which may begin with an access. withoutFollowUps needs it: a
// fault in `${a[0].b}` is a use of a, although the access in it is `a` alone.
func (c *typer) leadsOn(from, to ast.Expr) {
	for {
		switch e := from.(type) {
		case *ast.Access:
			c.decl.leads = append(c.decl.leads, Lead{From: e, To: to.Range()})
			return
		case *ast.Index:
			from = e.Collection
		case *ast.Splat:
			from = e.Source
		default:
			return
		}
	}
}
