package urn_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Dependencies hold what a map by property holds, in order.
func TestDependencies(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{"", "a", "b", "b:c", "é", "z"})
	lists := rapid.SliceOfN(rapid.SampledFrom([]urn.URN{"u", "v", "w"}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		properties := rapid.SliceOfN(names, 0, 6).Draw(t, "properties")
		urns := rapid.SliceOfN(lists, len(properties), len(properties)).Draw(t, "URNs")
		want := map[string][]urn.URN{}
		for i, property := range properties {
			want[property] = urns[i]
		}
		written := slices.Clone(properties)
		d := urn.NewDependencies(properties, urns)
		require.Equal(t, written, properties, "they may be shared")
		require.True(t, d.Given())
		require.Equal(t, len(want), d.Len())
		require.Equal(t, want, d.Map())
		require.Equal(t, d, urn.DependenciesOf(want))
		var inOrder []string
		for property, list := range d.All() {
			inOrder = append(inOrder, property)
			require.Equal(t, want[property], list)
			_ = append(list, "other") // must not reach the next list
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), inOrder)
		property := names.Draw(t, "property")
		got, found := d.Get(property)
		list, present := want[property]
		require.Equal(t, present, found)
		require.Equal(t, list, got)

		other := maps.Clone(want)
		if rapid.Bool().Draw(t, "changed") {
			other[property] = lists.Draw(t, "others")
		}
		require.Equal(t, maps.EqualFunc(want, other, slices.Equal[[]urn.URN]),
			d.Equal(urn.DependenciesOf(other), slices.Equal[[]urn.URN]))
	})
}

func TestNoDependencies(t *testing.T) {
	t.Parallel()
	none := urn.DependenciesOf(nil)
	require.Equal(t, urn.Dependencies{}, none)
	require.False(t, none.Given())
	require.Nil(t, none.Map())
	require.True(t, none.Equal(urn.NewDependencies(nil, nil), slices.Equal[[]urn.URN]))
	require.True(t, urn.NewDependencies(nil, nil).Given())
}
