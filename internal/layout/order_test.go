package layout

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// ordered lists the packages whose doc.go gives an order of their files, with the names that a file above their own may
// use all the same.
var ordered = map[string][]string{
	"internal/yamlnode": nil,
	"parser":            {"optionReader"}, // transforms and options hold each other
}

// TestFilesKeepTheirOrder holds packages to the order of their files: what a file uses is declared in a file above it.
// It compares names at the level of the package, and no methods.
func TestFilesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for pkg, excepted := range ordered {
		trees := map[string]*ast.File{}
		for _, f := range code(t) {
			if f.pkg == pkg {
				trees[path.Base(f.path)] = f.tree
			}
		}
		order := regexp.MustCompile(`\w+\.go\b`).FindAllString(trees["doc.go"].Doc.Text(), -1)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(order))), len(order), "%s: a file is named twice", pkg)
		delete(trees, "doc.go")
		require.ElementsMatch(t, slices.Collect(maps.Keys(trees)), order, pkg)
		declared := map[string]int{} // the file of each name, as an index in order
		used := make([][]*ast.Ident, len(order))
		for i, name := range order {
			for name := range trees[name].Scope.Objects {
				declared[name] = i
			}
			used[i] = trees[name].Unresolved
		}
		for i, idents := range used {
			for _, id := range idents {
				other, ok := declared[id.Name]
				if ok && other > i && !slices.Contains(excepted, id.Name) {
					t.Errorf("%s: %s is declared in %s, which stands below %s", positions.Position(id.Pos()), id.Name,
						order[other], order[i])
				}
			}
		}
	}
}
