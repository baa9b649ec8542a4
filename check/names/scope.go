// Package names finds out what the names of a program mean: its declarations, the references to them, and the graph of
// dependencies that follows (rules L3.1, L5.20–L5.22 and L9).
package names

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Scope holds the names of one body, a program or a component: its declarations see each other and nothing else (L3.1).
// Declare, FindDefaults, Link and Order are called in this order, by one goroutine; from then on the scope only
// answers. The order is needed: Link resolves against all declarations, and makes nodes for undeclared configuration
// while it does; Order needs the edges that Link has found.
type Scope struct {
	Program  *program.Program // which the scope fills
	options  program.Options
	file     *ast.File
	facts    program.Facts // of all bodies
	packages *packages.Set
	report   *findings.Reporter

	declared  map[string]*program.Node // configuration, resources and variables by name
	byKey     map[string]*program.Node // configuration by full key, declared or not
	all       []*program.Node          // see All
	nodeFacts []*program.Fact          // of each of all; nil for undeclared configuration
	named     int                      // how many of them are declared
	refCounts []int32                  // how many references by name each of all has, for mendName

	undeclared undeclared
	defaults   map[string]*program.Node    // the default provider of each package
	called     map[*ast.Call]*program.Node // the default providers of calls
	argTypes   map[*ast.Access]schema.Type // of args in hooks and transforms, and of the names in policies
	cyclic     map[*program.Node]bool      // the nodes of reported cycles

	former []*program.Node // the declared nodes of an earlier check with the same names
	was    *Snapshot       // of that check; nil for none

	refs  pieces[program.Ref]
	fresh pieces[program.Fact]
}

// NewScope returns a scope without declarations for the text of a program, which it fills. was is what an earlier check
// has left of the same body; it may be nil.
func NewScope(p *program.Program, options program.Options, shared program.Shared, was *Snapshot,
	report *findings.Reporter) *Scope {
	s := &Scope{Program: p, options: options, file: p.File, facts: shared.Facts, packages: shared.Packages,
		report: report, was: was, byKey: make(map[string]*program.Node), defaults: make(map[string]*program.Node),
		cyclic: make(map[*program.Node]bool)}
	s.undeclared = undeclared{scope: s, names: make(map[string]*undeclaredName), slips: make(map[int]bool)}
	return s
}

// All returns the nodes in source order: configuration, resources, variables; then undeclared configuration.
func (s *Scope) All() []*program.Node { return s.all }

// Lookup returns the node with a name; nil if there is none.
func (s *Scope) Lookup(name string) *program.Node { return s.declared[name] }

// Fact returns what is known about the expressions of a node; nil for undeclared configuration.
func (s *Scope) Fact(n *program.Node) *program.Fact { return s.nodeFacts[n.SourceIndex] }

// CallProvider returns the program's default provider for a call; nil if the call does not use one.
func (s *Scope) CallProvider(e *ast.Call) *program.Node { return s.called[e] }

// ArgType returns the type of a name that exists only in hooks, transforms and policies.
func (s *Scope) ArgType(e *ast.Access) schema.Type { return s.argTypes[e] }

// Cyclic reports whether a node belongs to a reported cycle.
func (s *Scope) Cyclic(n *program.Node) bool { return s.cyclic[n] }

// Cycles reports whether there are such nodes.
func (s *Scope) Cycles() bool { return len(s.cyclic) > 0 }

// Nameless reports whether an unknown name probably belongs to an entry without a name, which was reported before
// (Y117). The first unknown names do, as many as there are such entries.
func (s *Scope) Nameless(name string) bool { return s.undeclared.isNameless(name) }

// Start returns the start of a range in the whole text, also for a range in a block of it.
func (s *Scope) Start(rng diag.Range) int { return int(s.file.Origins.Place(rng).Start) }

