package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
		dir := filepath.Join("..", "..", filepath.FromSlash(pkg))
		files := token.NewFileSet()
		doc, err := parser.ParseFile(files, filepath.Join(dir, "doc.go"), nil, parser.ParseComments)
		require.NoError(t, err)
		order := regexp.MustCompile(`\w+\.go\b`).FindAllString(doc.Doc.Text(), -1)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(order))), len(order), "%s: a file is named twice", pkg)
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		var all []string
		for _, path := range paths {
			if name := filepath.Base(path); name != "doc.go" && !strings.HasSuffix(name, "_test.go") {
				all = append(all, name)
			}
		}
		require.ElementsMatch(t, all, order, pkg)
		declared := map[string]int{} // the file of each name, as an index in order
		used := make([][]*ast.Ident, len(order))
		for i, name := range order {
			file, err := parser.ParseFile(files, filepath.Join(dir, name), nil, 0)
			require.NoError(t, err)
			for name := range file.Scope.Objects {
				declared[name] = i
			}
			used[i] = file.Unresolved
		}
		for i, idents := range used {
			for _, id := range idents {
				other, ok := declared[id.Name]
				if ok && other > i && !slices.Contains(excepted, id.Name) {
					t.Errorf("%s: %s is declared in %s, which stands below %s", files.Position(id.Pos()), id.Name,
						order[other], order[i])
				}
			}
		}
	}
}
