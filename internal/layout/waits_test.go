package layout

import (
	"go/ast"
	"strings"
	"testing"
)

// TestWaitsAreLong requires a limit of at least a minute wherever a test waits with Eventually: on a busy machine,
// something that usually takes a millisecond can take seconds. A long limit costs nothing when the test passes.
func TestWaitsAreLong(t *testing.T) {
	t.Parallel()
	waits := 0
	for _, f := range sources(t) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if selector, ok := call.Fun.(*ast.SelectorExpr); !ok || selector.Sel.Name != "Eventually" {
				return true
			}
			waits++
			limit := call.Args[2]
			text := f.text[positions.Position(limit.Pos()).Offset:positions.Position(limit.End()).Offset]
			if _, named := limit.(*ast.Ident); !named && !strings.HasSuffix(text, "time.Minute") {
				t.Errorf("%s waits for %s; give it a minute or more", positions.Position(call.Pos()), text)
			}
			return true
		})
	}
	if waits < 20 {
		t.Errorf("found only %d waits: the test looks in the wrong place", waits)
	}
}
