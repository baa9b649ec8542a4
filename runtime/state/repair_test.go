package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

func made(name string, deps ...string) *Resource {
	r := &Resource{URN: urn.New("dev", "p", "", "pkg:index:R", name), Type: "pkg:index:R", Custom: true, ID: "id-" + name,
		Inputs: value.EmptyMap(), Outputs: value.EmptyMap()}
	for _, d := range deps {
		r.Dependencies = append(r.Dependencies, urn.New("dev", "p", "", "pkg:index:R", d))
	}
	return r
}

func namesOf(s *Snapshot) (names []string) {
	for _, r := range s.Resources {
		names = append(names, r.URN.Name())
	}
	return names
}

func TestRepaired(t *testing.T) { // E6.50
	t.Parallel()
	provider := &Resource{URN: "urn:pulumi:dev::p::pulumi:providers:pkg::default", Type: "pulumi:providers:pkg",
		Custom: true, ID: "new"}
	for name, c := range map[string]struct {
		resources []*Resource
		change    func(rs []*Resource)
		names     []string
		repairs   int
		left      int
	}{
		"sound": {resources: []*Resource{made("a"), made("b", "a")}, names: []string{"a", "b"}},
		"order": {resources: []*Resource{made("c", "b"), made("b", "a"), made("a")},
			names: []string{"a", "b", "c"}, repairs: 2},
		"what is in order stays": {resources: []*Resource{made("x"), made("b", "a"), made("y"), made("a"), made("z")},
			names: []string{"x", "a", "b", "y", "z"}, repairs: 1},
		"a dependency that is not there": {resources: []*Resource{made("a", "gone", "gone2")}, names: []string{"a"},
			repairs: 2},
		"a parent that is not there": {resources: []*Resource{made("a")}, names: []string{"a"}, repairs: 1,
			change: func(rs []*Resource) { rs[0].Parent = "urn:pulumi:dev::p::t::none" }},
		"the same twice": {resources: []*Resource{made("a"), made("a"), made("b")}, names: []string{"a", "b"},
			repairs: 1},
		"one name for two objects": {resources: []*Resource{made("a"), made("a")}, names: []string{"a", "a"}, left: 1,
			change: func(rs []*Resource) { rs[1].ID = "other" }},
		"a component with an ID": {resources: []*Resource{made("a")}, names: []string{"a"}, repairs: 1,
			change: func(rs []*Resource) { rs[0].Custom = false }},
		"no type": {resources: []*Resource{made("a")}, names: []string{"a"}, repairs: 1,
			change: func(rs []*Resource) { rs[0].Type = "" }},
		"no URN": {resources: []*Resource{made("a")}, names: []string{""}, left: 1,
			change: func(rs []*Resource) { rs[0].URN = "" }},
		"a cycle": {resources: []*Resource{made("a", "b"), made("b", "a")}, names: []string{"a", "b"},
			left: 1},
		"another ID of its provider": {resources: []*Resource{provider, made("a")}, names: []string{"default", "a"},
			repairs: 1, change: func(rs []*Resource) { rs[1].Provider = string(provider.URN) + "::old" }},
		"a provider that is not there": {resources: []*Resource{made("a")}, names: []string{"a"}, left: 1,
			change: func(rs []*Resource) { rs[0].Provider = string(provider.URN) + "::old" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.change != nil {
				c.change(c.resources)
			}
			s := &Snapshot{Resources: c.resources}
			before := fmt.Sprint(namesOf(s))
			next, done, left := s.Repaired()
			require.Equal(t, c.names, namesOf(next))
			require.Len(t, done, c.repairs, "%v", done)
			require.Len(t, left, c.left, "%v", left)
			if c.left == 0 {
				require.NoError(t, next.Verify())
			}
			require.Equal(t, before, fmt.Sprint(namesOf(s)), "the snapshot itself stays as it is")
		})
	}
}

// Sorting makes a shuffled valid state valid again, and sorting it twice changes nothing more.
func TestSortedIsSound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var all []*Resource
		for i := range 30 {
			var deps []string
			for range min(i, random.IntN(4)) {
				deps = append(deps, fmt.Sprint("r", random.IntN(i)))
			}
			all = append(all, made(fmt.Sprint("r", i), deps...))
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		sorted, _, err := (&Snapshot{Resources: all}).Sorted()
		require.NoError(t, err)
		require.NoError(t, sorted.Verify())
		require.Len(t, sorted.Resources, 30)
		again, moved, err := sorted.Sorted()
		require.NoError(t, err)
		require.Empty(t, moved)
		require.Equal(t, namesOf(sorted), namesOf(again))
	}
}
