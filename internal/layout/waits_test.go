package layout

import (
	"go/ast"
	"strings"
	"testing"
)

// TestWaitsAreLong holds the tests that wait for something to wait for a minute or longer: on a machine under load
// what takes a millisecond may take seconds, and a long limit costs nothing when the test passes.
func TestWaitsAreLong(t *testing.T) {
	t.Parallel()
	waits := 0
	for _, f := range sources(t) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if selector, ok := call.Fun.(*ast.SelectorExpr); !ok || !strings.HasPrefix(selector.Sel.Name, "Eventually") {
				return true
			}
			waits++
			limit := f.text[positions.Position(call.Args[2].Pos()).Offset:positions.Position(call.Args[2].End()).Offset]
			if strings.ContainsAny(limit[:1], "0123456789") && !strings.HasSuffix(limit, "time.Minute") ||
				strings.HasSuffix(limit, "econd") {
				t.Errorf("%s waits for %s; give it a minute", positions.Position(call.Pos()), limit)
			}
			return true
		})
	}
	if waits < 20 {
		t.Errorf("%d waits are found: the test looks in the wrong place", waits)
	}
}
