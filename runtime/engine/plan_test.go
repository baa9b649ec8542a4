package engine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

func u(name string) urn.URN { return urn.New("dev", "p", "", "test:index:Res", name) }

func resource(name string, edit ...func(*state.Resource)) *state.Resource {
	r := &state.Resource{URN: u(name), Type: "test:index:Res", Custom: true, ID: name}
	for _, e := range edit {
		e(r)
	}
	return r
}

func on(names ...string) func(*state.Resource) {
	return func(r *state.Resource) {
		for _, name := range names {
			r.Dependencies = append(r.Dependencies, u(name))
		}
	}
}

func opsOf(steps []Step) (ops []Op) {
	for _, s := range steps {
		ops = append(ops, s.Op)
	}
	return ops
}

func TestPlan(t *testing.T) {
	goal := resource("a")
	replaced := verdict{change: true, replace: true, keys: []string{"k"}}
	for name, c := range map[string]struct {
		situation
		want []Op
	}{
		"E4.28 new":                  {situation{}, []Op{OpCreate}},
		"E4.30 deleted in a cascade": {situation{old: resource("a"), deleted: &dependent{}}, []Op{OpReplace, OpCreateReplacement}},
		"E4.31 external": {situation{old: resource("a", func(r *state.Resource) { r.External = true })},
			[]Op{OpCreateReplacement, OpReplace}},
		"E4.33 same": {situation{old: resource("a")}, []Op{OpSame}},
		"E4.34 init errors": {situation{old: resource("a", func(r *state.Resource) { r.InitErrors = []string{"x"} })},
			[]Op{OpUpdate}},
		"E4.35 update":               {situation{old: resource("a"), verdict: verdict{change: true}}, []Op{OpUpdate}},
		"E4.37 imported as wanted":   {situation{old: resource("a"), imported: true}, nil},
		"E4.54 create before delete": {situation{old: resource("a"), verdict: replaced}, []Op{OpCreateReplacement, OpReplace}},
		"E4.55 delete before create": {situation{old: resource("a"), verdict: replaced, before: true,
			dependents: []dependent{{resource: resource("b")}}},
			[]Op{OpDeleteReplaced, OpDeleteReplaced, OpReplace, OpCreateReplacement}},
		"E4.56 pending replacement": {situation{old: resource("a", func(r *state.Resource) { r.PendingReplacement = true }), before: true},
			[]Op{OpReplace, OpCreateReplacement}},
		"E4.87 import":             {situation{importing: true}, []Op{OpImport}},
		"E4.87 import replacement": {situation{old: resource("a"), importing: true}, []Op{OpImportReplacement, OpReplace}},
	} {
		t.Run(name, func(t *testing.T) {
			c.goal = goal
			require.Equal(t, c.want, opsOf(plan(c.situation)))
		})
	}
}

// E4.120, E4.121: layers from the roots, executed in reverse; a resource alone is deleted late.
func TestLayers(t *testing.T) {
	component := func(r *state.Resource) { r.Custom, r.ID = false, "" }
	child := func(of string) func(*state.Resource) { return func(r *state.Resource) { r.Parent = u(of) } }
	resources := []*state.Resource{
		resource("root"), resource("alone"), resource("c", component), resource("inside", child("c"), on("root")),
		resource("after", on("c")), resource("sibling", child("c")),
		resource("old", func(r *state.Resource) { r.Delete = true }), resource("uses-old", on("old")),
	}
	var got [][]string
	for _, layer := range layers(resources) {
		var names []string
		for _, i := range layer {
			names = append(names, resources[i].URN.Name())
		}
		got = append(got, names)
	}
	require.Equal(t, [][]string{{"after"}, {"inside", "sibling", "uses-old"}, {"root", "alone", "c", "old"}}, got)
}

// E4.80, E4.120: what goes with another resource is deleted before anything of that one's, whatever depends on it before that;
// those that go with each other's leftovers go at all.
func TestLayersOfWhatGoesWithLeftovers(t *testing.T) {
	doomed := func(r *state.Resource) { r.Delete = true }
	with := func(of string) func(*state.Resource) { return func(r *state.Resource) { r.DeletedWith = u(of) } }
	resources := []*state.Resource{resource("goes", with("owner")), resource("user", on("goes")), resource("base"),
		resource("owner", doomed, on("base"))}
	require.Equal(t, [][]int{{1}, {0}, {3}, {2}}, layers(resources))

	circle := []*state.Resource{resource("one", with("two")), resource("two", with("one")), resource("two", doomed), resource("one", doomed, on("two"))}
	n := 0
	for _, layer := range layers(circle) {
		n += len(layer)
	}
	require.Equal(t, 4, n)
}

