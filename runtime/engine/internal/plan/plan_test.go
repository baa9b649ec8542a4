package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/runtime/state/statetest"
)

var u, resource, on = statetest.URN, statetest.Resource, statetest.On

func opsOf(steps []Step) (ops []Op) {
	for _, s := range steps {
		ops = append(ops, s.Op)
	}
	return ops
}

func TestPlan(t *testing.T) {
	goal := resource("a")
	replaced := Diff{Change: true, Replace: true, Keys: []string{"k"}}
	for name, c := range map[string]struct {
		Situation
		want []Op
	}{
		"E4.28 new": {Situation{}, []Op{OpCreate}},
		"E4.30 deleted in a cascade": {Situation{Old: resource("a"), Deleted: &Dependent{}},
			[]Op{OpReplace, OpCreateReplacement}},
		"E4.31 external": {Situation{Old: resource("a", func(r *state.Resource) { r.External = true })},
			[]Op{OpCreateReplacement, OpReplace}},
		"E4.33 same": {Situation{Old: resource("a")}, []Op{OpSame}},
		"E4.34 init errors": {Situation{Old: resource("a", func(r *state.Resource) { r.InitErrors = []string{"x"} })},
			[]Op{OpUpdate}},
		"E4.35 update":               {Situation{Old: resource("a"), Diff: Diff{Change: true}}, []Op{OpUpdate}},
		"E4.37 imported as wanted":   {Situation{Old: resource("a"), Imported: true}, nil},
		"E4.54 create before delete": {Situation{Old: resource("a"), Diff: replaced}, []Op{OpCreateReplacement, OpReplace}},
		"E4.55 delete before create": {Situation{Old: resource("a"), Diff: replaced, DeleteFirst: true,
			Dependents: []Dependent{{Resource: resource("b")}}},
			[]Op{OpDeleteReplaced, OpDeleteReplaced, OpReplace, OpCreateReplacement}},
		"E4.56 pending replacement": {Situation{Old: resource("a", func(r *state.Resource) { r.PendingReplacement = true }),
			DeleteFirst: true}, []Op{OpReplace, OpCreateReplacement}},
		"E4.87 import":             {Situation{Importing: true}, []Op{OpImport}},
		"E4.87 import replacement": {Situation{Old: resource("a"), Importing: true}, []Op{OpImportReplacement, OpReplace}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Goal = goal
			require.Equal(t, c.want, opsOf(Steps(c.Situation)))
		})
	}
}

// E4.120, E4.121: layers from the roots, executed in reverse; a resource alone is deleted late.
func TestLayers(t *testing.T) {
	component := func(r *state.Resource) { r.Custom, r.ID = false, "" }
	child := func(owner string) func(*state.Resource) { return func(r *state.Resource) { r.Parent = u(owner) } }
	resources := []*state.Resource{
		resource("root"), resource("alone"), resource("c", component), resource("inside", child("c"), on("root")),
		resource("after", on("c")), resource("sibling", child("c")),
		resource("old", func(r *state.Resource) { r.Delete = true }), resource("uses-old", on("old")),
	}
	var got [][]string
	for _, layer := range Layers(resources) {
		var names []string
		for _, i := range layer {
			names = append(names, resources[i].URN.Name())
		}
		got = append(got, names)
	}
	require.Equal(t, [][]string{{"after"}, {"inside", "sibling", "uses-old"}, {"root", "alone", "c", "old"}}, got)
}

// E4.80, E4.120: a resource with deletedWith is deleted before all objects of its owner. A cycle through owners pending
// delete does not prevent the deletion.
func TestLayersOfWhatGoesWithPendingDeletes(t *testing.T) {
	pendingDelete := func(r *state.Resource) { r.Delete = true }
	with := func(owner string) func(*state.Resource) { return func(r *state.Resource) { r.DeletedWith = u(owner) } }
	resources := []*state.Resource{resource("goes", with("owner")), resource("user", on("goes")), resource("base"),
		resource("owner", pendingDelete, on("base"))}
	require.Equal(t, [][]int{{1}, {0}, {3}, {2}}, Layers(resources))

	circle := []*state.Resource{resource("one", with("two")), resource("two", with("one")), resource("two", pendingDelete),
		resource("one", pendingDelete, on("two"))}
	n := 0
	for _, layer := range Layers(circle) {
		n += len(layer)
	}
	require.Equal(t, 4, n)
}

