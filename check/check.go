package check

import (
	"cmp"
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/names"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/check/types"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Check resolves the names of a program and infers its types. The Program can be read even if there are errors. It may
// be evaluated only if no diagnostic is an error and ctx was not cancelled, since a cancelled Check stops early. Each
// fault is reported once, without the faults that merely follow from it (D7). The Program is never nil, since the
// editor shows types and names of texts with faults.
func Check(ctx context.Context, file *ast.File, opts Options) (*Program, diag.Diagnostics) {
	program, _, found := Recheck(ctx, file, opts, nil)
	return program, found
}

// Recheck is Check after an edit. previous is what the check of the former text has left, or nil: unchanged parts are
// reused, so that the check costs little more than what has changed. It does not change the result. The next check may
// use the returned Snapshot, which is nil if there is nothing to reuse.
func Recheck(ctx context.Context, file *ast.File, opts Options, previous *Snapshot) (*Program, *Snapshot,
	diag.Diagnostics) {
	// The passes are loops over all bodies and not a loop of passes over each: a name of one body may decide about a
	// package that another one loads, and a type needs all packages.
	r := newRun(ctx, file, opts, previous)
	main := r.findBodies() // the last one; the bodies of components come before

	// Names: what is declared. The default providers decide which packages are loaded. FindDefaults looks at providers
	// of the whole body, which Declare has to have seen.
	for _, b := range r.bodies {
		b.scope.Declare()
	}
	for _, b := range r.bodies {
		b.scope.FindDefaults()
	}

	// Packages: which schema the type of each resource means. References to resources need no types, but policies and
	// transforms match them.
	r.loadPackages()
	for _, b := range r.bodies {
		b.resolveTypes()
	}

	// Names: what each reference means, and the graph that follows. A cancelled check leaves names unlinked.
	for _, b := range r.bodies {
		r.found.undeclared.Add(b.scope.Link(ctx)...)
	}
	// Without links the nodes have no edges, so no order, and no type could be trusted.
	if ctx.Err() != nil {
		return main.program, nil, r.report.All()
	}

	// Types: each declaration after those that it needs, and each component before its users.
	for _, b := range usersLast(r.report, r.bodies, r.components) {
		b.scope.Order()
		b.checkNodes()
		b.checkOutputs()
		b.completeInterface()
	}

	// What needs all declarations.
	if ctx.Err() == nil {
		r.checkTransforms(main)
		main.checkPolicies()
	}
	for _, b := range r.bodies {
		b.types.NoteTexts(r.report, b.written)
	}
	// The schemas of components are those of completeInterface by now.
	r.fillInputs()
	r.shared.Packages.ReportMissing(r.report, main.scope.Start)
	main.scope.WarnUnread()
	// Only here are all findings known, and a fault may be reported in another declaration than what follows from it.
	found := r.withoutFollowUps(file, r.found.all(r.report.All()))
	if ctx.Err() != nil {
		return main.program, nil, found
	}
	// Last, as it needs the order of evaluation and the edges; its findings are warnings, so none follows from a fault.
	found = append(slices.Clip(found), unwrittenOrder(ctx, main.program, opts.Manifests)...)
	return main.program, r.snapshot(), found
}

// run is the state of one check, shared by the bodies of a program and its components. Several goroutines check nodes;
// they write to nothing in it. It ends with the check: what the next one may use again is copied to a Snapshot, so that
// neither a run nor a Program keeps the one before it alive.
type run struct {
	ctx        context.Context
	file       *ast.File
	opts       Options
	report     *findings.Reporter // of findings about the program as a whole, or several declarations
	shared     program.Shared
	components *components
	dynamic    map[string]*Dynamic // in all spellings of the token
	bodies     []*body             // in the order of the text, the program's own last
	found      remarks
	extents    map[*ast.Access]diag.Range // ranges of the expressions that continue an access, for withoutFollowUps
	previous   *Snapshot                  // of an earlier check; may be nil
}

func newRun(ctx context.Context, file *ast.File, opts Options, previous *Snapshot) *run {
	if opts.Project == "" {
		opts.Project = file.Name.Text()
	}
	// Everything that a check reads without being recorded in a result is one of the inputs.
	if previous != nil && !previous.inputs.equal(inputsOf(file, opts)) {
		previous = nil
	}
	declarations := len(file.Config) + len(file.Variables) + len(file.Resources) + len(file.Outputs) + len(file.Hooks)
	return &run{ctx: ctx, file: file, opts: opts, report: findings.NewReporter(),
		shared: program.Shared{Facts: make(program.Facts, declarations), Packages: packages.NewSet(opts.Schemas),
			Inputs: make(map[string]*schema.Object)},
		components: &components{byToken: make(map[string]*component), namespaces: make(map[string][]*component),
			checked: make(map[*Component]*component)},
		dynamic:  make(map[string]*Dynamic),
		extents:  make(map[*ast.Access]diag.Range),
		previous: previous,
	}
}

// findBodies makes the bodies of the program and its components, and finds its dynamic types. It returns the program's
// own body. Bodies are in the order of the text with the program's own last; usersLast sorts them for the check of
// types.
func (r *run) findBodies() *body {
	main := r.newBody(r.file, r.opts, nil)
	types := dynamicTypes{report: r.report, bundle: r.opts.Bundle, byToken: r.dynamic}
	// Dynamic types come before components, whose resources may be of them.
	types.find(r.ctx, r.file, r.opts)
	main.program.Dynamic = types.all
	for _, c := range r.findComponents() {
		main.program.Components = append(main.program.Components, c.of)
		r.bodies = append(r.bodies, c.body)
	}
	r.bodies = append(r.bodies, main)
	return main
}

// body holds the declarations of a program or a component, which see only each other.
type body struct {
	run       *run
	file      *ast.File
	component *component // nil for the program's own
	program   *Program
	scope     *names.Scope
	resolver  *packages.Resolver
	types     types.Body
	was       *bodySnapshot // of an earlier check; nil for nothing

	nodes   []*result // of the nodes, by their source index; nil until one is checked
	outputs []*result // of the outputs

	// hasLoop reports whether some node or component depends on itself. Then no earlier result is reused, since a node
	// in a loop may be checked before what it needs.
	hasLoop bool
	changed bool             // something was checked anew, so that the interface of the component is made anew, too
	batch   int              // least number of nodes for a goroutine
	written []ast.Expr       // the arguments of fn::toJSON, in the order of evaluation
	urns    map[urnKey]*Node // the first resource with each URN, for checkURN
}

// newBody makes the body of a program or a component, nil for the program's own.
func (r *run) newBody(file *ast.File, opts Options, c *component) *body {
	b := &body{run: r, file: file, component: c, batch: cmp.Or(opts.Batch, usualBatch),
		program: program.New(file, opts.Project, r.shared), was: r.previous.body(c), urns: make(map[urnKey]*Node)}
	b.program.InComponent = c != nil
	// The scope gets the names of the former body, the resolver its choices only later, in loadPackages: they depend on
	// versions.
	b.scope = names.NewScope(b.program, opts, r.shared, b.was.namesOf(), r.report)
	b.resolver = packages.NewResolver(r.shared.Packages, opts.Packages, opts.KindsUnknown)
	b.types = types.Body{Program: b.program, Options: opts, Scope: b.scope, Packages: r.shared.Packages,
		Resolver: b.resolver, Report: r.report,
		Components: func(token string) bool { return r.components.byToken[token] != nil }}
	return b
}

// usualBatch is the least number of nodes for a goroutine: starting one for fewer costs more than it saves.
const usualBatch = 32

// checkNodes gives every node its type, in the order of dependencies. A body with cut loops is checked by ahead, which
// finds the type of an instance before the instance is checked. In a body with a reported cycle, a node may come before
// one that it needs, whose type is Invalid then, so that nothing more is reported.
func (b *body) checkNodes() {
	// By source index and not by position in the order, since stamp is asked by references in any order.
	b.nodes = make([]*result, len(b.scope.All()))
	b.hasLoop = b.hasLoop || b.scope.Cycles() || b.program.Deferring
	switch {
	case b.program.Deferring:
		ahead := ahead{body: b, checked: make(map[*Node]bool), typed: make(map[*Node]bool)}
		for _, n := range b.program.Nodes {
			if b.run.ctx.Err() == nil { // else the caller has cancelled
				ahead.inOrder(n)
			}
		}
	case b.hasLoop:
		for _, n := range b.program.Nodes {
			if b.run.ctx.Err() == nil {
				b.recordNode(n, b.checkNode(n))
			}
		}
	default: // without loops, so that the nodes form levels
		b.checkLevels()
	}
	if b.run.ctx.Err() != nil {
		return
	}
	// It is no node: nothing can refer to it.
	if e := b.file.RequiredVersion; e != nil {
		b.recordOutcome(b.file.Unit, b.types.Version(b.run.ctx, b.file.Unit, e))
	}
}

// checkLevels gives every node of a body without cycles its type. It checks the nodes of a level concurrently.
//
// Findings are recorded afterwards, in the order of evaluation: which goroutine ends first must not show.
func (b *body) checkLevels() {
	results := make([]nodeResult, len(b.program.Nodes))
	for _, level := range names.Levels(b.program.Nodes) {
		parallel.Each(len(level), b.batch, func(i int) {
			if n := level[i]; b.run.ctx.Err() == nil { // else the caller has cancelled
				results[n.Index] = b.checkNode(n)
			}
		})
	}
	for i, n := range b.program.Nodes {
		if results[i].result == nil {
			return // cancelled
		}
		b.recordNode(n, results[i])
	}
}

// nodeResult is the result of the check of a node.
type nodeResult struct {
	result *result
	anew   bool // no earlier check has left it
}

// checkNode checks a node after its dependencies. Nodes that do not depend on each other may be checked at the same
// time: it writes to nothing but the node, its facts and its result. The facts and the type are set here, before
// anything is recorded, because the next level reads them.
func (b *body) checkNode(n *Node) nodeResult {
	var before given
	if n.Kind == ResourceNode {
		b.refreshComponent(n)
		// Taken before the check, which sets the type of a resource with forEach to that of a collection.
		before = givenFor(n)
	}
	fact := b.scope.Fact(n)
	found := b.reusable(n, before, fact)
	anew := found == nil
	if anew {
		var o types.Outcome
		switch n.Kind {
		case ConfigNode:
			o = b.types.Config(b.run.ctx, n)
		case VariableNode:
			o = b.types.Variable(b.run.ctx, n.Variable)
		case ResourceNode:
			o = b.types.Resource(b.run.ctx, n)
		}
		found = b.newResult(n.Unit(), o, fact)
		found.given = before
		// The stamp is made from the outcome: what refers to the node compares what it sees of it.
		found.stamp = b.stampOf(n, o.Type)
	}
	b.nodes[n.SourceIndex] = found
	// Undeclared configuration has no unit and no facts.
	if fact != nil {
		fact.Types, fact.Calls = found.outcome.Types, found.outcome.Calls
	}
	n.Type = found.outcome.Type
	if n.Kind == ConfigNode {
		n.Config.Value, n.Config.Text = found.outcome.Value, found.outcome.Text
	}
	// A resource keeps the type of its schema: a cycle changes nothing about that.
	if b.scope.Cyclic(n) && n.Kind != ResourceNode {
		n.Type = schema.Invalid
	}
	return nodeResult{found, anew}
}

// recordNode records what the check of a node has found. It is called in the order of evaluation, which is that of the
// findings.
func (b *body) recordNode(n *Node, found nodeResult) {
	b.changed = b.changed || found.anew
	b.mergeOutcome(&found.result.outcome)
	// Compared anew in every check, since a finding about two resources belongs to neither result.
	if n.Kind == ResourceNode {
		b.checkURN(n)
	}
}

// recordOutcome records the outcome of the check of a declaration that is neither a node nor an output.
func (b *body) recordOutcome(unit *ast.Unit, o types.Outcome) {
	fact := b.run.shared.Facts[unit]
	fact.Types, fact.Calls = o.Types, o.Calls
	b.mergeOutcome(&o)
}

// mergeOutcome adds what was found out about a declaration to what is known about the body. One goroutine calls it,
// although several may check declarations.
func (b *body) mergeOutcome(o *types.Outcome) {
	b.run.found.outcomes.Add(o.Found...)
	b.written = append(b.written, o.JSONArguments...)
	for _, l := range o.Leads {
		b.run.extents[l.From] = l.To
	}
	// Missing packages are reported together at the end, once for each package.
	for _, use := range o.Missing {
		b.run.shared.Packages.Miss(use.Package, use.At)
	}
}

// checkOutputs checks hooks, messages and outputs, on which nothing depends. Hooks and messages come before outputs for
// the order of the findings alone.
func (b *body) checkOutputs() {
	ctx := b.run.ctx
	if ctx.Err() != nil {
		return
	}
	for _, h := range b.program.Hooks {
		b.recordOutcome(h.Decl.Unit, b.types.Hook(ctx, h))
	}
	for _, m := range b.file.Messages {
		b.recordOutcome(m.Unit, b.types.Message(ctx, m))
	}
	b.outputs = make([]*result, len(b.program.Outputs))
	for i, o := range b.program.Outputs {
		fact := b.run.shared.Facts[o.Decl.Unit]
		found := b.reusableOutput(i, o, fact)
		if found == nil {
			found = b.newResult(o.Decl.Unit, b.types.Output(ctx, o.Decl), fact)
			b.changed = true
		}
		b.outputs[i] = found
		fact.Types, fact.Calls = found.outcome.Types, found.outcome.Calls
		o.Type = found.outcome.Type
		b.mergeOutcome(&found.outcome)
	}
}

// checkPolicies checks the policies, after everything else. The expressions of a policy may name any node, and what it
// matches is known only once all types of resources are.
func (b *body) checkPolicies() {
	for _, p := range b.program.Policies {
		b.recordOutcome(p.Decl.Unit, b.types.Policy(b.run.ctx, p))
	}
}

// checkTransforms checks the transforms of the stack, and those of resources, which see all resources below theirs.
// They come last since they are about the inputs of what they match, also in the bodies of components. A transform in
// the options of a resource has been inferred with the resource, as a part of its unit; only what it matches is new
// here.
func (r *run) checkTransforms(main *body) {
	matching := func(t *ast.Transform, nodes []*Node, inside bool) *program.Matched {
		m := &program.Matched{Transform: t, What: "transform"}
		for _, n := range nodes {
			program.EachRegistered(n, inside, func(n *Node, inside bool) { m.Inspect(n, inside, r.shared.Packages) })
		}
		return m
	}
	for _, t := range main.program.Transforms {
		m := matching(t.Decl, main.scope.All(), false)
		// The outputs of the stack are inputs of a transform of the stack, too.
		for _, o := range main.program.Outputs {
			m.Inspect(o.AsNode(), false, r.shared.Packages)
		}
		main.recordOutcome(t.Decl.Unit, main.types.Transform(r.ctx, t.Decl, m))
	}
	for _, b := range r.bodies {
		// The children of all resources are found in one pass and not for each transform.
		below := b.scope.Below()
		for _, n := range b.scope.All() {
			if n.Kind != ResourceNode {
				continue
			}
			for _, decl := range n.Resource.Decl.Options.Transforms {
				m := matching(decl, below(n), b.program.InComponent)
				o := b.types.TransformOf(r.ctx, n.Unit(), b.scope.Fact(n), decl, m)
				b.mergeOutcome(&o)
			}
		}
	}
}

// fillInputs records the inputs of the types that resources name. Program.InputsOf reads them, for callers that have a
// token and no node.
func (r *run) fillInputs() {
	for _, b := range r.bodies {
		for _, n := range b.scope.All() {
			if n.Kind == ResourceNode && n.Resource.Schema != nil {
				r.shared.Inputs[n.Resource.Token] = n.Resource.Schema.Inputs
			}
		}
	}
}

// urnKey distinguishes resources by what is known without evaluation.
type urnKey struct{ token, parent, name string }

// checkURN reports two resources with the same URN (L3.18). It knows less than the engine, which reports the rest in a
// run: a resource with forEach or if has any number of instances, and one whose parent is computed may be anywhere.
// What it reports is certain.
func (b *body) checkURN(n *Node) {
	r := n.Resource
	// A resource that is read with get and has no schema may be anything.
	if r.Token == "" || r.Decl.ForEach != nil || r.Decl.If != nil || n.Resource.Decl.Get != nil && r.Schema == nil {
		return
	}
	key := urnKey{token: r.Token, name: r.LogicalName}
	if parent := r.Decl.Options.Parent; parent != nil {
		n := b.program.RefTo(parent.Value).Node
		if n == nil || n.Kind != ResourceNode {
			return
		}
		// Within a body names are unique, so the parent's name stands for its URN.
		key.parent = n.Name
	}
	first := b.urns[key]
	if first == nil {
		b.urns[key] = n
		return
	}
	if first.Name == n.Name {
		return // a duplicate name, which the parser reports
	}
	if b.scope.Start(first.Range) > b.scope.Start(n.Range) {
		first, n = n, first
	}
	b.run.report.Add(diag.Diagnostic{Code: diag.DuplicateURN, Subject: n.Range,
		Summary: "two resources of type " + schema.CollapseToken(r.Token) + " would be named " + findings.Shown(r.LogicalName),
		Detail:  "give one of them another name",
		Related: []diag.Related{{Range: first.Range, Message: "the other one is here"}}})
}
