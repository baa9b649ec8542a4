package eval

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// evaluator is one run of a program. Data shared by workers is immutable, has its own lock, or belongs to the state of
// a node. Only the node's worker writes that state, before other workers may read it.
type evaluator struct {
	program *check.Program
	monitor monitor.Monitor
	options Options
	workers int
	info    monitor.Info
	stack   urn.URN
	pulumi  value.Value // the variable pulumi (L3.F)

	root       *frame // of the program itself
	resources  registry
	packages   parallel.Memo[string, string, error]     // references of packages that had to be announced (E2.67)
	dynamic    parallel.Memo[string, string, *fault]    // references of the providers of dynamic types, by name
	stacks     parallel.Memo[string, *resource, *fault] // that fn::stackReference reads (L6.30)
	changed    changedInputs
	registered gathered[value.Value] // descriptions, if policies check all resources together
	urns       urnGuard
	notes      notes
	numbers    numberNote

	budget spending

	over atomic.Bool // mirrors ctx.Err() != nil, so that each expression can poll it cheaply
}

// A frame holds the state of one evaluation of a body: the main program or one component instance.
type frame struct {
	body   *check.Program
	states []nodeState // by Node.Index
	parent urn.URN     // of resources that name none
	prefix string      // before the names of resources (L3.52)
	inputs value.Value // inputs of the component, a map
	// component reports whether the body belongs to a component, which is the parent of its function calls (L3.54).
	component bool
	packaged  bool // of a package
	// members are the resources registered for a component at any depth, without components of the program: dependants
	// of the component depend on these resources.
	members gathered[urn.URN]
	pending *pending // the component registration that supplies the inputs later; nil if they are known at the start
}

func newFrame(body *check.Program, parent urn.URN) *frame {
	f := &frame{body: body, states: make([]nodeState, len(body.Nodes)), parent: parent, inputs: value.EmptyMap()}
	if body.Deferring {
		f.foresee()
	}
	return f
}

// nodeState is the progress of a node.
type nodeState struct {
	once  sync.Once
	value value.Value
	fault *fault
	// partial reports whether the value comes from an output that is only partly known during a preview.
	partial bool
	done    atomic.Bool // set once the fields above are final, for readers that do not wait
	early   *early      // of a node with a Deferral; nil for the rest
}

// run evaluates a node at most once. Concurrent callers block until the first one finishes.
func (e *evaluator) run(ctx context.Context, f *frame, n *check.Node) {
	state := &f.states[n.Index]
	state.once.Do(func() {
		defer state.done.Store(true)
		if ctx.Err() != nil {
			state.fault = shutdown
			return
		}
		s := scope{e: e, frame: f}
		switch n.Kind {
		case check.ConfigNode:
			state.value, state.fault = s.config(ctx, n.Config)
		case check.VariableNode:
			var res found
			res, state.fault = s.find(ctx, n.Variable.Value)
			state.value, state.partial = res.value, res.partial
		case check.ResourceNode:
			inst := &instance{scope: s, node: n, resource: n.Resource}
			if state.early != nil {
				state.value, state.fault = inst.complete(ctx)
				break
			}
			state.value, state.fault = inst.all(ctx)
		}
	})
}

// runAll evaluates nodes of a frame, each after its dependencies.
func (e *evaluator) runAll(ctx context.Context, f *frame, nodes []*check.Node) {
	schedule(ctx, nodes, e.workers, func(ctx context.Context, n *check.Node) {
		defer e.options.guard()
		e.run(ctx, f, n)
	})
}

// guard is deferred at the start of each goroutine, so that a panic ends in a crash report.
func (o *Options) guard() {
	if o.Crash == nil {
		return
	}
	if fault := recover(); fault != nil {
		o.Crash(fault)
	}
}

