package yamlnode

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

// TestFilesKeepTheirOrder holds the package to the order of its files in doc.go: what a file uses is declared in a file
// above it.
func TestFilesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	doc, err := parser.ParseFile(files, "doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	order := regexp.MustCompile(`\w+\.go\b`).FindAllString(doc.Doc.Text(), -1)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(order))), len(order), "a file is named twice")
	all, err := filepath.Glob("*.go")
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(name string) bool { return name == "doc.go" || strings.HasSuffix(name, "_test.go") })
	require.ElementsMatch(t, all, order)
	declared := map[string]int{} // the file of each name, as an index in order
	used := make([][]*ast.Ident, len(order))
	for i, name := range order {
		file, err := parser.ParseFile(files, name, nil, 0)
		require.NoError(t, err)
		for name := range file.Scope.Objects {
			declared[name] = i
		}
		used[i] = file.Unresolved
	}
	for i, idents := range used {
		for _, id := range idents {
			if other, ok := declared[id.Name]; ok && other > i {
				t.Errorf("%s: %s is declared in %s, which stands below %s", files.Position(id.Pos()), id.Name, order[other],
					order[i])
			}
		}
	}
}