// Declare creates the node of every declaration and reports duplicate names (L3.1). The nodes are allocated together,
// in source order, because SourceIndex is the index of everything that is kept about a node: facts, counts, and the
// results of an earlier check.
func (s *Scope) Declare() {
	if s.file.RequiredVersion != nil {
		s.number(&s.file.Unit, s.file.RequiredVersion)
	}
	for _, decl := range s.file.Hooks {
		s.number(&decl.Unit, decl.Command)
	}
	for _, decl := range s.file.Transforms {
		s.numbered(&decl.Unit, decl.Number)
	}
	for _, decl := range s.file.Policies {
		s.numbered(&decl.Unit, decl.Number)
	}
	for _, decl := range s.file.Messages {
		s.numbered(&decl.Unit, decl.Number)
	}
	nodes := make([]program.Node, len(s.file.Config)+len(s.file.Resources)+len(s.file.Variables))
	s.declared = make(map[string]*program.Node, len(nodes))
	s.all, s.refCounts = make([]*program.Node, 0, len(nodes)), make([]int32, 0, len(nodes))
	s.nodeFacts = make([]*program.Fact, 0, len(nodes))
	add := func(n program.Node, fact *program.Fact) *program.Node {
		owner := &nodes[len(s.all)]
		*owner = n
		s.add(owner, fact)
		return owner
	}
	for _, decl := range s.file.Config {
		fact := s.number(&decl.Unit, decl.Default)
		key := s.fullKey(decl.Name.Value)
		if decl.Key != nil {
			key = s.fullKey(decl.Key.Value)
		}
		n := add(program.Node{Kind: program.ConfigNode, Name: decl.Name.Value, Range: decl.Name.Range,
			Type: schema.Invalid, Config: &program.Config{Decl: decl, Key: key}}, fact)
		if s.byKey[key] == nil {
			s.byKey[key] = n
		}
	}
	resources := make([]program.Resource, len(s.file.Resources))
	for i, decl := range s.file.Resources {
		r := &resources[i]
		r.Decl, r.LogicalName = decl, logicalName(decl)
		add(program.Node{Kind: program.ResourceNode, Name: decl.Name.Value, Range: decl.Name.Range,
			Type: schema.Invalid, Resource: r}, s.numbered(&decl.Unit, decl.Number))
	}
	for _, decl := range s.file.Variables {
		fact := s.number(&decl.Unit, decl.Value)
		add(program.Node{Kind: program.VariableNode, Name: decl.Name.Value, Range: decl.Name.Range,
			Type: schema.Invalid, Variable: decl}, fact)
	}
	s.Program.Outputs = make([]*program.Output, 0, len(s.file.Outputs))
	for _, decl := range s.file.Outputs {
		s.number(&decl.Unit, decl.Value)
		s.Program.Outputs = append(s.Program.Outputs, &program.Output{Decl: decl, Type: schema.Invalid})
	}
	s.named, s.Program.Nodes = len(s.all), s.all
	s.recognize()
	s.warnShadowed()
}

// number creates the facts of a declaration. Expressions that were not read from a text get a unit.
func (s *Scope) number(unit **ast.Unit, exprs ...ast.Expr) *program.Fact {
	return s.numbered(unit, func() { *unit = ast.NewUnit(exprs...) })
}

// numbered creates the facts of a declaration; number gives its expressions a unit. A declaration that an edit left
// alone brings its unit along, and with it the slots by which the outcome of an earlier check is read.
func (s *Scope) numbered(unit **ast.Unit, number func()) *program.Fact {
	if *unit == nil {
		number()
	}
	fact := &s.fresh.next(1)[0]
	fact.Refs = s.refs.next(len((*unit).Accesses))
	// The facts are new in each check even where the unit is not: they belong to one program.
	s.facts[*unit] = fact
	return fact
}

// logicalName returns the name of a resource in the state, which is its key unless it gives another one.
func logicalName(decl *ast.Resource) string {
	if name := decl.LogicalName.Text(); name != "" {
		return name
	}
	return decl.Name.Value
}

// fullKey returns the key of a configuration value with its namespace, which is the project unless another is written
// (L2.1).
func (s *Scope) fullKey(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return s.options.Project + ":" + name
}

// addNode appends a node.
func (s *Scope) addNode(n *program.Node, fact *program.Fact) {
	// The three lists grow together, so that one index serves all.
	n.SourceIndex = len(s.all)
	s.all, s.nodeFacts, s.refCounts = append(s.all, n), append(s.nodeFacts, fact), append(s.refCounts, 0)
}