// node returns the value of a node. The node has been evaluated already, unless an output of a component with deferred
// inputs is requested ahead of the normal order. Then node evaluates it.
func (s *scope) node(ctx context.Context, n *check.Node) (value.Value, *fault) {
	state := &s.frame.states[n.Index]
	if !state.done.Load() {
		s.e.ensure(ctx, s.frame, n)
	}
	if state.fault != nil {
		return value.Null, state.fault.elsewhere()
	}
	return state.value, nil
}

// config returns a configuration value: the stack's value, else the default, else null (L2.2).
func (s *scope) config(ctx context.Context, c *check.Config) (value.Value, *fault) {
	v := value.Null
	given, set := value.Null, false
	if s.frame.component {
		var f *fault
		if given, f = s.frame.input(ctx, c.Decl.Name.Value); f != nil {
			return value.Null, f
		}
		set = !given.IsNull() // L3.51
	}
	switch {
	case set:
		v = given
	case c.Value != nil:
		v = *c.Value
	case c.Decl != nil && c.Decl.Default != nil:
		var f *fault
		if v, f = s.eval(ctx, c.Decl.Default); f != nil {
			return value.Null, f
		}
	}
	if c.Decl != nil && c.Decl.Secret.IsTrue() {
		v = v.Secret() // L2.33
	}
	return v, nil
}

// pulumiVariable returns the built-in variable pulumi (L3.F).
func (e *evaluator) pulumiVariable() value.Value {
	return value.MapOf(
		value.Entry{Key: "cwd", Value: value.String(e.options.Cwd)},
		value.Entry{Key: "rootDirectory", Value: value.String(e.options.folder())},
		value.Entry{Key: "project", Value: value.String(e.info.Project)},
		value.Entry{Key: "stack", Value: value.String(e.info.Stack)},
		value.Entry{Key: "organization", Value: value.String(e.info.Organization)},
	)
}

// position converts a place in the program to the form that the engine stores (D11).
func (o *Options) position(r diag.Range) *monitor.Position {
	if r.IsZero() {
		return nil
	}
	path := r.Source.Name()
	switch {
	case o.SourcePath != nil:
		path = o.SourcePath(path)
	case !filepath.IsAbs(path):
		path = filepath.Join(o.Cwd, path)
	}
	start := r.StartPosition()
	return &monitor.Position{Path: path, Line: start.Line, Column: start.Column}
}

// urnGuard notices when two resources of the program have the same URN (L3.18).
type urnGuard struct{ seen sync.Map }

// claim records the URN of a resource. It returns a fault if another resource has it.
func (g *urnGuard) claim(u urn.URN, name ast.Literal) *fault {
	first, taken := g.seen.LoadOrStore(u, name.Range)
	if !taken {
		return nil
	}
	f := blame(diag.DuplicateURN, name.Range, "give one of them a different name with the field name",
		"two resources would have the URN %s", u)
	f.findings[0].Related = []diag.Related{{Range: first.(diag.Range), Message: "the other resource is here"}}
	return f
}

// gathered is a list that several goroutines add to.
type gathered[T any] struct {
	mu  sync.Mutex // guards all
	all []T
}

func (g *gathered[T]) add(items ...T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, items...)
}

func (g *gathered[T]) list() []T {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.all)
}

// notes are the messages of a run besides faults.
type notes struct{ gathered[diag.Diagnostic] }

// once adds a message, unless there is an equal one.
func (n *notes) once(d diag.Diagnostic) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range n.all {
		if o.Subject == d.Subject && o.Summary == d.Summary {
			return
		}
	}
	n.all = append(n.all, d)
}

// notef adds a message about a value that the preview does not know.
func (n *notes) notef(rng diag.Range, detail, summary string, args ...any) {
	n.add(diag.Diagnostic{Severity: diag.Info, Code: diag.NotKnownInTime, Subject: rng,
		Summary: fmt.Sprintf(summary, args...), Detail: detail})
}

// sorted returns the messages in the order of the text.
func (n *notes) sorted() diag.Diagnostics { return diag.Diagnostics(n.list()).Sorted() }
