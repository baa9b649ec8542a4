package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWithoutInlining makes flags of a list, and of the list that releases use.
func TestWithoutInlining(t *testing.T) {
	require.Equal(t, []string{"-gcflags=a/...=-l", "-gcflags=b=-l"}, withoutInlining("# c\na/...\n\nb\n"))
	require.Contains(t, withoutInlining(compact), "-gcflags=github.com/evanw/esbuild/...=-l")
}
