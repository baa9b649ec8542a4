package value

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrderedMap(t *testing.T) {
	t.Parallel()
	m, ok := OrderedMap([]string{"a", "b"}, []Value{Int(1), Int(2)})
	require.True(t, ok)
	require.True(t, Equal(MapOf(Entry{"b", Int(2)}, Entry{"a", Int(1)}), m))
	for name, keys := range map[string][]string{"not ascending": {"b", "a"}, "twice": {"a", "a"}, "too few": {"a"}} {
		_, ok := OrderedMap(keys, []Value{Int(1), Int(2)})
		require.False(t, ok, name)
	}
}
