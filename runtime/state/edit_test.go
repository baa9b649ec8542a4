package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

const (
	stackURN    urn.URN = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"
	providerDef urn.URN = "urn:pulumi:dev::p::pulumi:providers:t::default"
)

func named(name string) urn.URN { return urn.URN("urn:pulumi:dev::p::t:i:R::" + name) }

// household is a stack with a provider, a, b that depends on a by its property x, and c below a.
func household(edits ...func(map[string]*Resource)) *Snapshot {
	ref := urn.Reference{URN: providerDef, ID: "id"}.String()
	make := func(u urn.URN, parent urn.URN) *Resource {
		return &Resource{URN: u, Type: u.Type(), Custom: true, ID: "i", Parent: parent, Provider: ref,
			Inputs: value.EmptyMap(), Outputs: value.EmptyMap()}
	}
	byName := map[string]*Resource{
		"stack":    {URN: stackURN, Type: urn.RootStackType},
		"provider": {URN: providerDef, Type: providerDef.Type(), Custom: true, ID: "id"},
		"a":        make(named("a"), stackURN),
		"b":        make(named("b"), stackURN),
		"c":        make("urn:pulumi:dev::p::t:i:R$t:i:R::c", named("a")),
	}
	byName["b"].Dependencies = []urn.URN{named("a")}
	byName["b"].PropertyDependencies = urn.DependenciesOf(map[string][]urn.URN{"x": {named("a")}})
	for _, edit := range edits {
		edit(byName)
	}
	s := &Snapshot{}
	for _, name := range []string{"stack", "provider", "a", "b", "c"} {
		s.Resources = append(s.Resources, byName[name])
	}
	return s
}

func names(s *Snapshot) []string {
	var list []string
	for _, r := range s.Resources {
		list = append(list, r.URN.Name())
	}
	return list
}

func TestWithoutRefusesWhatOthersNeed(t *testing.T) {
	s := household()
	_, _, err := s.Without([]urn.URN{named("a")}, RemoveOptions{})
	var used *InUseError
	require.ErrorAs(t, err, &used)
	require.Len(t, used.By, 2, "a dependent and a child")

	next, removed, err := s.Without([]urn.URN{named("a")}, RemoveOptions{Dependents: true})
	require.NoError(t, err)
	require.Len(t, removed, 3)
	require.Equal(t, []string{"p-dev", "default"}, names(next))
	require.Len(t, s.Resources, 5, "the snapshot itself is not modified")

	_, _, err = s.Without([]urn.URN{providerDef}, RemoveOptions{})
	require.ErrorAs(t, err, &used, "a provider is needed by what it manages")

	_, _, err = s.Without([]urn.URN{named("none")}, RemoveOptions{})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
}

func TestWithoutHonoursProtection(t *testing.T) {
	s := household(func(m map[string]*Resource) { m["b"].Protect = true })
	_, _, err := s.Without([]urn.URN{named("b")}, RemoveOptions{})
	var protected *ProtectedError
	require.ErrorAs(t, err, &protected)
	next, _, err := s.Without([]urn.URN{named("b")}, RemoveOptions{Force: true})
	require.NoError(t, err)
	require.Equal(t, []string{"p-dev", "default", "a", "c"}, names(next))
}

func TestWithoutTellsTwinsApart(t *testing.T) {
	s := household()
	s.Resources = append(s.Resources, &Resource{URN: named("b"), Type: "t:i:R", Custom: true, ID: "old", Delete: true})
	_, _, err := s.Without([]urn.URN{named("b")}, RemoveOptions{})
	require.ErrorContains(t, err, "2 entries")
	next, _, err := s.Without([]urn.URN{named("b")}, RemoveOptions{Force: true})
	require.NoError(t, err)
	require.Equal(t, []string{"p-dev", "default", "a", "c"}, names(next))
}

func TestRenamedIsFollowed(t *testing.T) {
	next, err := household().Renamed(named("a"), "alpha::x")
	require.NoError(t, err)
	require.NoError(t, next.Verify())
	require.Equal(t, named("alpha::x"), next.Resources[2].URN)
	require.Equal(t, []urn.URN{named("alpha::x")}, next.Resources[3].Dependencies)
	require.Equal(t, map[string][]urn.URN{"x": {named("alpha::x")}}, next.Resources[3].PropertyDependencies.Map())
	require.Equal(t, named("alpha::x"), next.Resources[4].Parent)
	_, err = household().Renamed(named("a"), "b")
	require.ErrorContains(t, err, "already")

	// References to a provider contain its name.
	next, err = household().Renamed(providerDef, "mine")
	require.NoError(t, err)
	require.NoError(t, next.Verify())
	require.Equal(t, "urn:pulumi:dev::p::pulumi:providers:t::mine::id", next.Resources[2].Provider)
}