// E4.13, E4.14: own name, declared aliases, then what a renamed parent hands down.
func TestAliasCandidates(t *testing.T) {
	parent := urn.New("dev", "p", "", "my:index:App", "newapp")
	before := urn.New("dev", "p", "", "my:index:App", "app")
	l := lineage{"dev", "p", func(x urn.URN) urn.URN {
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
		urn.New("dev", "p", before, "t:i:Fn", "app-fn"), // that of the alias "other" is there already
	}, l.candidates(own, parent, []monitor.Alias{{Name: "other"}, {NoParent: true}}))
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
	changed := verdict{change: true, diffs: []string{"a"}, detailed: map[string]provider.PropertyDiff{"a.b[0]": {Kind: provider.DiffUpdate}}}
	for name, c := range map[string]struct {
		paths   []string
		v       verdict
		errors  bool
		replace bool
		keys    []string
	}{
		"key":                     {[]string{"a"}, changed, false, true, []string{"a"}},
		"path":                    {[]string{"a.b"}, changed, false, true, []string{"a"}},
		"wildcard":                {[]string{"*"}, changed, false, true, []string{"a"}},
		"another":                 {[]string{"a.c"}, changed, false, false, nil},
		"no change":               {[]string{"*"}, verdict{}, false, false, nil},
		"no change, init errors":  {[]string{"*"}, verdict{}, true, true, []string{initErrorKey}},
		"init errors, other path": {[]string{"a"}, verdict{}, true, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := replacingOn(c.v, c.paths, c.errors)
			require.Equal(t, c.replace, got.replace)
			require.Equal(t, c.keys, got.keys)
		})
	}
	require.Equal(t, provider.DiffUpdate, changed.detailed["a.b[0]"].Kind, "the provider's answer is not touched")
}

// E4.46: without a verdict of the provider the engine compares inputs and never replaces.
func TestUnknownDiff(t *testing.T) {
	olds := value.MapOf(value.Entry{Key: "v", Value: value.MapOf(value.Entry{Key: "y", Value: value.List(value.Int(1), value.Int(2))})})
	news := value.MapOf(value.Entry{Key: "v", Value: value.MapOf(value.Entry{Key: "y", Value: value.List(value.Int(1), value.Int(3))})},
		value.Entry{Key: "w", Value: value.Int(1)})
	v := providerVerdict(provider.DiffResponse{}, olds, news, []string{"w"})
	require.True(t, v.change)
	require.False(t, v.replace)
	require.Equal(t, []string{"v"}, v.diffs)
	require.Equal(t, map[string]provider.PropertyDiff{"v.y[1]": {Kind: provider.DiffUpdate, InputDiff: true}}, v.detailed)
}

// E4.47, E9.44: a detailed kind alone makes a replacement.
func TestDetailedReplace(t *testing.T) {
	v := providerVerdict(provider.DiffResponse{Changes: provider.DiffSome,
		Detailed: map[string]provider.PropertyDiff{"a.b": {Kind: provider.DiffUpdateReplace}}}, value.EmptyMap(), value.EmptyMap(), nil)
	require.True(t, v.replace)
	require.Equal(t, []string{"a"}, v.keys)
}

// E4.61: a protected dependent blocks the whole replacement.
func TestCascadeHonoursProtection(t *testing.T) {
	dependent := resource("b", func(r *state.Resource) {
		r.Protect = true
		r.PropertyDependencies = map[string][]urn.URN{"x": {u("a")}}
	})
	_, err := cascade(resource("a"), []*state.Resource{dependent}, func(*state.Resource) bool { return false }, false,
		func(*state.Resource) (verdict, bool) { return verdict{}, false },
		func(*state.Resource, []string) (bool, []string, error) { return true, []string{"x"}, nil })
	require.ErrorContains(t, err, "protected")
}

