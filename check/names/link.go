package names

import (
	"context"

	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Link resolves every name and finds the dependencies of each node (L9.1) in all of its expressions. It returns the
// findings on undeclared names, and reports all others.
func (s *Scope) Link(ctx context.Context) (undeclared diag.Diagnostics) {
	l := linker{scope: s, hooks: map[string]*program.Hook{}}
	return l.link(ctx)
}

// linker is the pass over a body that resolves its names. It lives for one call of Link; what it finds goes into the
// scope's nodes and facts.
type linker struct {
	scope     *Scope
	eachTaken bool // it has been reported that the program has another use for the name
	hooks     map[string]*program.Hook
	edges     pieces[program.Edge]
}

// link makes the passes over the body. Each adds to the edges of nodes, and those that read edges come after those that
// add them.
func (l *linker) link(ctx context.Context) (undeclared diag.Diagnostics) {
	// Hooks come first, since the resources that name them take over their dependencies.
	l.linkHooks()
	l.linkTransforms()
	l.linkPolicies()
	for _, m := range l.scope.file.Messages {
		l.linkUnit(nil, new([]program.Edge), m.Unit)
	}
	for i := 0; i < len(l.scope.all); i++ { // resolving appends undeclared configuration
		if ctx.Err() != nil {
			return nil
		}
		n := l.scope.all[i]
		switch n.Kind {
		case program.ConfigNode:
			if decl := n.Config.Decl; decl != nil {
				l.linkUnit(n, &n.Needs, decl.Unit)
			}
		case program.VariableNode:
			l.linkUnit(n, &n.Needs, n.Variable.Unit)
		case program.ResourceNode:
			l.linkResource(n)
			l.linkHooksOf(n)
		}
	}
	for _, o := range l.scope.Program.Outputs {
		l.linkUnit(nil, &o.Needs, o.Decl.Unit)
	}
	if l.scope.file.Unit != nil {
		l.linkUnit(nil, new([]program.Edge), l.scope.file.Unit)
	}
	// What an unknown name means depends on how often each declaration is used, and so on all references.
	undeclared = l.scope.report.Attempt(func() { l.scope.undeclared.report(ctx) })
	l.scope.undeclared.reportSlips()
	l.checkHooks()
	// These add dependencies that no name in the text causes. Default providers come first: which resources cannot use
	// one depends on the names in the text alone. Transforms see the complete dependencies of the nodes that they
	// match.
	l.linkDefaultProviders()
	l.linkMatched()
	l.linkGuarded()
	l.scope.Program.Nodes = l.scope.all
	return undeclared
}

// surroundings are the additional names that the expressions of a declaration may use, from a slot on.
type surroundings struct {
	from int
	each *program.Node // the resource whose instance `each` is; nil if there is none
	args schema.Type   // of `args`; nil without it
	// names are the types of the names that exist only in policies.
	names map[string]schema.Type
}

// linkUnit resolves the names in the expressions of a declaration, and records its dependencies. around are its
// surroundings in the order of slots.
//
// Accesses and calls are two lists, each in the order of slots, and are read as one: dependencies are in the order of
// the text, which decides among nodes that may be evaluated in any order.
func (l *linker) linkUnit(n *program.Node, needs *[]program.Edge, unit *ast.Unit, around ...surroundings) {
	var here surroundings
	if len(around) == 0 && l.relink(n, unit) {
		return
	}
	fact, calls := l.scope.facts[unit], unit.Calls
	if len(l.scope.defaults) == 0 {
		// Calls matter here only for the default provider that they may use.
		calls = nil
	}
	if n := len(unit.Accesses); n > 0 && *needs == nil {
		*needs = make([]program.Edge, 0, n)
	}
	keys := l.calledKeys(unit)
	for i, e := range unit.Accesses {
		_, slot := ast.Slot(e)
		calls = l.linkCalls(n, needs, calls, slot)
		ref := program.Ref{Kind: program.RefBad}
		for len(around) > 0 && around[0].from <= slot {
			here, around = around[0], around[1:]
		}
		if _, ofPolicy := here.names[e.Root.Value]; ofPolicy || !keys[e] && !l.scope.undeclared.prefixed(e) {
			ref = l.resolveIn(n, e.Root, here)
		}
		fact.Refs[i] = ref
		if ref.Kind == program.RefArgs || ref.Kind == program.RefPolicy {
			if l.scope.argTypes == nil {
				l.scope.argTypes = make(map[*ast.Access]schema.Type)
			}
			if l.scope.argTypes[e] = here.args; ref.Kind == program.RefPolicy {
				l.scope.argTypes[e] = here.names[e.Root.Value]
			}
		}
		if ref.Kind == program.RefNode {
			l.scope.refCounts[ref.Node.SourceIndex]++
			*needs = append(*needs, program.Edge{To: ref.Node, Range: e.Root.Range})
		}
	}
	l.linkCalls(n, needs, calls, unit.Size)
}

// calledKeys returns the undeclared names that are arguments of a call of something that is not a function: then the
// call is the fault, and the name is meant as a key, as in settings(region) for settings.region.
func (l *linker) calledKeys(unit *ast.Unit) (keys map[*ast.Access]bool) {
	for _, call := range unit.Calls {
		if call.Argument != nil || len(call.Args) != 1 || l.scope.Lookup(call.Name.Value) == nil ||
			isFunction(call.Name.Value) {
			continue
		}
		if access, ok := call.Args[0].(*ast.Access); ok && len(access.Steps) == 0 &&
			l.scope.Lookup(access.Root.Value) == nil {
			if keys == nil {
				keys = map[*ast.Access]bool{}
			}
			keys[access] = true
		}
	}
	return keys
}

// linkCalls adds the default providers of the calls before a slot to a node's dependencies, and returns the remaining
// calls. The edge remembers the call, since it is dropped again if the provider itself needs the node (keepUsable).
func (l *linker) linkCalls(n *program.Node, needs *[]program.Edge, calls []*ast.Call, before int) []*ast.Call {
	for len(calls) > 0 {
		e := calls[0]
		if _, slot := ast.Slot(e); slot > before {
			break
		}
		if token := packages.Called(e); token != nil && !packages.NamesProvider(e) {
			if p := l.scope.defaults[packages.Of(token.Value)]; p != nil && p != n {
				*needs = append(*needs, program.Edge{To: p, Range: token.Range, DefaultFor: e})
			}
		}
		calls = calls[1:]
	}
	return calls
}
