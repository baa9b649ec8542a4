package layout

import (
	"go/ast"
	"testing"
)

// TestWorldIsNotChanged holds the world of a console to be complete once a command begins: only the method that reads
// the global flags sets a field of it. A command that needs another world makes another console.
func TestWorldIsNotChanged(t *testing.T) {
	t.Parallel()
	set := 0
	for _, f := range code(t) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			assignment, ok := n.(*ast.AssignStmt)
			for i := 0; ok && i < len(assignment.Lhs); i++ {
				switch place := positions.Position(n.Pos()); {
				case !ofWorld(assignment.Lhs[i]):
				case f.path == "cmd/internal/console/cli.go":
					set++
				default:
					t.Errorf("%s changes the world of a console: make one of another world with console.In", place)
				}
			}
			return true
		})
	}
	if set != 1 {
		t.Errorf("%d assignments complete the world, and 1 is expected", set)
	}
}

// ofWorld reports whether an expression is the field World of something, or a part of it.
func ofWorld(e ast.Expr) bool {
	for {
		selector, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if selector.Sel.Name == "World" {
			return true
		}
		e = selector.X
	}
}
