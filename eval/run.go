package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// defaultWorkers is the default number of nodes evaluated at the same time; the engine limits its own work.
const defaultWorkers = 64

// Run evaluates a program that was checked without errors. It registers the stack's own resource, everything in the
// program, and then the stack's outputs; after a failure, the outputs that could be computed.
//
// Findings come in the order of the program. An error that the monitor has reported gives no finding, so a failed run
// may have none; Result counts the failures.
func Run(ctx context.Context, p *check.Program, m monitor.Monitor, o Options) (Result, diag.Diagnostics) {
	e := newEvaluator(p, m, o)
	defer context.AfterFunc(ctx, func() { e.over.Store(true) })()
	ctx = e.budget.paying(ctx)
	t := tally{Result: Result{Outputs: value.EmptyMap()}}
	if err := e.start(ctx); err != nil {
		t.addCallError(err, "register the stack")
		t.Failed = 1
		return t.Result, t.findings
	}
	t.Stack = e.stack
	e.root = newFrame(p, e.stack)

	first := p.VersionNeeds()
	e.runAll(ctx, e.root, first)
	f := e.checkVersion(ctx, e.root)
	if f == nil {
		f = e.registerHooks(ctx)
	}
	if f == nil {
		f = e.registerTransforms(ctx)
	}
	if f != nil {
		t.findings.Add(f.findings...)
		t.addNodes(e.root, first)
		t.Failed++
		t.Skipped += len(p.Nodes) - len(first) + len(p.Outputs)
	} else {
		e.runAll(ctx, e.root, p.Nodes)
		t.addNodes(e.root, p.Nodes)
		e.judgeStack(ctx, &t)
		e.messages(ctx, &t)
		t.Outputs = e.outputs(ctx, &t)
	}

	t.addCallError(m.RegisterOutputs(ctx, e.stack, t.Outputs), "record the stack's outputs")
	if len(p.Hooks) > 0 && f == nil {
		// Hooks are served until the engine has finished (E2.68).
		t.addCallError(m.SignalAndWaitForShutdown(ctx), "wait for the engine")
	}
	e.numbers.tell(&e.notes)
	t.findings.Add(e.notes.sorted()...)
	return t.Result, t.findings
}

// newEvaluator returns an evaluator of a program, with one budget for the whole program.
func newEvaluator(p *check.Program, m monitor.Monitor, o Options) *evaluator {
	return &evaluator{program: p, monitor: m, options: o, workers: o.Workers,
		budget: spending{Budget: cmp.Or(o.Budget, builtins.NewBudget(o.Limits))}}
}

// loadInfo asks the monitor for the deployment (E1.6).
func (e *evaluator) loadInfo(ctx context.Context) (err error) {
	if e.info, err = e.monitor.Info(ctx); err != nil {
		return err
	}
	e.pulumi = e.pulumiVariable()
	if e.workers <= 0 {
		e.workers = e.info.Parallel
	}
	if e.workers <= 0 {
		e.workers = defaultWorkers
	}
	return nil
}

// registerResource registers a resource. If the engine returns a failure, it has reported the reason.
func registerResource(ctx context.Context, m monitor.Monitor, r monitor.RegisterRequest) (monitor.RegisterResponse,
	error) {
	response, err := m.RegisterResource(ctx, r)
	if err == nil && response.Result != monitor.Succeeded {
		err = monitor.ErrReported
	}
	return response, err
}

// start asks for the deployment and registers the root stack (E1.6, F1.29).
func (e *evaluator) start(ctx context.Context) error {
	if err := e.loadInfo(ctx); err != nil {
		return err
	}
	position := diag.Range{}
	if e.program.File != nil && e.program.File.Source != nil {
		position = diag.NewRange(e.program.File.Source, 0, 0)
	}
	response, err := registerResource(ctx, e.monitor, monitor.RegisterRequest{
		Type: urn.RootStackType, Name: e.info.Project + "-" + e.info.Stack, Inputs: value.EmptyMap(),
		SourcePosition: e.options.position(position),
	})
	if err != nil {
		return err
	}
	if response.URN == "" {
		return errors.New("the engine returned no URN for it")
	}
	e.stack = response.URN
	e.resources.add(&resource{urn: response.URN, known: true, outputs: value.EmptyMap(), component: true})
	return nil
}

