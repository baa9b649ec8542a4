package eval

import (
	"context"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"slices"
	"sync"
)

// Components that use each other's outputs (L10.C21) are registered first. Their inputs, bodies and outputs are
// evaluated once, on demand. The checker guarantees that no value depends on itself.

// early is the part of a node with a Deferral that is known before the node is complete.
type early struct {
	lazy // a reference, or with forEach a list or map of references
	made gathered[*pending]
}

// foresee allocates the early values of nodes with a Deferral.
func (f *frame) foresee() {
	for _, n := range f.body.Nodes {
		if n.Deferral != nil {
			f.states[n.Index].early = &early{}
		}
	}
}

// ensure evaluates a node and its dependencies ahead of the normal order.
func (e *evaluator) ensure(ctx context.Context, f *frame, n *check.Node) {
	if f.states[n.Index].done.Load() {
		return
	}
	for _, edge := range n.Needs {
		if !edge.Deferred {
			e.ensure(ctx, f, edge.To)
		}
	}
	e.run(ctx, f, n)
}

// registeredEarly returns the value of a node with a Deferral as soon as the node is registered.
func (e *evaluator) registeredEarly(ctx context.Context, f *frame, n *check.Node) (value.Value, *fault) {
	return f.states[n.Index].early.get(func() (value.Value, *fault) {
		for _, needed := range n.Deferral.Register {
			e.ensure(ctx, f, needed)
		}
		inst := &instance{scope: scope{e: e, frame: f}, node: n, resource: n.Resource}
		return inst.all(ctx)
	})
}

// complete evaluates all of a node with a Deferral.
func (s *instance) complete(ctx context.Context) (value.Value, *fault) {
	v, f := s.e.registeredEarly(ctx, s.frame, s.node)
	made := s.frame.states[s.node.Index].early.made.list()
	faults := make([]*fault, len(made))
	inParallel(len(made), s.e.workers, func(i int) {
		defer s.e.options.guard()
		faults[i] = made[i].complete(ctx)
	})
	for _, other := range faults {
		f = f.and(other)
	}
	return v, f
}

// ahead returns the properties that do not depend on the component that they are passed to.
func ahead(n *check.Node) []ast.Property {
	return slices.DeleteFunc(slices.Clone(n.Resource.Decl.Properties), func(p ast.Property) bool {
		return n.Deferral.Inputs[p.Name.Value]
	})
}

// pending is a registered component instance whose inputs are supplied later. It is safe for concurrent use.
type pending struct {
	of      instance // in the frame around it
	urn     urn.URN
	body    *frame
	inputs  map[string]*lazy
	outputs map[string]*lazy
}

// lazy is a value that is evaluated on first use.
type lazy struct {
	once  sync.Once
	value value.Value
	fault *fault
}

func (l *lazy) get(evaluate func() (value.Value, *fault)) (value.Value, *fault) {
	l.once.Do(func() { l.value, l.fault = evaluate() })
	return l.value, l.fault
}

// begin makes a registered instance readable and returns a reference to it.
func (s *instance) begin(u urn.URN, inputs value.Value) value.Value {
	n := s.node
	p := &pending{of: *s, urn: u, body: s.body(u, inputs), inputs: map[string]*lazy{},
		outputs: map[string]*lazy{}}
	p.body.pending = p
	for name := range n.Deferral.Inputs {
		if !inputs.Has(name) { // a transform may have given it
			p.inputs[name] = &lazy{}
		}
	}
	for _, o := range p.body.body.Outputs {
		p.outputs[o.Decl.Name.Value] = &lazy{}
	}
	s.frame.states[n.Index].early.made.add(p)
	return s.e.resources.registered(s.resource, &resource{urn: u, component: true, known: true, local: true,
		pending: p})
}

// input returns an input of the component whose body the frame evaluates.
func (f *frame) input(ctx context.Context, name string) (value.Value, *fault) {
	if f.pending != nil && f.pending.inputs[name] != nil {
		v, fault := f.pending.input(ctx, name)
		return v, fault.elsewhere() // reported where the input is given
	}
	return f.inputs.Get(name), nil
}

func (p *pending) input(ctx context.Context, name string) (value.Value, *fault) {
	return p.inputs[name].get(func() (value.Value, *fault) {
		written := slices.DeleteFunc(slices.Clone(p.of.resource.Decl.Properties), func(property ast.Property) bool {
			return property.Name.Value != name
		})
		inputs, _, f := p.of.properties(ctx, written, &monitor.RegisterRequest{})
		if f != nil {
			return value.Null, f
		}
		return inputs.Get(name), nil
	})
}

// member returns an output without waiting for the component to be complete.
func (p *pending) member(ctx context.Context, name string) (value.Value, *fault) {
	for _, o := range p.body.body.Outputs {
		if o.Decl.Name.Value != name {
			continue
		}
		v, f := p.output(ctx, o)
		return withoutNulls(v), f.elsewhere()
	}
	return value.Null, nil
}

// output evaluates an output of the instance once, for all callers.
func (p *pending) output(ctx context.Context, o *check.Output) (value.Value, *fault) {
	return p.outputs[o.Decl.Name.Value].get(func() (value.Value, *fault) { return p.of.e.output(ctx, p.body, o) })
}

// complete evaluates the rest of an instance and registers its outputs.
func (p *pending) complete(ctx context.Context) *fault {
	var failed *fault
	for _, property := range p.of.resource.Decl.Properties {
		if name := property.Name.Value; p.inputs[name] != nil {
			_, f := p.input(ctx, name)
			failed = failed.and(f)
		}
	}
	_, f := p.of.finish(ctx, p.urn, p.body,
		func(o *check.Output) (value.Value, *fault) { return p.output(ctx, o) })
	return failed.and(f)
}