// E6.36–E6.39: what is gone is named by nobody, and lists that were empty stay as they were.
func TestRebuildAfterRefresh(t *testing.T) {
	a, b := resource("a"), resource("b", on("a"), func(r *state.Resource) {
		r.Parent, r.DeletedWith = u("a"), u("a")
		r.PropertyDependencies = map[string][]urn.URN{"x": {u("a")}, "empty": {}, "later": {u("c")}}
	})
	c := resource("c")
	got := rebuild([]*state.Resource{a, b, c}, []*state.Resource{nil, b, c})
	require.Nil(t, got[0])
	require.Same(t, c, got[2])
	require.Empty(t, got[1].Parent)
	require.Empty(t, got[1].DeletedWith)
	require.Empty(t, got[1].Dependencies)
	require.Equal(t, map[string][]urn.URN{"empty": {}}, got[1].PropertyDependencies)
	require.Equal(t, u("a"), b.Parent, "the old state is not touched")
}

// E2.27: an explicit false goes over what is inherited; E2.29: a provider is inherited for its own package only.
func TestInheritance(t *testing.T) {
	yes, no := true, false
	ref := urn.Reference{URN: urn.New("dev", "p", "", "pulumi:providers:test", "q"), ID: "i"}.String()
	parent := &goal{RegisterRequest: monitor.RegisterRequest{Type: "my:index:Comp", Protect: &yes, RetainOnDelete: &yes, DeletedWith: u("z"),
		Provider: ref, Providers: map[string]string{"other": "reference"}, IgnoreChanges: []string{"x"}}}
	child := func(typ string, protect *bool) *goal {
		g := &goal{RegisterRequest: monitor.RegisterRequest{Type: typ, Custom: true, Protect: protect}}
		g.inherit(parent)
		return g
	}
	same := child("test:index:Res", nil)
	require.True(t, *same.Protect)
	require.True(t, *same.RetainOnDelete)
	require.Equal(t, u("z"), same.DeletedWith)
	require.Equal(t, ref, same.Provider)
	require.Empty(t, same.IgnoreChanges) // E2.31
	require.False(t, *child("test:index:Res", &no).Protect)
	require.Equal(t, "reference", child("other:index:Res", nil).Provider) // E2.17
	require.Empty(t, child("third:index:Res", nil).Provider)
}

func TestDefaultProviderName(t *testing.T) { // E3.30
	require.Equal(t, "default", defaultName("", ""))
	require.Equal(t, "default_1_2_3_alpha_1", defaultName("1.2.3-alpha.1", ""))
	require.Equal(t, "default_1_0_0_https___example_com_x", defaultName("1.0.0", "https://example.com/x"))
}

// E3.21, E3.22: what goes into a provider's inputs comes out of them.
func TestPackageOfProviderInputs(t *testing.T) {
	p := monitor.Package{Name: "base", Version: "2.0.0", DownloadURL: "u", Checksums: map[string][]byte{"linux-amd64": {1, 2}},
		Parameterization: &monitor.Parameterization{Name: "made", Version: "1.0.0", Value: []byte("x")}}
	inputs := withPackage(value.EmptyMap(), p, map[string]string{"NEW": "OLD"})
	require.Equal(t, provider.Package{Name: "base", Version: "2.0.0", DownloadURL: "u", Checksums: p.Checksums,
		Parameterization: &provider.Parameterization{Name: "made", Version: "1.0.0", Value: []byte("x")},
		EnvVarMappings:   map[string]string{"NEW": "OLD"}}, packageOf("made", inputs))
	require.False(t, withoutInternal(inputs).Has(internalKey))
	require.True(t, slices.Equal([]string{versionKey}, withoutInternal(inputs).Keys()))
}

func TestSourcePosition(t *testing.T) { // E2.82
	at := func(path string) string {
		return sourcePosition("/srv/app", &monitor.Position{Path: path, Line: 3, Column: 5})
	}
	require.Equal(t, "project:///sub/Pulumi.yaml#3,5", at("/srv/app/sub/Pulumi.yaml"))
	require.Equal(t, "project:///../x.yaml#3,5", at("/srv/x.yaml"))
	require.Empty(t, at("relative.yaml"))
}
