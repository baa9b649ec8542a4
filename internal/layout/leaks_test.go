package layout

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// watchedElsewhere lists packages that start goroutines but have no leak test of their own, with the package that tests
// them or the reason why no test is needed.
var watchedElsewhere = map[string]string{
	"cmd/internal/console":        "cmd/internal/cli, whose commands use it",
	"cmd/internal/cli/queue":      "cmd/internal/kill, whose tests start workers",
	"cmd/internal/cli/check":      "cmd/internal/cli, whose tests run the command",
	"check/packages":              "check, whose tests load packages with it",
	"runtime/backend/objectstest": "runtime/backend, whose tests use it",
	"cmd/yamlhost-web":            "a program for browsers, which lives as long as the page",
	"tools/bench/floor":           "a measurement",
}

// Each package that starts goroutines has a test that fails if one outlives the tests.
func TestGoroutinesAreWatched(t *testing.T) {
	t.Parallel()
	starts, watched := map[string]bool{}, map[string]bool{}
	for _, f := range sources(t) {
		if f.test {
			watched[f.pkg] = watched[f.pkg] || strings.Contains(f.text, "goleak.")
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			starts[f.pkg] = starts[f.pkg] || startsGoroutine(n)
			return true
		})
	}
	var unwatched []string
	for pkg := range starts {
		if starts[pkg] && !watched[pkg] && watchedElsewhere[pkg] == "" {
			unwatched = append(unwatched, pkg)
		}
	}
	slices.Sort(unwatched)
	if len(unwatched) > 0 {
		t.Errorf("these packages start goroutines, and no test of theirs looks for those left behind (goleak): %s",
			strings.Join(unwatched, ", "))
	}
	for pkg := range watchedElsewhere {
		if !starts[pkg] || watched[pkg] {
			t.Errorf("%s is listed in vain", pkg)
		}
	}
}

// startsGoroutine reports whether a statement or a call starts a goroutine: go, the method Go of groups, AfterFunc.
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		selector, ok := n.Fun.(*ast.SelectorExpr)
		return ok && (selector.Sel.Name == "Go" && len(n.Args) == 1 || selector.Sel.Name == "AfterFunc")
	}
	return false
}
