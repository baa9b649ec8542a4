package layout

import (
	"go/ast"
	"testing"
)

// mostMethods is the maximum number of methods of a type. A type with more is several things, each of which needs a
// name.
const mostMethods = 32

// manyMethods lists the types that may have more, with the reason.
var manyMethods = map[string]string{
	"internal/value.Value": "most of its methods are one line: a question, or a view of what is in it",
}

func TestTypesAreOneThing(t *testing.T) {
	all := shapes(t)
	for owner, s := range all {
		switch many := len(s.methods) > mostMethods; {
		case many && manyMethods[owner] == "":
			t.Errorf("%s has %d methods, and %d are allowed: give the parts of its work types of their own, and make functions "+
				"of methods that use one field", owner, len(s.methods), mostMethods)
		case !many && manyMethods[owner] != "":
			t.Errorf("%s has no more than %d methods: take it off the list", owner, mostMethods)
		}
	}
	for owner := range manyMethods {
		if all[owner] == nil {
			t.Errorf("there is no type %s: take it off the list", owner)
		}
	}
}

// bare returns the name in the type of a receiver or an embedded field, without its pointer and its parameters.
func bare(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.StarExpr:
		return bare(e.X)
	case *ast.IndexExpr:
		return bare(e.X)
	case *ast.IndexListExpr:
		return bare(e.X)
	}
	return e
}