// tally is the outcome of a run so far.
type tally struct {
	Result
	findings diag.Diagnostics
}

// addNodes adds the faults of nodes, which come after those that they need. A node that the end of the run left out is
// skipped if it needs one that failed or was skipped, and otherwise not started.
func (t *tally) addNodes(f *frame, nodes []*check.Node) {
	broken := make(map[*check.Node]bool) // failed or skipped
	for _, n := range nodes {
		fault := f.states[n.Index].fault
		if fault == nil {
			continue
		}
		ended := fault.cause == over && len(fault.findings) == 0 && !fault.reported
		if ended && slices.ContainsFunc(n.Needs, func(e check.Edge) bool { return broken[e.To] }) {
			fault = poison
		}
		skipped, notStarted := t.Skipped, t.NotStarted
		t.add(fault)
		broken[n] = t.NotStarted == notStarted && fault.instances == nil
		switch {
		case n.Kind != check.ResourceNode:
		case len(fault.findings) > 0:
			t.FailedResources = append(t.FailedResources, n.Name)
		case t.Skipped > skipped:
			t.SkippedResources = append(t.SkippedResources, n.Name)
		case t.NotStarted > notStarted:
			t.ResourcesNotStarted = append(t.ResourcesNotStarted, n.Name)
		}
	}
}

// add adds a fault.
func (t *tally) add(f *fault) {
	t.findings.Add(f.findings...)
	switch {
	case len(f.findings) > 0 || f.reported:
		t.Failed++
	case f.cause == over:
		t.NotStarted++
	default:
		t.Skipped++
	}
}

// addCallError adds the error of a call of the engine, unless the engine has reported it.
func (t *tally) addCallError(err error, what string) {
	if err != nil && silent(err) == nil {
		t.findings.Add(diag.Diagnostic{Code: diag.OperationFailed, Summary: fmt.Sprintf("cannot %s: %s", what, err)})
		t.Failed++
	}
}

// outputs evaluates the stack's outputs in the order of the program (L3.D).
func (e *evaluator) outputs(ctx context.Context, t *tally) value.Value {
	var entries []value.Entry
	size := int64(0)
	s := scope{e: e, frame: e.root}
	for _, o := range e.program.Outputs {
		v, f := s.eval(ctx, o.Decl.Value)
		if f != nil {
			t.add(f)
			continue
		}
		if _, literal := o.Decl.Value.(*ast.Null); literal {
			continue // L3.42; an unknown one that becomes null is recorded
		}
		v = withoutNulls(v)
		// All outputs together are one value.
		if err := e.budget.WithinOutputs(value.Size(v, e.budget.ValueLimit()) + size); err != nil {
			t.add(e.budget.overspent(err, o.Decl.Value.Range()))
			continue
		}
		size += value.Size(v, e.budget.ValueLimit()) + int64(len(o.Decl.Name.Value))
		if f := storable("the output `"+o.Decl.Name.Value+"`", v, propertyRanges{}, o.Decl.Value.Range()); f != nil {
			t.add(f)
			continue
		}
		if v.ContainsSecret() {
			v = v.DeepPublic().Secret() // a secret output is secret as a whole (L3.40)
		}
		entries = append(entries, value.Entry{Key: o.Decl.Name.Value, Value: v})
	}
	return value.MapOf(entries...)
}

// withoutNulls returns v without null entries of maps, at any depth; nulls in lists stay (L3.13, L3.42).
func withoutNulls(v value.Value) value.Value {
	if !v.Any(func(x value.Value) bool { return x.Is(value.KindMap) && hasNull(x) }) {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		if !x.Is(value.KindMap) || !hasNull(x) {
			return x
		}
		entries := make([]value.Entry, 0, x.Len())
		for i, key := range x.Keys() {
			if item := x.At(i); !item.IsNull() {
				entries = append(entries, value.Entry{Key: key, Value: item})
			}
		}
		return value.MapOf(entries...).WithMarksOf(x)
	})
}

func hasNull(m value.Value) bool {
	for i := range m.Len() {
		if m.At(i).IsNull() {
			return true
		}
	}
	return false
}