// add appends the node of a declaration. A second declaration of a name gets a node too, so that its expressions are
// checked; the name means the first.
func (s *Scope) add(n *program.Node, fact *program.Fact) {
	s.addNode(n, fact)
	if n.Name == packages.BuiltinName {
		s.report.Errorf(diag.DeclaredTwice, n.Range, "choose another name", "`%s` is the built-in variable and cannot be declared",
			n.Name)
		return
	}
	first := s.declared[n.Name]
	if first == nil {
		s.declared[n.Name] = n
		return
	}
	if first.Kind == n.Kind {
		return // reported by the parser (Y102)
	}
	s.report.Add(diag.Diagnostic{
		Code: diag.DeclaredTwice, Subject: n.Range,
		Summary: n.Name + " is both a " + first.Kind.String() + " and a " + n.Kind.String(),
		Detail:  "configuration, variables and resources share one set of names: rename one of the two",
		Related: []diag.Related{{Range: first.Range, Message: "the " + first.Kind.String() + " is here"}},
	})
}

// warnShadowed finds keys of the stack that a declaration hides (L2.36). The declaration wins, so that no stack breaks
// a program by adding a key.
func (s *Scope) warnShadowed() {
	prefix := s.options.Project + ":"
	for _, n := range s.all {
		if n.Kind == program.ConfigNode {
			continue
		}
		text, ok := s.options.Config[prefix+n.Name]
		if !ok || text.Project || s.declared[n.Name] != n || s.byKey[prefix+n.Name] != nil {
			continue
		}
		s.report.Warnf(diag.ConfigShadowed, n.Range, "read it as `${"+prefix+n.Name+"}`, or rename one of the two",
			"the stack's configuration %s is hidden by the %s %s", prefix+n.Name, n.Kind, n.Name)
	}
}

// resolve resolves a root (L5.20–L5.22). Declarations hide the built-in variable and the configuration of the stack. A
// key of configuration that the program does not declare gets a node at its first use; all uses of one spelling share
// it. Without a stack, a key with another namespace, or one that some stack sets, is taken for configuration; with a
// stack, only what that stack sets is.
func (s *Scope) resolve(root ast.Literal) program.Ref {
	name := root.Value
	if n := s.Lookup(name); n != nil {
		return program.Ref{Kind: program.RefNode, Node: n}
	}
	if name == packages.BuiltinName {
		return program.Ref{Kind: program.RefPulumi}
	}
	key := s.fullKey(name)
	n, namespace, namespaced := s.byKey[key], s.options.Project, strings.Contains(name, ":")
	if namespaced {
		namespace, _, _ = strings.Cut(name, ":")
	}
	_, set := s.options.Config[key]
	_, setByStack := slices.BinarySearch(s.options.StackKeys, key) // by some stack of the project
	switch {
	case namespaced && !set && !possibleKey().MatchString(name): // no key of configuration
	// A full key also reads what the program declares under another name.
	case n != nil && namespaced:
		return program.Ref{Kind: program.RefNode, Node: n}
	case s.Program.InComponent: // only its inputs come from outside
	case set || !s.options.ConfigKnown && (namespace != s.options.Project || setByStack):
		if n == nil || n.Name != name {
			n = &program.Node{Kind: program.ConfigNode, Name: name, Range: root.Range,
				Type: schema.Invalid, Config: &program.Config{Key: key}}
			s.addNode(n, nil)
			s.byKey[key] = n
		}
		return program.Ref{Kind: program.RefNode, Node: n}
	}
	s.undeclared.note(root)
	return program.Ref{Kind: program.RefBad}
}

// pieces cuts slices from larger allocations, which costs less than an allocation for each. Each allocation is twice
// the one before, so that a small program pays for little that it does not use.
type pieces[T any] struct {
	rest []T
	size int // of the last allocation
}

// next returns a zeroed slice of length n.
func (p *pieces[T]) next(n int) []T {
	const least, most = 64, 4096
	if n > len(p.rest) {
		p.size = max(least, min(2*p.size, most))
		p.rest = make([]T, max(n, p.size))
	}
	part := p.rest[:n:n]
	p.rest = p.rest[n:]
	return part
}
