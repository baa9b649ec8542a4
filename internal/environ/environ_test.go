package environ_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/environ"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	env := environ.List{"A=1", "AB=longer", "EMPTY=", "A=2=3", "ON=true", "ONE=1", "YES=yes", "broken"}
	text, set := env.Lookup("A")
	require.True(t, set)
	require.Equal(t, "2=3", text, "the later counts")
	text, set = env.Lookup("EMPTY")
	require.True(t, set)
	require.Empty(t, text)
	for _, name := range []string{"B", "broken", "", "A="} {
		_, set = env.Lookup(name)
		require.False(t, set, name)
	}
	require.Equal(t, []bool{true, true, false, false}, []bool{env.True("ON"), env.True("ONE"), env.True("YES"), env.True("NO")})
}
