package eval

import (
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// construct evaluates the body of a component that has been registered, and registers its outputs (L3.E). The outputs
// carry the dependencies of their values, not the component as a whole.
func (s *instance) construct(ctx context.Context, u urn.URN, inputs value.Value) (value.Value, *fault) {
	fr := s.body(u, inputs)
	first := fr.body.VersionNeeds()
	s.e.runAll(ctx, fr, first)
	if f := s.e.checkVersion(ctx, fr); f != nil {
		return value.Null, fr.failed(first).and(f)
	}
	return s.finish(ctx, u, fr, func(o *check.Output) (value.Value, *fault) { return s.e.output(ctx, fr, o) })
}

// body returns a frame for the body of a registered component.
func (s *instance) body(u urn.URN, inputs value.Value) *frame {
	r := s.resource
	f := newFrame(r.Component.Body, u)
	f.prefix, f.inputs, f.component, f.packaged = s.name()+"-", inputs, true, r.Component.Packaged
	return f
}

// output evaluates an output of a body.
func (e *evaluator) output(ctx context.Context, fr *frame, o *check.Output) (value.Value, *fault) {
	s := scope{e: e, frame: fr}
	v, f := s.eval(ctx, o.Decl.Value)
	if f == nil {
		f = storable("the output `"+o.Decl.Name.Value+"`", v, propertyRanges{}, o.Decl.Value.Range())
	}
	return v, f
}

// finish evaluates the rest of a component's body and registers the component's outputs.
func (s *instance) finish(ctx context.Context, u urn.URN, fr *frame,
	output func(*check.Output) (value.Value, *fault)) (value.Value, *fault) {
	r, body := s.resource, fr.body
	s.e.runAll(ctx, fr, body.Nodes)
	failed := fr.failed(body.Nodes)
	entries := make([]value.Entry, 0, len(body.Outputs))
	for _, o := range body.Outputs {
		v, f := output(o)
		if f != nil && (failed == nil || len(f.findings) > 0) {
			failed = failed.and(f)
		}
		entries = append(entries, value.Entry{Key: o.Decl.Name.Value, Value: v})
	}
	members := sortedURNs(fr.members.list())
	s.frame.members.add(members...)
	if failed != nil {
		return value.Null, failed
	}
	outputs := withoutNulls(value.MapOf(entries...))
	if err := s.e.monitor.RegisterOutputs(ctx, u, outputs); err != nil {
		return value.Null, failure(err, diag.OperationFailed, r.Decl.Name.Range, "cannot record the outputs of `%s`: %s",
			r.Decl.Name.Value, err)
	}
	return s.e.resources.registered(r, &resource{urn: u, outputs: outputs, component: true, known: true, local: true,
		members: members}), nil
}

// failed returns the combined faults of nodes in program order, or nil if there are none.
func (f *frame) failed(nodes []*check.Node) *fault {
	var failed *fault
	for _, n := range nodes {
		failed = failed.and(f.states[n.Index].fault)
	}
	return failed
}

// concrete returns urns, sorted, with each component of the program replaced by its members. The engine does not wait
// for the children of a component.
func (g *registry) concrete(urns []urn.URN) []urn.URN {
	var all []urn.URN
	for i, u := range urns {
		res := g.get(u)
		if res == nil || !res.local {
			if all != nil {
				all = append(all, u)
			}
			continue
		}
		if all == nil {
			all = append(make([]urn.URN, 0, len(urns)+len(res.members)), urns[:i]...)
		}
		all = append(all, res.members...)
	}
	if all == nil {
		all = slices.Clone(urns)
	}
	return sortedURNs(all)
}

// withoutItself returns a reference to a resource without the dependency on component u of the program: the outputs of
// such a component have dependencies of their own.
func (g *registry) withoutItself(v value.Value, u urn.URN) value.Value {
	if res := g.get(u); res == nil || !res.local {
		return v
	}
	others := slices.DeleteFunc(slices.Clone(v.Deps()), func(d urn.URN) bool { return d == u })
	return v.WithoutDeps().DependingOn(others...)
}

// givenProviders completes the providers of a component of the program with the provider of the option provider, that
// of the enclosing custom resource, and the program's default providers (L7.40, L7.45).
func (s *instance) givenProviders(ctx context.Context, request *monitor.RegisterRequest) *fault {
	if request.Provider != "" {
		request.Providers = withProvider(request.Providers, request.Provider)
		request.Provider = ""
	}
	if parent := s.e.resources.get(request.Parent); parent != nil && !parent.component {
		request.Providers = withProvider(request.Providers, parent.provider)
	}
	for _, n := range s.resource.DefaultProviders {
		ref, f := s.defaultProvider(ctx, n)
		if f != nil {
			return f
		}
		request.Providers = withProvider(request.Providers, ref)
	}
	return nil
}

// oldName returns the alias of a resource in a packaged component for old states, in which the resource's name did not
// yet begin with its component's name (L3.53). It returns none if another resource has that name now.
func (s *instance) oldName() []monitor.Alias {
	r := s.resource
	if !s.frame.packaged {
		return nil
	}
	old := r.LogicalName + s.suffix
	for _, n := range s.frame.body.Nodes {
		if n.Resource != nil && n.Resource != r && s.frame.prefix+n.Resource.LogicalName == old {
			return nil
		}
	}
	return []monitor.Alias{{URN: urn.New(s.e.info.Stack, s.e.info.Project, s.frame.parent, r.Token, old)}}
}
