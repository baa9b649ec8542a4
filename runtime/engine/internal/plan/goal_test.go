package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Invalid requests, each with its rule.
func TestGoalsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		request monitor.RegisterRequest
		says    string
	}{
		"E2.9 parent":       {monitor.RegisterRequest{Type: "a:b:C", Name: "n", Parent: "nonsense"}, "is not a URN"},
		"E2.11 custom type": {monitor.RegisterRequest{Type: "C", Name: "n", Custom: true}, "is not a resource type"},
		"E2.12 environment": {monitor.RegisterRequest{Type: "a:b:C", Name: "n", Custom: true,
			EnvVarMappings: map[string]string{"A": "B"}}, "which a:b:C is not"},
		"E2.16 dependency": {monitor.RegisterRequest{Type: "a:b:C", Name: "n", Dependencies: []urn.URN{"nonsense"}},
			"is not a URN"},
		"E2.23 timeout": {monitor.RegisterRequest{Type: "a:b:C", Name: "n",
			CustomTimeouts: monitor.Timeouts{Delete: "soon"}}, "is not a duration"},
		"E1.5 a resource name": {monitor.RegisterRequest{Type: "a:b:C"}, "has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewGoal(c.request, "/srv")
			require.ErrorContains(t, err, c.says)
		})
	}
	_, err := NewGoal(monitor.RegisterRequest{Type: "C", Name: "n"}, "/srv")
	require.NoError(t, err, "E2.11: a component may have any type")
}

// E1.48, E1.49: dependencies by property.
func TestPropertyDependencies(t *testing.T) {
	a, b := u("a"), u("b")
	inputs := value.MapOf(value.Entry{Key: "x", Value: value.String("1")},
		value.Entry{Key: "y", Value: value.String("2").DependingOn(b)})
	g, err := NewGoal(monitor.RegisterRequest{Type: "a:b:C", Name: "n", Inputs: inputs, Dependencies: []urn.URN{a}}, "")
	require.NoError(t, err)
	require.Equal(t, map[string][]urn.URN{"x": {a}, "y": {a, b}}, g.PropertyDependencies.Map(),
		"E1.48: none sent, all for each; E1.49: and those of values")
	g, err = NewGoal(monitor.RegisterRequest{Type: "a:b:C", Name: "n", Inputs: inputs, Dependencies: []urn.URN{a},
		PropertyDependencies: urn.DependenciesOf(map[string][]urn.URN{"x": {}})}, "")
	require.NoError(t, err)
	require.Equal(t, map[string][]urn.URN{"x": {}, "y": {b}}, g.PropertyDependencies.Map(),
		"E1.48, E9.84: one sent, taken to the letter")
	require.Equal(t, []urn.URN{a}, g.Dependencies, "E1.49: without transforms they are not merged")
	require.False(t, g.Inputs.Any(func(v value.Value) bool { return len(v.Deps()) > 0 }),
		"E2.24: they live in the maps only")
}

// E2.26–E2.32: the options that a child inherits.
func TestInheritanceOfOptions(t *testing.T) {
	yes, no := true, false
	provider := "urn:pulumi:dev::p::pulumi:providers:t::x::id"
	parent := &Goal{RegisterRequest: monitor.RegisterRequest{Type: "my:c:C", Protect: &yes, RetainOnDelete: &yes,
		DeletedWith: u("d"), Plugin: monitor.Plugin{Provider: provider}, Providers: map[string]string{"o": "ref"},
		IgnoreChanges: []string{"a"}}}
	child := func(r monitor.RegisterRequest, parent *Goal) *Goal {
		g := &Goal{RegisterRequest: r}
		g.Inherit(parent)
		g.InheritProviders(parent)
		return g
	}
	g := child(monitor.RegisterRequest{Type: "t:i:R", Custom: true}, parent)
	require.True(t, *g.Protect, "E2.27")
	require.True(t, *g.RetainOnDelete, "E2.28")
	require.Equal(t, u("d"), g.DeletedWith, "E2.26")
	require.Empty(t, g.Provider, "E2.29: a component does not hand on a provider")
	above := &Goal{RegisterRequest: monitor.RegisterRequest{Type: "t:i:R", Custom: true,
		Plugin: monitor.Plugin{Provider: provider}}}
	require.Equal(t, provider, child(monitor.RegisterRequest{Type: "t:i:R", Custom: true}, above).Provider,
		"E2.29: of the same package")
	below := child(monitor.RegisterRequest{Type: "t:c:C"}, above)
	require.Equal(t, provider, below.Provider, "E2.29: a local component, for transforms to see")
	require.Empty(t, child(monitor.RegisterRequest{Type: "t:i:R", Custom: true}, below).Provider,
		"E2.29: and no further: a component of a plugin has children of its own choice")
	require.Empty(t, g.IgnoreChanges, "E2.31: nothing else")
	g = child(monitor.RegisterRequest{Type: "t:i:R", Custom: true, Protect: &no, RetainOnDelete: &no, DeletedWith: u("e")},
		parent)
	require.False(t, *g.Protect, "E2.27")
	require.False(t, *g.RetainOnDelete, "E2.28")
	require.Equal(t, u("e"), g.DeletedWith, "E2.26")
	require.Equal(t, "ref", child(monitor.RegisterRequest{Type: "o:i:R", Custom: true}, parent).Provider, "E2.17")
	component := child(monitor.RegisterRequest{Type: "my:c:D", Providers: map[string]string{"q": "own"}}, parent)
	require.Equal(t, map[string]string{"o": "ref", "q": "own"}, component.Providers, "E2.19")
	custom := &Goal{RegisterRequest: monitor.RegisterRequest{Type: "t:i:R", Custom: true,
		Providers: map[string]string{"o": "ref"}}}
	require.Empty(t, child(monitor.RegisterRequest{Type: "o:i:R", Custom: true}, custom).Provider,
		"E2.32: not through a custom resource")
}
