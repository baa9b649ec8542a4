package engine

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// What is wrong with a request itself, each by its rule.
func TestGoalsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		request monitor.RegisterRequest
		says    string
	}{
		"E2.9 parent":          {monitor.RegisterRequest{Type: "a:b:C", Name: "n", Parent: "nonsense"}, "is not a URN"},
		"E2.11 custom type":    {monitor.RegisterRequest{Type: "C", Name: "n", Custom: true}, "is no resource type"},
		"E2.12 environment":    {monitor.RegisterRequest{Type: "a:b:C", Name: "n", Custom: true, EnvVarMappings: map[string]string{"A": "B"}}, "which a:b:C is not"},
		"E2.16 dependency":     {monitor.RegisterRequest{Type: "a:b:C", Name: "n", Dependencies: []urn.URN{"nonsense"}}, "is not a URN"},
		"E2.23 timeout":        {monitor.RegisterRequest{Type: "a:b:C", Name: "n", CustomTimeouts: monitor.Timeouts{Delete: "soon"}}, "is not a duration"},
		"E1.5 a resource name": {monitor.RegisterRequest{Type: "a:b:C"}, "has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newGoal(c.request, "/srv")
			require.ErrorContains(t, err, c.says)
		})
	}
	_, err := newGoal(monitor.RegisterRequest{Type: "C", Name: "n"}, "/srv")
	require.NoError(t, err, "E2.11: a component may have any type")
}

// E1.48, E1.49: dependencies by property.
func TestPropertyDependencies(t *testing.T) {
	a, b := u("a"), u("b")
	inputs := value.MapOf(value.Entry{Key: "x", Value: value.String("1")}, value.Entry{Key: "y", Value: value.String("2").DependingOn(b)})
	g, err := newGoal(monitor.RegisterRequest{Type: "a:b:C", Name: "n", Inputs: inputs, Dependencies: []urn.URN{a}}, "")
	require.NoError(t, err)
	require.Equal(t, map[string][]urn.URN{"x": {a}, "y": {a, b}}, g.PropertyDependencies, "E1.48: none sent, all for each; E1.49: and those of values")
	g, err = newGoal(monitor.RegisterRequest{Type: "a:b:C", Name: "n", Inputs: inputs, Dependencies: []urn.URN{a},
		PropertyDependencies: map[string][]urn.URN{"x": {}}}, "")
	require.NoError(t, err)
	require.Equal(t, map[string][]urn.URN{"x": {}, "y": {b}}, g.PropertyDependencies, "E1.48, E9.84: one sent, taken to the letter")
	require.Equal(t, []urn.URN{a}, g.Dependencies, "E1.49: without transforms they are not merged")
	require.False(t, g.Inputs.Any(func(v value.Value) bool { return len(v.Deps()) > 0 }), "E2.24: they live in the maps only")
}

// E2.26–E2.32: what a child has from its parent.
func TestInheritanceOfOptions(t *testing.T) {
	yes, no := true, false
	provider := "urn:pulumi:dev::p::pulumi:providers:t::x::id"
	parent := &goal{RegisterRequest: monitor.RegisterRequest{Type: "my:c:C", Protect: &yes, RetainOnDelete: &yes, DeletedWith: u("d"),
		Provider: provider, Providers: map[string]string{"o": "ref"}, IgnoreChanges: []string{"a"}}}
	child := func(r monitor.RegisterRequest, parent *goal) *goal {
		g := &goal{RegisterRequest: r}
		g.inherit(parent)
		g.inheritProviders(parent)
		return g
	}
	g := child(monitor.RegisterRequest{Type: "t:i:R", Custom: true}, parent)
	require.True(t, *g.Protect, "E2.27")
	require.True(t, *g.RetainOnDelete, "E2.28")
	require.Equal(t, u("d"), g.DeletedWith, "E2.26")
	require.Equal(t, provider, g.Provider, "E2.29: of the same package")
	require.Empty(t, g.IgnoreChanges, "E2.31: nothing else")
	g = child(monitor.RegisterRequest{Type: "t:i:R", Custom: true, Protect: &no, RetainOnDelete: &no, DeletedWith: u("e")}, parent)
	require.False(t, *g.Protect, "E2.27")
	require.False(t, *g.RetainOnDelete, "E2.28")
	require.Equal(t, u("e"), g.DeletedWith, "E2.26")
	require.Equal(t, "ref", child(monitor.RegisterRequest{Type: "o:i:R", Custom: true}, parent).Provider, "E2.17")
	component := child(monitor.RegisterRequest{Type: "my:c:D", Providers: map[string]string{"q": "own"}}, parent)
	require.Equal(t, map[string]string{"o": "ref", "q": "own"}, component.Providers, "E2.19")
	custom := &goal{RegisterRequest: monitor.RegisterRequest{Type: "t:i:R", Custom: true, Providers: map[string]string{"o": "ref"}}}
	require.Empty(t, child(monitor.RegisterRequest{Type: "o:i:R", Custom: true}, custom).Provider, "E2.32: not through a custom resource")
}

