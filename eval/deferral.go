package eval

import (
	"context"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Components that use each other's outputs (L10.C21) are registered first. Their inputs, what they are made of and
// their outputs are evaluated when someone asks, each once. The checker has seen to it that nothing asks for itself.

// early is the known part of a node with a Deferral before it is complete.
type early struct {
	lazy // a reference, or with forEach a list or map of these
	made gathered[*pending]
}

// foresee makes room for what such nodes are before they are complete.
func (f *frame) foresee() {
	for _, n := range f.body.Nodes {
		if n.Deferral != nil {
			f.states[n.Index].early = &early{}
		}
	}
}

// ensure evaluates a node ahead of the order, behind what it needs.
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

// registeredEarly is the value of a node with a Deferral as soon as it is registered.
func (e *evaluator) registeredEarly(ctx context.Context, f *frame, n *check.Node) (value.Value, *fault) {
	return f.states[n.Index].early.get(func() (value.Value, *fault) {
		for _, needed := range n.Deferral.Register {
			e.ensure(ctx, f, needed)
		}
		inst := &instance{scope: scope{e: e, frame: f}, node: n, resource: n.Resource}
		return inst.all(ctx)
	})
}

// complete evaluates everything of a node with a Deferral.
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

// ahead are the properties that do not come back to the component that they are given to.
func ahead(n *check.Node) []ast.Property {
	var written []ast.Property
	for _, p := range n.Resource.Decl.Properties {
		if !n.Deferral.Inputs[p.Name.Value] {
			written = append(written, p)
		}
	}
	return written
}

// pending is an instance of a component that is registered and whose inputs follow. It is safe for concurrent use.
type pending struct {
	of      instance // in the frame around it
	urn     urn.URN
	body    *frame
	inputs  map[string]*lazy
	outputs map[string]*lazy
}

// lazy is a value that is evaluated when it is first asked for.
type lazy struct {
	once  sync.Once
	value value.Value
	fault *fault
}

func (l *lazy) get(evaluate func() (value.Value, *fault)) (value.Value, *fault) {
	l.once.Do(func() { l.value, l.fault = evaluate() })
	return l.value, l.fault
}

// begin makes an instance that has been registered readable, and answers with the reference to it.
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
	return s.e.resources.registered(s.resource, &resource{urn: u, component: true, known: true, local: true, pending: p})
}

// input is an input of the component whose body a frame is of.
func (f *frame) input(ctx context.Context, name string) (value.Value, *fault) {
	if f.pending != nil && f.pending.inputs[name] != nil {
		v, fault := f.pending.input(ctx, name)
		return v, fault.elsewhere() // it is reported where the input is given
	}
	return f.inputs.Get(name), nil
}

func (p *pending) input(ctx context.Context, name string) (value.Value, *fault) {
	return p.inputs[name].get(func() (value.Value, *fault) {
		var written []ast.Property
		for _, property := range p.of.resource.Decl.Properties {
			if property.Name.Value == name {
				written = append(written, property)
			}
		}
		inputs, _, f := p.of.properties(ctx, written, &monitor.RegisterRequest{})
		if f != nil {
			return value.Null, f
		}
		return inputs.Get(name), nil
	})
}

// member is an output, for someone who does not wait until the component is complete.
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

// output evaluates an output of the instance, once for all who ask.
func (p *pending) output(ctx context.Context, o *check.Output) (value.Value, *fault) {
	return p.outputs[o.Decl.Name.Value].get(func() (value.Value, *fault) { return p.of.e.output(ctx, p.body, o) })
}

// complete evaluates what is left of an instance, and registers its outputs.
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
