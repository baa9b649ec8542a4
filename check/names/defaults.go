package names

import (
	"strings"

	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// FindDefaults finds the default provider that the program declares for each package (L7.45–L7.48). It comes before
// packages are loaded, whose versions may be those of the default providers.
func (s *Scope) FindDefaults() {
	for _, n := range s.all {
		if n.Kind != program.ResourceNode || n.Resource.Decl.DefaultProvider == nil {
			continue
		}
		decl := n.Resource.Decl
		pkg, isProvider := strings.CutPrefix(decl.Type.Text(), packages.ProviderPrefix)
		switch {
		case !isProvider:
			if decl.Type != nil {
				s.report.Errorf(diag.UnknownKey, decl.DefaultProvider.Range, "remove it, or make the type pulumi:providers:<package>",
					"defaultProvider is for provider resources only")
			}
		case !decl.DefaultProvider.Value:
		case s.defaults[pkg] != nil:
			first := s.defaults[pkg]
			s.report.Add(diag.Diagnostic{Code: diag.DeclaredTwice, Subject: decl.DefaultProvider.Range,
				Summary: "package " + pkg + " has two default providers, " + first.Name + " and " + n.Name,
				Detail:  "keep defaultProvider on one of them",
				Related: []diag.Related{{Range: first.Range, Message: "the other one is here"}}})
		default:
			s.defaults[pkg] = n
		}
	}
}

// DefaultOptions returns the options of the default provider of each package.
func (s *Scope) DefaultOptions() map[string]*ast.Options {
	all := make(map[string]*ast.Options, len(s.defaults))
	for pkg, n := range s.defaults {
		all[pkg] = &n.Resource.Decl.Options
	}
	return all
}

// linkDefaultProviders makes resources depend on the default provider of their package. The dependencies of a provider
// cannot use that provider: they keep the engine's own default. A provider cannot serve what it is made of: `before`
// holds, for each package, the nodes that its provider needs, by the names in the text alone, since edges to default
// providers are what is being added.
func (l *linker) linkDefaultProviders() {
	if len(l.scope.defaults) == 0 {
		return
	}
	used := make(map[*program.Component]map[string]bool)
	before := make(map[string]map[*program.Node]bool, len(l.scope.defaults))
	for pkg, provider := range l.scope.defaults {
		before[pkg] = make(map[*program.Node]bool)
		program.Reach(provider, before[pkg], true)
	}
	for _, n := range l.scope.all {
		// First, since linkComponent and the lines below add edges that need no such test: they ask `before`
		// themselves.
		n.Needs = l.keepUsable(n, n.Needs, before)
		if n.Kind != program.ResourceNode || n.Resource.Decl.Type == nil {
			continue
		}
		decl := n.Resource.Decl
		if n.Resource.Component != nil {
			l.linkComponent(n, before, used)
			continue
		}
		pkg := packages.Of(decl.Type.Value)
		provider := l.scope.defaults[pkg]
		if provider == nil || provider == n || before[pkg][n] || decl.Options.Provider != nil ||
			packages.IsProvider(decl.Type.Value) {
			continue
		}
		n.Resource.DefaultProvider = provider
		n.Needs = append(n.Needs, program.Edge{To: provider, Range: decl.Type.Range})
	}
	// Nothing depends on an output, and so no provider can need one.
	for _, o := range l.scope.Program.Outputs {
		o.Needs = l.keepUsable(nil, o.Needs, before)
	}
}

// keepUsable drops the edges of calls in nodes that the default provider itself depends on, and records the provider of
// the others.
func (l *linker) keepUsable(n *program.Node, needs []program.Edge,
	before map[string]map[*program.Node]bool) []program.Edge {
	// In place: the slice belongs to the node alone.
	kept := needs[:0]
	for _, edge := range needs {
		if edge.DefaultFor != nil {
			if n != nil && before[packages.Of(packages.Called(edge.DefaultFor).Value)][n] {
				continue
			}
			if l.scope.called == nil {
				l.scope.called = make(map[*ast.Call]*program.Node)
			}
			l.scope.called[edge.DefaultFor] = edge.To
		}
		kept = append(kept, edge)
	}
	return kept
}

// packagesOf returns the packages of the providers that a component's resources and calls need, those inside of
// components that it uses included. The entry is made before its content, so that components that contain each other,
// which is reported, do not recurse forever.
func packagesOf(c *program.Component, known map[*program.Component]map[string]bool) map[string]bool {
	if needs := known[c]; needs != nil {
		return needs
	}
	needs := make(map[string]bool)
	known[c] = needs
	for _, n := range c.Body.Nodes {
		switch {
		case n.Kind != program.ResourceNode || n.Resource.Decl.Type == nil:
		case n.Resource.Component != nil:
			for pkg := range packagesOf(n.Resource.Component, known) {
				needs[pkg] = true
			}
		default:
			needs[packages.Of(n.Resource.Decl.Type.Value)] = true
		}
	}
	for unit := range c.Body.File.Units() {
		for _, token := range packages.Calls(unit) {
			needs[packages.Of(token.Value)] = true
		}
	}
	return needs
}

// linkComponent gives a component the program's default providers for its resources (L7.45).
func (l *linker) linkComponent(n *program.Node, before map[string]map[*program.Node]bool,
	used map[*program.Component]map[string]bool) {
	needs := packagesOf(n.Resource.Component, used)
	for _, provider := range l.scope.all {
		if provider.Kind != program.ResourceNode || provider.Resource.Decl.DefaultProvider == nil {
			continue
		}
		pkg := packages.Of(provider.Resource.Decl.Type.Text())
		if l.scope.defaults[pkg] != provider || !needs[pkg] || before[pkg][n] {
			continue
		}
		n.Resource.DefaultProviders = append(n.Resource.DefaultProviders, provider)
		n.Needs = append(n.Needs, program.Edge{To: provider, Range: n.Resource.Decl.Type.Range})
	}
}