// F6.14: every URN and the name of the root stack get the new name of the stack.
func TestOfStackRenamesEverything(t *testing.T) {
	s := household()
	s.Pending = []Operation{{Resource: s.Resources[2], Kind: Creating}}
	next := s.OfStack("q", "prod")
	require.NoError(t, next.Verify())
	for _, r := range next.Resources {
		require.Equal(t, "prod", r.URN.Stack())
		require.Equal(t, "q", r.URN.Project())
	}
	require.Equal(t, "q-prod", next.Resources[0].URN.Name())
	require.Equal(t, "prod", next.Pending[0].Resource.URN.Stack())
	require.Equal(t, "dev", s.Resources[0].URN.Stack())
}

func TestWithEachLeavesWhatIsToBeDeleted(t *testing.T) {
	s := household()
	s.Resources = append(s.Resources, &Resource{URN: named("b"), Type: "t:i:R", Custom: true, ID: "old", Delete: true})
	next, err := s.WithEach(nil, func(r *Resource) { r.Taint = true })
	require.NoError(t, err)
	for i, r := range next.Resources {
		require.Equal(t, i < 5, r.Taint)
	}
	_, err = s.WithEach([]urn.URN{named("none")}, func(*Resource) {})
	require.Error(t, err)
}

func TestMoveTakesChildrenAndProviders(t *testing.T) {
	source, target := household(), &Snapshot{}
	m, err := Move{URNs: []urn.URN{named("a")}, Project: "p", Stack: "other"}.Apply(source, target)
	require.NoError(t, err)
	require.Equal(t, []string{"p-dev", "default", "b"}, names(m.Source))
	require.Equal(t, []string{"p-other", "default", "a", "c"}, names(m.Target))
	require.Empty(t, m.Source.Resources[2].Dependencies)
	require.NotEmpty(t, m.Broken)
	require.Equal(t, urn.URN("urn:pulumi:other::p::t:i:R::a"), m.Target.Resources[3].Parent)

	// A provider that the target already has is not copied again.
	again, err := Move{URNs: []urn.URN{named("b")}, Project: "p", Stack: "other"}.Apply(m.Source, m.Target)
	require.NoError(t, err)
	require.Equal(t, []string{"p-other", "default", "a", "c", "b"}, names(again.Target))

	// If the target has a provider with another ID and the same inputs, the moved resources use that provider.
	own := household().OfStack("p", "other")
	own.Resources = own.Resources[:2]
	own.Resources[1].ID = "own"
	taken, err := Move{URNs: []urn.URN{named("a")}, Project: "p", Stack: "other"}.Apply(source, own)
	require.NoError(t, err)
	require.Equal(t, []string{"p-other", "default", "a", "c"}, names(taken.Target))
	require.Equal(t, "urn:pulumi:other::p::pulumi:providers:t::default::own", taken.Target.Resources[2].Provider)
	own.Resources[1].Inputs = value.MapOf(value.Entry{Key: "region", Value: value.String("eu")})
	_, err = Move{URNs: []urn.URN{named("a")}, Project: "p", Stack: "other"}.Apply(source, own)
	require.ErrorContains(t, err, "with other settings")

	_, err = Move{URNs: []urn.URN{stackURN}, Project: "p", Stack: "other"}.Apply(source, target)
	require.Error(t, err)
	_, err = Move{URNs: []urn.URN{named("a")}, Project: "p", Stack: "other"}.Apply(source, m.Target)
	require.ErrorContains(t, err, "already")
}

func TestMoveOfAChildWithAndWithoutItsParents(t *testing.T) {
	child := urn.URN("urn:pulumi:dev::p::t:i:R$t:i:R::c")
	m, err := Move{URNs: []urn.URN{child}, Project: "p", Stack: "other"}.Apply(household(), &Snapshot{})
	require.NoError(t, err)
	require.Equal(t, []string{"p-other", "default", "c"}, names(m.Target))
	require.Equal(t, urn.URN("urn:pulumi:other::p::t:i:R::c"), m.Target.Resources[2].URN,
		"without its parent it belongs to the stack")
	m, err = Move{URNs: []urn.URN{child}, IncludeParents: true, Project: "p", Stack: "other"}.Apply(household(),
		&Snapshot{})
	require.NoError(t, err)
	require.Equal(t, []string{"p-other", "default", "a", "c"}, names(m.Target))
}