// E4.13, E4.14: own URN, declared aliases, then those inherited from a renamed parent.
func TestAliasCandidates(t *testing.T) {
	parent := urn.New("dev", "p", "", "my:index:App", "newapp")
	before := urn.New("dev", "p", "", "my:index:App", "app")
	l := Lineage{"dev", "p", func(x urn.URN) urn.URN {
		if x == parent {
			return before
		}
		return ""
	}}
	own := urn.New("dev", "p", parent, "t:i:Fn", "newapp-fn")
	require.Equal(t, []urn.URN{
		own,
		urn.New("dev", "p", parent, "t:i:Fn", "other"),
		urn.New("dev", "p", "", "t:i:Fn", "newapp-fn"),
		urn.New("dev", "p", before, "t:i:Fn", "app-fn"), // the alias "other" gives a URN that is listed already
	}, l.Candidates(own, parent, []monitor.Alias{{Name: "other"}, {NoParent: true}}))
}

func TestTrigger(t *testing.T) { // E4.84, E9.91
	one, two := value.String("1"), value.String("2")
	require.False(t, triggered(value.Null, one), "adding never replaces")
	require.False(t, triggered(one, value.Null), "removing never replaces")
	require.False(t, triggered(one, one.Secret()), "wrappers do not count")
	require.True(t, triggered(one, two))
	require.True(t, triggered(one, value.Unknown(value.KindString)))
}

func TestReplaceOnChanges(t *testing.T) { // E4.69
	changed := Diff{Change: true, Diffs: []string{"a"},
		Detailed: map[string]provider.PropertyDiff{"a.b[0]": {Kind: provider.DiffUpdate}}}
	for name, c := range map[string]struct {
		paths   []string
		v       Diff
		errors  bool
		replace bool
		keys    []string
	}{
		"key":                     {[]string{"a"}, changed, false, true, []string{"a"}},
		"path":                    {[]string{"a.b"}, changed, false, true, []string{"a"}},
		"wildcard":                {[]string{"*"}, changed, false, true, []string{"a"}},
		"another":                 {[]string{"a.c"}, changed, false, false, nil},
		"no change":               {[]string{"*"}, Diff{}, false, false, nil},
		"no change, init errors":  {[]string{"*"}, Diff{}, true, true, []string{initErrorKey}},
		"init errors, other path": {[]string{"a"}, Diff{}, true, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.v.ReplaceOn(c.paths, c.errors)
			require.Equal(t, c.replace, got.Replace)
			require.Equal(t, c.keys, got.Keys)
		})
	}
	require.Equal(t, provider.DiffUpdate, changed.Detailed["a.b[0]"].Kind, "the provider's answer is not touched")
}

// E4.46: without a Diff of the provider the engine compares inputs and never replaces.
func TestUnknownDiff(t *testing.T) {
	prior := value.MapOf(value.Entry{Key: "v", Value: value.MapOf(value.Entry{Key: "y",
		Value: value.List(value.Int(1), value.Int(2))})})
	news := value.MapOf(value.Entry{Key: "v", Value: value.MapOf(value.Entry{Key: "y",
		Value: value.List(value.Int(1), value.Int(3))})},
		value.Entry{Key: "w", Value: value.Int(1)})
	v := ProviderDiff(provider.DiffResponse{}, prior, news, []string{"w"})
	require.True(t, v.Change)
	require.False(t, v.Replace)
	require.Equal(t, []string{"v"}, v.Diffs)
	require.Equal(t, map[string]provider.PropertyDiff{"v.y[1]": {Kind: provider.DiffUpdate, InputDiff: true}}, v.Detailed)
}

// E4.47, E9.44: a detailed kind alone suffices for a replacement.
func TestDetailedReplace(t *testing.T) {
	v := ProviderDiff(provider.DiffResponse{Changes: provider.DiffSome,
		Detailed: map[string]provider.PropertyDiff{"a.b": {Kind: provider.DiffUpdateReplace}}}, value.EmptyMap(),
		value.EmptyMap(), nil)
	require.True(t, v.Replace)
	require.Equal(t, []string{"a"}, v.Keys)
}

