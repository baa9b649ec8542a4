package parser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// TestAliases checks the limit on nodes read through aliases. Only the first node beyond it is reported as such.
func TestAliases(t *testing.T) {
	t.Parallel()
	var a aliases
	n := &yamlnode.Node{}
	ok, _ := a.tally(n)
	require.True(t, ok, "nothing is counted outside of an alias")
	require.Zero(t, a.expanded)
	a.enter(n)
	require.True(t, a.inside[n])
	a.expanded = maxExpansion - 1
	var told int
	for i := range 3 {
		ok, first := a.tally(n)
		require.Equal(t, i == 0, ok)
		if first {
			told++
		}
	}
	require.Equal(t, 1, told)
	a.leave(0)
	require.False(t, a.inside[n])
	require.False(t, a.any())
}
