package check

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// linker resolves the names in a body and finds the dependencies of its nodes.
type linker struct {
	scope
	program  *Program
	defaults map[string]*Node // the default provider of each package
	edges    pieces[Edge]
	earlier  []*Node // the declared nodes of an earlier check with the same names

	argTypes  map[*ast.Access]schema.Type // of args in hooks and transforms, and of the names in policies
	eachTaken bool                        // it has been reported that the program has another use for the name
}

// link resolves every name and finds the dependencies of each node (L9.1) in all of its expressions.
func (c *linker) link() {
	c.linkHooks()
	c.linkTransforms()
	c.linkPolicies()
	for _, m := range c.file.Messages {
		c.linkUnit(nil, new([]Edge), m.Unit)
	}
	for i := 0; i < len(c.all); i++ { // resolving appends undeclared configuration
		if c.ctx.Err() != nil {
			return
		}
		n := c.all[i]
		switch n.Kind {
		case ConfigNode:
			if decl := n.Config.Decl; decl != nil {
				c.linkUnit(n, &n.Needs, decl.Unit)
			}
		case VariableNode:
			c.linkUnit(n, &n.Needs, n.Variable.Unit)
		case ResourceNode:
			c.linkResource(n)
			c.linkHooksOf(n)
		}
	}
	for _, o := range c.program.Outputs {
		c.linkUnit(nil, &o.Needs, o.Decl.Unit)
	}
	if c.file.Unit != nil {
		c.linkUnit(nil, new([]Edge), c.file.Unit)
	}
	c.remarks.undeclared.Add(c.loose.Attempt(c.reportUndeclared)...)
	c.reportSlips()
	c.linkDefaultProviders()
	c.linkMatched()
	c.linkGuarded()
}

// number creates the record of a declaration. Expressions that were not read from a text get a unit.
func (c *linker) number(unit **ast.Unit, exprs ...ast.Expr) *record {
	if *unit == nil {
		*unit = ast.NewUnit(exprs...)
	}
	return c.enter(*unit)
}

// numbered creates the record of a declaration; number gives its expressions a unit.
func (c *linker) numbered(unit **ast.Unit, number func()) *record {
	if *unit == nil {
		number()
	}
	return c.enter(*unit)
}

// surroundings are the additional names that the expressions of a declaration may use, from a slot on.
type surroundings struct {
	from int
	each *Node       // the resource whose instance `each` is; nil if there is none
	args schema.Type // of `args`; nil without it
	// names are the types of the names that exist only in policies.
	names map[string]schema.Type
}

// linkUnit resolves the names in the expressions of a declaration, and records its dependencies. around are its
// surroundings in the order of slots.
func (c *linker) linkUnit(n *Node, needs *[]Edge, unit *ast.Unit, around ...surroundings) {
	var here surroundings
	if len(around) == 0 && c.relink(n, unit) {
		return
	}
	record, calls := c.records.of(unit), unit.Calls
	if len(c.defaults) == 0 {
		calls = nil
	}
	if n := len(unit.Accesses); n > 0 && *needs == nil {
		*needs = make([]Edge, 0, n)
	}
	keys := c.calledKeys(unit)
	for i, e := range unit.Accesses {
		_, slot := ast.Slot(e)
		calls = c.linkCalls(n, needs, calls, slot)
		ref := Ref{Kind: RefBad}
		for len(around) > 0 && around[0].from <= slot {
			here, around = around[0], around[1:]
		}
		if _, ofPolicy := here.names[e.Root.Value]; ofPolicy || !keys[e] && !c.prefixed(e) {
			ref = c.resolveIn(n, e.Root, here)
		}
		record.refs[i] = ref
		if ref.Kind == RefArgs || ref.Kind == RefPolicy {
			if c.argTypes == nil {
				c.argTypes = make(map[*ast.Access]schema.Type)
			}
			if c.argTypes[e] = here.args; ref.Kind == RefPolicy {
				c.argTypes[e] = here.names[e.Root.Value]
			}
		}
		if ref.Kind == RefNode {
			c.uses[ref.Node.place]++
			*needs = append(*needs, Edge{To: ref.Node, Range: e.Root.Range})
		}
	}
	c.linkCalls(n, needs, calls, unit.Size)
}

