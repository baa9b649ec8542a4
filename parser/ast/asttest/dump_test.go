package asttest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/parser/ast"
)

// TestDumpKnowsAllKinds checks that every kind of expression has a unique name in a dump, and a case in Walk.
func TestDumpKnowsAllKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range Kinds() {
		var b strings.Builder
		require.NoError(t, Dump(&b, &ast.File{Body: ast.Body{Variables: []*ast.Variable{{Value: kind}}}}))
		lines := strings.Split(b.String(), "\n")
		require.Greater(t, len(lines), 1)
		name := strings.Fields(lines[1])[0]
		require.NotEmpty(t, name)
		require.False(t, seen[name], name)
		seen[name] = true
		visited := 0
		ast.Walk(kind, func(e ast.Expr) bool {
			require.Equal(t, kind, e)
			visited++
			return true
		})
		require.Equal(t, 1, visited)
	}
}
