package value_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

var urns = []urn.URN{"urn:pulumi:s::p::t::a", "urn:pulumi:s::p::t::b", "urn:pulumi:s::p::t::c"}

// values generates values of every kind with marks at every level.
func values(depth int) *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		kinds := 8
		if depth == 0 {
			kinds = 6
		}
		var v value.Value
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			v = value.Null
		case 1:
			v = value.Bool(rapid.Bool().Draw(t, "bool"))
		case 2:
			v = value.Number(rapid.Float64().Draw(t, "number"))
		case 3:
			v = value.String(rapid.String().Draw(t, "text"))
		case 4:
			v = value.Unknown(value.KindString)
		case 5:
			v = value.Resource(&value.ResourceRef{URN: urns[0], ID: value.String("x"),
				PackageVersion: rapid.SampledFrom([]string{"", "1.2.3"}).Draw(t, "version")})
		case 6:
			v = value.List(rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "items")...)
		case 7:
			v = value.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), values(depth-1), 0, 3).Draw(t, "entries"))
		}
		if rapid.Bool().Draw(t, "secret") {
			v = v.Secret()
		}
		return v.DependingOn(rapid.SliceOfN(rapid.SampledFrom(urns), 0, 2).Draw(t, "deps")...)
	})
}

func TestMarksProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v, w := values(3).Draw(t, "v"), values(2).Draw(t, "w")

		if !value.Equal(v, v) || !value.SameContent(v, v.Secret()) || !value.SameContent(v, v.DependingOn(urns...)) {
			t.Fatal("marks are not part of the content")
		}
		if v.IsSecret() == value.Equal(v, v.Public()) {
			t.Fatal("Equal must see secrecy")
		}
		for _, u := range v.Deps() {
			if !slices.Contains(v.AllDeps(), u) {
				t.Fatal("AllDeps lacks a dependency of the value itself")
			}
		}
		if !slices.IsSorted(v.AllDeps()) || !slices.IsSorted(v.Deps()) {
			t.Fatal("dependencies are not ascending")
		}

		// Combined marks: secret if one is secret, the union of dependencies, and known unless v is unknown.
		c := v.WithMarksOf(w)
		if c.IsSecret() != (v.IsSecret() || w.IsSecret()) || c.IsKnown() != v.IsKnown() || !value.SameContent(c, v) {
			t.Fatal("WithMarksOf")
		}
		for _, u := range urns {
			if slices.Contains(c.Deps(), u) != (slices.Contains(v.Deps(), u) || slices.Contains(w.Deps(), u)) {
				t.Fatal("dependencies are not the union")
			}
		}
		u := value.UnknownFrom(value.KindString, v, w)
		if u.IsKnown() || u.IsSecret() != (v.ContainsSecret() || w.ContainsSecret()) {
			t.Fatal("UnknownFrom")
		}

		bare := v.Bare()
		if bare.ContainsSecret() || len(bare.AllDeps()) > 0 || !value.SameContent(bare, v) ||
			bare.ContainsUnknown() != v.ContainsUnknown() {
			t.Fatal("Bare")
		}
		if public := v.DeepPublic(); public.ContainsSecret() || !slices.Equal(public.AllDeps(), v.AllDeps()) {
			t.Fatal("DeepPublic")
		}
		if !value.Equal(v, v.Transform(func(x value.Value) value.Value { return x })) {
			t.Fatal("Transform by identity changes nothing")
		}
	})
}

