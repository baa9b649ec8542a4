package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
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
	methods := map[string]map[string]bool{}
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.pkg, "test/") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(f.path)), nil,
			parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			owner := f.pkg + "." + receiver(fn.Recv.List[0].Type)
			if methods[owner] == nil {
				methods[owner] = map[string]bool{}
			}
			methods[owner][fn.Name.Name] = true // counts once, even if build tags select among several
		}
	}
	for owner, names := range methods {
		switch many := len(names) > mostMethods; {
		case many && manyMethods[owner] == "":
			t.Errorf("%s has %d methods, and %d are allowed: give the parts of its work types of their own, and make functions "+
				"of methods that use one field", owner, len(names), mostMethods)
		case !many && manyMethods[owner] != "":
			t.Errorf("%s has no more than %d methods: take it off the list", owner, mostMethods)
		}
	}
	for owner := range manyMethods {
		if methods[owner] == nil {
			t.Errorf("there is no type %s: take it off the list", owner)
		}
	}
}

// receiver returns the name of a method's receiver type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return e.(*ast.Ident).Name
}