// Nothing gets lost in a move: each resource is in one of the two stacks, and each of its references is kept there or
// named in a message. A parent that stays is the resource of that name in the target, if it has one.
func TestMoveLosesNothingSilently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := func(project string) *Resource {
			return &Resource{URN: urn.RootStack("dev", project), Type: urn.RootStackType, Inputs: value.EmptyMap(),
				Outputs: value.EmptyMap()}
		}
		source, target := &Snapshot{Resources: []*Resource{root("p")}}, &Snapshot{Resources: []*Resource{root("q")}}
		var asked []urn.URN
		var providers []string
		for i := range rapid.IntRange(1, 8).Draw(t, "resources") {
			parent := source.Resources[0].URN
			if n := rapid.IntRange(0, i).Draw(t, "parent"); !source.Resources[n].IsProvider() {
				parent = source.Resources[n].URN
			}
			r := &Resource{Type: "t:i:Component", Inputs: value.EmptyMap(), Outputs: value.EmptyMap()}
			switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
			case kind == 0:
				r.Type, r.Custom, r.ID, parent = "pulumi:providers:t", true, "id", source.Resources[0].URN
			case kind == 1 && len(providers) > 0:
				r.Type, r.Custom, r.ID = "t:i:R", true, "id"
				r.Provider = rapid.SampledFrom(providers).Draw(t, "provider")
			}
			r.URN, r.Parent = urn.New("dev", "p", parent, r.Type, fmt.Sprintf("n%d", i)), parent
			for _, other := range source.Resources[1:] {
				if rapid.IntRange(0, 3).Draw(t, "depends") == 0 {
					r.Dependencies = append(r.Dependencies, other.URN)
				}
			}
			if r.IsProvider() {
				providers = append(providers, urn.Reference{URN: r.URN, ID: r.ID}.String())
			}
			source.Resources = append(source.Resources, r)
			if !r.Custom && rapid.IntRange(0, 3).Draw(t, "is there") == 0 {
				target.Resources = append(target.Resources, &Resource{URN: movedURN(r.URN, "q", "dev"), Type: r.Type,
					Parent: target.Resources[0].URN, Inputs: value.EmptyMap(), Outputs: value.EmptyMap()})
			} else if rapid.IntRange(0, 2).Draw(t, "moves") == 0 {
				asked = append(asked, r.URN)
			}
		}
		before := len(target.Resources)
		was := map[urn.URN]*Resource{}
		for _, r := range target.Resources {
			was[r.URN] = r
		}
		m, err := Move{URNs: asked, IncludeParents: rapid.Bool().Draw(t, "parents"), Project: "q", Stack: "dev"}.Apply(source,
			target)
		if err != nil { // a child of a moved resource is there, or a moved provider is needed here
			require.Regexp(t, "already|stays and needs the provider", err)
			return
		}
		require.NoError(t, m.Source.Verify())
		require.NoError(t, m.Target.Verify())
		require.Equal(t, len(source.Resources), len(m.Source.Resources)+len(m.Resources))
		if all := names(m.Target); len(all) > len(slices.Compact(slices.Sorted(slices.Values(all)))) {
			return // a child came below another parent than the one that is there: names do not tell them apart
		}
		of := func(s *Snapshot, name string) *Resource {
			n := slices.IndexFunc(s.Resources, func(r *Resource) bool { return r.URN.Name() == name })
			if n < 0 {
				return nil
			}
			return s.Resources[n]
		}
		check := func(r, now *Resource, s *Snapshot, subject string) {
			for _, dep := range r.Dependencies {
				kept := slices.ContainsFunc(now.Dependencies, func(u urn.URN) bool { return u.Name() == dep.Name() })
				told := slices.ContainsFunc(m.Broken, func(text string) bool {
					return strings.HasPrefix(text, subject+string(r.URN)+" ") && strings.Contains(text, string(dep))
				})
				require.True(t, kept != told, "%s of %s: kept %v, told %v, of %q", dep, r.URN, kept, told, m.Broken)
				require.True(t, !kept || of(s, dep.Name()) != nil)
			}
			if r.Parent == source.Resources[0].URN {
				return
			}
			parent := of(s, r.Parent.Name())
			require.True(t, parent == nil && now.Parent == s.Resources[0].URN || now.Parent == parent.URN, "%s", r.URN)
		}
		for _, r := range source.Resources[1:] {
			if slices.Contains(m.Resources, r.URN) {
				require.NotNil(t, of(m.Target, r.URN.Name()))
				check(r, of(m.Target, r.URN.Name()), m.Target, "")
				continue
			}
			require.NotNil(t, of(m.Source, r.URN.Name()))
			check(r, of(m.Source, r.URN.Name()), m.Source, "")
			if copied := of(m.Target, r.URN.Name()); r.IsProvider() && copied != nil {
				check(r, copied, m.Target, "the copy of ")
			}
		}
		for _, r := range m.Target.Resources[:before] {
			require.Same(t, was[r.URN], r)
		}
	})
}