// calledKeys returns the undeclared names that are arguments of a call of something that is not a function: then the
// call is the fault, and the name is meant as a key.
func (c *linker) calledKeys(unit *ast.Unit) (keys map[*ast.Access]bool) {
	for _, call := range unit.Calls {
		if call.Argument != nil || len(call.Args) != 1 || c.lookup(call.Name.Value) == nil || isFunction(call.Name.Value) {
			continue
		}
		if access, ok := call.Args[0].(*ast.Access); ok && len(access.Steps) == 0 && c.lookup(access.Root.Value) == nil {
			if keys == nil {
				keys = map[*ast.Access]bool{}
			}
			keys[access] = true
		}
	}
	return keys
}

// linkCalls adds the default providers of the calls before a slot to a node's dependencies, and returns the remaining
// calls.
func (c *linker) linkCalls(n *Node, needs *[]Edge, calls []*ast.Call, before int) []*ast.Call {
	for len(calls) > 0 {
		e := calls[0]
		if _, slot := ast.Slot(e); slot > before {
			break
		}
		if token := invokedToken(e); token != nil && !hasExplicitProvider(e) {
			if p := c.defaults[packageOf(token.Value)]; p != nil && p != n {
				*needs = append(*needs, Edge{To: p, Range: token.Range, byDefault: e})
			}
		}
		calls = calls[1:]
	}
	return calls
}

// findDefaultProviders finds the default provider that the program declares for each package (L7.45–L7.48).
func (c *linker) findDefaultProviders() {
	for _, n := range c.all {
		if n.Kind != ResourceNode || n.Resource.Decl.DefaultProvider == nil {
			continue
		}
		decl := n.Resource.Decl
		pkg, isProvider := strings.CutPrefix(decl.Type.Text(), providerPrefix)
		switch {
		case !isProvider:
			if decl.Type != nil {
				c.loose.Errorf(diag.UnknownKey, decl.DefaultProvider.Range, "remove it, or make the type pulumi:providers:<package>",
					"defaultProvider is for provider resources only")
			}
		case !decl.DefaultProvider.Value:
		case c.defaults[pkg] != nil:
			first := c.defaults[pkg]
			c.loose.Add(diag.Diagnostic{Code: diag.DeclaredTwice, Subject: decl.DefaultProvider.Range,
				Summary: "package " + pkg + " has two default providers, " + first.Name + " and " + n.Name,
				Detail:  "keep defaultProvider on one of them",
				Related: []diag.Related{{Range: first.Range, Message: "the other one is here"}}})
		default:
			c.defaults[pkg] = n
		}
	}
}

const providerPrefix = "pulumi:providers:"

// packageOf returns the package of the provider that a token needs.
func packageOf(token string) string { return urn.PackageOf(token) }

// linkDefaultProviders makes resources depend on the default provider of their package. The dependencies of a provider
// cannot use that provider: they keep the engine's own default.
func (c *linker) linkDefaultProviders() {
	if len(c.defaults) == 0 {
		return
	}
	before := make(map[string]map[*Node]bool, len(c.defaults))
	for pkg, provider := range c.defaults {
		before[pkg] = make(map[*Node]bool)
		reach(provider, before[pkg], true)
	}
	for _, n := range c.all {
		n.Needs = c.keepUsable(n, n.Needs, before)
		if n.Kind != ResourceNode || n.Resource.Decl.Type == nil {
			continue
		}
		decl := n.Resource.Decl
		if n.Resource.Component != nil {
			c.linkComponent(n, before)
			continue
		}
		pkg := packageOf(decl.Type.Value)
		provider := c.defaults[pkg]
		if provider == nil || provider == n || before[pkg][n] || decl.Options.Provider != nil ||
			isProviderToken(decl.Type.Value) {
			continue
		}
		n.Resource.DefaultProvider = provider
		n.Needs = append(n.Needs, Edge{To: provider, Range: decl.Type.Range})
	}
	for _, o := range c.program.Outputs {
		o.Needs = c.keepUsable(nil, o.Needs, before)
	}
}

// keepUsable drops the edges of calls in nodes that the default provider itself depends on, and records the provider of
// the others.
func (c *linker) keepUsable(n *Node, needs []Edge, before map[string]map[*Node]bool) []Edge {
	kept := needs[:0]
	for _, edge := range needs {
		if edge.byDefault != nil {
			if n != nil && before[packageOf(invokedToken(edge.byDefault).Value)][n] {
				continue
			}
			if c.packages.callProviders == nil {
				c.packages.callProviders = make(map[*ast.Call]*Node)
			}
			c.packages.callProviders[edge.byDefault] = edge.To
		}
		kept = append(kept, edge)
	}
	return kept
}
