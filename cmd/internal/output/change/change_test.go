package change

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// values generates values with members whose names begin with each other, and with lists and secrets.
func values(depth int) *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		kinds := 4
		if depth == 0 {
			kinds = 2
		}
		var v value.Value
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			v = value.Int(rapid.IntRange(0, 2).Draw(t, "number"))
		case 1:
			v = value.String(rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "text"))
		case 2:
			v = value.List(rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "items")...)
		case 3:
			v = inputs(depth-1).Draw(t, "map")
		}
		if rapid.IntRange(0, 9).Draw(t, "secret") == 0 {
			v = v.Secret()
		}
		return v
	})
}

func inputs(depth int) *rapid.Generator[value.Value] {
	keys := rapid.SampledFrom([]string{"a", "ab", "a.b", `q"`, "name"})
	return rapid.Custom(func(t *rapid.T) value.Value {
		return value.Map(rapid.MapOfN(keys, values(depth), 0, 3).Draw(t, "entries"))
	})
}

func updating(op engine.Op, old, new value.Value) *engine.Step {
	return &engine.Step{Op: op, URN: "urn:pulumi:s::p::t::a", Old: &state.Resource{Inputs: old},
		New: &state.Resource{Inputs: new}}
}

// Nothing changes between equal values. Every change is addressed by its path on the sides that it has, each path is
// there once, unless an element has moved and changed, and all that differs is at, above or below a path.
func TestEveryDifferenceIsAddressed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new := inputs(2).Draw(t, "old"), inputs(2).Draw(t, "new")
		Between(old, old, func(p Property) { t.Fatalf("equal values differ in %s", p.Path) })
		set := Of(updating(engine.OpUpdate, old, new))
		var book Book
		book.Reset(nil, "")
		require.Equal(t, set, book.Of(updating(engine.OpUpdate, old, new)))
		for _, p := range set {
			path, err := value.ParsePath(p.Path)
			require.NoError(t, err, p.Path)
			after, has := path.Get(new)
			if p.Kind != Removed {
				require.True(t, has && value.Equal(after, p.After), p.Path)
			}
			if p.Kind == Removed && !strings.Contains(p.Path, "[") {
				before, had := path.Get(old)
				require.True(t, had && !has && value.Equal(before, p.Before), p.Path)
			}
			if p.Kind == Updated {
				require.False(t, value.Equal(p.Before, p.After), p.Path)
			}
			require.Equal(t, p.Before.ContainsSecret() || p.After.ContainsSecret(), p.Secret)
		}
		for _, c := range value.Changes(old, new) {
			found := false
			for _, p := range set {
				found = found || related(p.Path, c.Path.String()) || related(p.Path, c.Path[:1].String()) && insideList(c.Path)
			}
			require.True(t, found, "%s differs and is not listed", c.Path)
		}
	})
}

// insideList reports whether a path leads into a list, where positions shift.
func insideList(path value.Path) bool {
	for _, s := range path {
		if s.IsIndex {
			return true
		}
	}
	return false
}

// A property forces a replacement if the provider names it, a part of it, or what it is a part of; never because its
// name begins like another's.
func TestForcesByPath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new := inputs(2).Draw(t, "old"), inputs(2).Draw(t, "new")
		s := updating(engine.OpReplace, old, new)
		named := rapid.SampledFrom([]string{"a", "ab", "a.ab", "ab.a", "name", "a[0]"}).Draw(t, "named")
		s.Detailed = map[string]provider.PropertyDiff{named: {Kind: provider.DiffUpdate.AsReplace()}}
		for _, p := range Of(s) {
			require.Equal(t, related(p.Path, named), p.Replaces, "%s, by %s", p.Path, named)
		}
	})
}

// A refresh divides all differences of outputs into drift and what is only computed.
func TestRefreshDivides(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new := inputs(2).Draw(t, "old"), inputs(2).Draw(t, "new")
		s := updating(engine.OpRefresh, value.EmptyMap(), value.EmptyMap())
		s.Old.Outputs, s.New.Outputs, s.Drifted = old, new, rapid.Bool().Draw(t, "drifted")
		var all []string
		Between(old, new, func(p Property) { all = append(all, p.Path) })
		paths, computed := Of(s).Paths()
		require.ElementsMatch(t, all, append(append([]string{}, paths...), computed...))
		if !s.Drifted {
			require.Empty(t, paths)
		}
	})
}