// TestReferencesAreEqualAcrossVersions covers F1.26: a reference to the same resource is the same value in whichever
// version of its package it is made, at every depth and under every mark, but not the same record.
func TestReferencesAreEqualAcrossVersions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "v")
		references := 0
		remade := func(change func(*value.ResourceRef)) value.Value {
			return v.Transform(func(x value.Value) value.Value {
				ref, ok := x.AsResource()
				if !ok {
					return x
				}
				references++
				other := *ref
				change(&other)
				return value.Resource(&other).WithMarksOf(x)
			})
		}
		newer := remade(func(r *value.ResourceRef) { r.PackageVersion += "-newer" })
		if !value.Equal(v, newer) || !value.SameContent(v, newer) {
			t.Fatalf("%v is not equal to itself in another version of the package", v)
		}
		for _, c := range value.Changes(v, newer) {
			if _, ok := c.Old.AsResource(); ok {
				t.Fatalf("%s has changed from %v to %v", c.Path, c.Old, c.New)
			}
		}
		if value.Identical(v, newer) != (references == 0) {
			t.Fatal("Identical must see the version")
		}
		for what, change := range map[string]func(*value.ResourceRef){
			"URN": func(r *value.ResourceRef) { r.URN = urns[1] },
			"ID":  func(r *value.ResourceRef) { r.ID = value.String("y") },
		} {
			if other := remade(change); references > 0 && (value.Equal(v, other) || value.SameContent(v, other)) {
				t.Fatalf("another %s is another resource", what)
			}
		}
	})
}

// TestAccessProperties covers L5.36 and L5.37: a part of a container has the marks of the container.
func TestAccessProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "v")
		key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
		inside, has := v.Lookup(key)
		got := v.Get(key)
		item, exists := v.Index(0)
		switch {
		case !v.IsKnown():
			if got.IsKnown() || item.IsKnown() || !exists || got.IsSecret() != v.IsSecret() ||
				!slices.Equal(got.Deps(), v.Deps()) {
				t.Fatal("access on unknown gives unknown with the same marks")
			}
			return
		case has != v.Has(key) || !has && !got.IsNull():
			t.Fatal("a missing key gives null")
		case !value.SameContent(got, inside):
			t.Fatal("Get and Lookup differ")
		}
		if got.IsSecret() != (inside.IsSecret() || v.IsSecret()) {
			t.Fatal("access on a secret gives a secret")
		}
		for _, u := range v.Deps() {
			if !slices.Contains(got.Deps(), u) {
				t.Fatal("access loses a dependency")
			}
		}
		if exists != (v.Kind() == value.KindList && v.Len() > 0) {
			t.Fatal("Index exists for items only")
		}
	})
}

// TestMapProperties compares With and Without with a Go map.
func TestMapProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		model := make(map[string]value.Value)
		v := value.EmptyMap().Secret()
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			key := rapid.StringN(0, 2, -1).Draw(t, "key")
			before := v
			old, had := before.Lookup(key)
			if rapid.Bool().Draw(t, "remove") {
				delete(model, key)
				v = v.Without(key)
			} else {
				model[key] = value.Int(rapid.Int().Draw(t, "n"))
				v = v.With(key, model[key])
			}
			if again, has := before.Lookup(key); has != had || !value.Equal(old, again) {
				t.Fatal("a value has changed")
			}
		}
		if !value.Equal(v, value.Map(model).Secret()) || v.Len() != len(model) || !slices.IsSorted(v.Keys()) {
			t.Fatalf("%v is not %v", v, value.Map(model))
		}
	})
}

func TestNothingPanics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values(2).Draw(t, "v")
		v.AsBool()
		v.AsNumber()
		v.AsString()
		v.AsInt()
		v.AsList()
		v.AsAsset()
		v.AsArchive()
		v.AsResource()
		v.At(-1)
		v.At(v.Len())
		v.Index(-1)
		v.Get("")
		v.With("a", v).Without("a")
		v.UnknownAs(value.KindAny)
		_, _ = value.JSON(v)
		_, _ = value.Text(v)
		_ = v.String() + v.Kind().String()
	})
	require.Equal(t, "any", value.Kind(200).String())
}

func TestEqual(t *testing.T) {
	t.Parallel()
	nan := value.Number(nanOf())
	require.True(t, value.Equal(nan, nan))
	require.False(t, value.Equal(value.Null, value.Unknown(value.KindNull)))
	require.False(t, value.Equal(value.List(), value.EmptyMap()))
	require.True(t, value.Equal(
		value.NewAsset(&value.Asset{Path: "a", Hash: "1"}), value.NewAsset(&value.Asset{URI: "b", Hash: "1"})), "F1.26")
	require.False(t, value.Equal(value.NewAsset(&value.Asset{Path: "a", Hash: "1"}),
		value.NewAsset(&value.Asset{Path: "a", Hash: "2"})))
}

func nanOf() float64 { zero := 0.0; return zero / zero }