// E6.24–E6.28, E9.98: when resources were made and changed, as the state keeps it.
func TestTimes(t *testing.T) {
	w := newWorld()
	run := func(refresh bool, program string) map[string][2]time.Time {
		o, _ := w.options(1, false)
		var result *Result
		var err error
		if refresh {
			result, err = Refresh(t.Context(), o, nil)
		} else {
			result, err = Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error { return runScript(ctx, m, program) })
		}
		require.NoError(t, err)
		require.False(t, result.Failed)
		w.state = result.Snapshot
		times := map[string][2]time.Time{}
		for _, r := range w.state.Resources {
			var at [2]time.Time
			if r.Created != nil {
				at[0] = *r.Created
			}
			if r.Modified != nil {
				at[1] = *r.Modified
			}
			times[r.URN.Name()] = at
		}
		return times
	}
	w.cloud.objects["x"] = value.MapOf(value.Entry{Key: "v", Value: value.String("1")})
	first := run(false, "res a v=1\ncomp c x=1\nget g id=x v=1\nres b v=1")
	require.Equal(t, first["a"][0], first["a"][1], "E6.24")
	require.False(t, first["a"][0].IsZero(), "E6.24")
	require.True(t, first["g"][0].IsZero(), "E6.27: a read does not make anything")
	second := run(false, "res a v=2\ncomp c x=2\nget g id=x v=1\nres b v=1")
	require.Equal(t, first["a"][0], second["a"][0], "E6.25")
	require.True(t, second["a"][1].After(first["a"][1]), "E6.25")
	require.Equal(t, first["c"], second["c"], "E6.26: an updated component")
	require.Equal(t, first["b"], second["b"], "E6.26: what is the same")
	require.Equal(t, first["g"], second["g"], "E6.27: a read that finds the same")
	require.Equal(t, second, run(true, ""), "E6.28: a refresh that finds the same")
	w.cloud.objects["a-1"] = w.cloud.objects["a-1"].With("v", value.String("9"))
	third := run(true, "")
	require.True(t, third["a"][1].After(second["a"][1]), "E6.28")
	require.Equal(t, second["a"][0], third["a"][0], "E6.28")
	fourth := run(false, "res a repl=1\ncomp c x=2\nget g id=x\nres b v=1")
	require.True(t, fourth["a"][0].After(third["a"][0]), "E6.29: a replacement is made anew")
}

// E6.52: a state in which two resources have one name is refused before anything happens; one of them left to delete is fine.
func TestDuplicatesInTheState(t *testing.T) {
	twice := &state.Snapshot{Resources: []*state.Resource{resource("a"), resource("a")}}
	require.ErrorContains(t, noDuplicates(twice), "unexpected duplicate resource")
	w := newWorld()
	o, _ := w.options(1, true)
	o.Base = twice
	_, err := Refresh(t.Context(), o, nil)
	require.Error(t, err)
	require.NoError(t, noDuplicates(&state.Snapshot{Resources: []*state.Resource{resource("a"),
		resource("a", func(r *state.Resource) { r.Delete = true })}}))
}

// E8.5: what counts as a change.
func TestHasChanges(t *testing.T) {
	for op, changes := range map[Op]bool{OpSame: false, OpRead: false, OpReadReplacement: false, OpDiscard: false, OpCreate: true, OpUpdate: true,
		OpDelete: true, OpReplace: true, OpImport: true} {
		require.Equal(t, changes, (&Result{Changes: map[Op]int{op: 1}}).HasChanges(), op)
	}
}

// E4.9, E9.4: all checks of one resource in one operation have one seed.
func TestSeedIsTheSameForEachCheck(t *testing.T) {
	w := newWorld()
	seeds := map[string]bool{}
	checks := 0
	w.cloud.checked = func(name string, seed []byte) {
		if name == "a" {
			checks++
			seeds[string(seed)] = true
		}
	}
	run := func(program string) {
		o, _ := w.options(1, false)
		n := byte(0)
		o.Seed = func() []byte { n++; return []byte{n} }
		result, err := Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error { return runScript(ctx, m, program) })
		require.NoError(t, err)
		w.state = result.Snapshot
	}
	run("res a repl=1")
	clear(seeds)
	checks = 0
	run("res a repl=2")
	require.Equal(t, 2, checks, "a replacement is checked twice")
	require.Len(t, seeds, 1)
}