// E4.61: a protected dependant blocks the whole replacement.
func TestCascadeHonoursProtection(t *testing.T) {
	dependent := resource("b", func(r *state.Resource) {
		r.Protect = true
		r.PropertyDependencies = urn.DependenciesOf(map[string][]urn.URN{"x": {u("a")}})
	})
	c := NewCascade(resource("a"), []Candidate{{Resource: dependent}}, false)
	q := c.Next()
	require.Equal(t, []string{"x"}, q.Inputs.Keys())
	c.Answer(q, provider.DiffResponse{Changes: provider.DiffSome, Replaces: []string{"x"}})
	require.Nil(t, c.Next())
	_, err := c.Dependents()
	require.ErrorContains(t, err, "protected")
}

// The provider is not asked about a candidate with a pending replacement: it may be gone from the state as well
// (E4.64).
func TestCascadeAsksNothingOfWhatIsDeletedAlready(t *testing.T) {
	waiting := resource("b", func(r *state.Resource) {
		r.PendingReplacement, r.Protect = true, true
		r.PropertyDependencies = urn.DependenciesOf(map[string][]urn.URN{"x": {u("a")}})
	})
	c := NewCascade(resource("a"), []Candidate{{Resource: waiting}}, false)
	require.Nil(t, c.Next())
	found, err := c.Dependents()
	require.NoError(t, err)
	require.Empty(t, found)
}

// E2.27: an explicit false overrides an inherited value; E2.29: a provider is inherited for its own package only.
func TestInheritance(t *testing.T) {
	yes, no := true, false
	ref := urn.Reference{URN: urn.New("dev", "p", "", "pulumi:providers:test", "q"), ID: "i"}.String()
	parent := &Goal{RegisterRequest: monitor.RegisterRequest{Type: "my:index:Comp", Custom: true, Protect: &yes, RetainOnDelete: &yes,
		DeletedWith: u("z"), Plugin: monitor.Plugin{Provider: ref},
		Providers: map[string]string{"other": "reference"}, IgnoreChanges: []string{"x"}}}
	child := func(typ string, protect *bool) *Goal {
		g := &Goal{RegisterRequest: monitor.RegisterRequest{Type: typ, Custom: true, Protect: protect}}
		g.Inherit(parent)
		return g
	}
	same := child("test:index:Res", nil)
	require.True(t, *same.Protect)
	require.True(t, *same.RetainOnDelete)
	require.Equal(t, u("z"), same.DeletedWith)
	require.Equal(t, ref, same.Provider)
	require.Empty(t, same.IgnoreChanges) // E2.31
	require.False(t, *child("test:index:Res", &no).Protect)
	require.Empty(t, child("third:index:Res", nil).Provider)
	parent.Custom = false
	require.Equal(t, "reference", child("other:index:Res", nil).Provider) // E2.17
	require.Empty(t, child("test:index:Res", nil).Provider, "a component hands on only its providers")
}

func TestSourcePosition(t *testing.T) { // E2.82
	position := func(path string) string {
		return SourcePosition("/srv/app", &monitor.Position{Path: path, Line: 3, Column: 5})
	}
	require.Equal(t, "project:///sub/Pulumi.yaml#3,5", position("/srv/app/sub/Pulumi.yaml"))
	require.Equal(t, "project:///../x.yaml#3,5", position("/srv/x.yaml"))
	require.Empty(t, position("relative.yaml"))
}

// E4.62: of the dependants in a replacement, those pending delete are deleted as such, and those deleted by an earlier
// operation are not deleted again.
func TestDependentsThatAreOnTheirWay(t *testing.T) {
	root := resource("root")
	left := resource("left", on("root"), func(r *state.Resource) { r.Delete, r.DeletedWith = true, u("root") })
	gone := resource("gone", on("root"), func(r *state.Resource) { r.PendingReplacement, r.DeletedWith = true, u("root") })
	c := NewCascade(root, []Candidate{{Resource: left}, {Resource: gone}}, false)
	require.Nil(t, c.Next())
	found, err := c.Dependents()
	require.NoError(t, err)
	chain := Steps(Situation{Old: root, Goal: root, Diff: Diff{Replace: true}, DeleteFirst: true, Dependents: found})
	require.Equal(t, []Op{OpDelete, OpDeleteReplaced, OpReplace, OpCreateReplacement}, opsOf(chain))
	require.Equal(t, u("left"), chain[0].URN)
}
