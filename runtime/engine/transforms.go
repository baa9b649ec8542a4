package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

var _ monitor.TransformRegistrar = (*Deployment)(nil)

// transforms are what changes registrations and calls before they are looked at. It is safe for concurrent use.
type transforms struct {
	mu      sync.Mutex // guards the rest
	stack   []monitor.Transform
	invokes []monitor.InvokeTransform
	// pending are those of remote components that are being constructed: the component's own registration comes from
	// another process, which does not have them (E2.42).
	pending map[string][]monitor.Transform
}

// RegisterStackTransform applies a transform to what is registered from now on (E2.74).
func (d *Deployment) RegisterStackTransform(_ context.Context, t monitor.Transform) error {
	d.transforms.mu.Lock()
	defer d.transforms.mu.Unlock()
	d.transforms.stack = append(d.transforms.stack, t)
	return nil
}

// RegisterStackInvokeTransform applies a transform to calls of functions from now on.
func (d *Deployment) RegisterStackInvokeTransform(_ context.Context, t monitor.InvokeTransform) error {
	d.transforms.mu.Lock()
	defer d.transforms.mu.Unlock()
	d.transforms.invokes = append(d.transforms.invokes, t)
	return nil
}

// transformsOf are a registration's own transforms, and all that apply to it in their order: its own, those of its
// ancestors from the parent upwards, and the stack's (E2.18).
func (d *Deployment) transformsOf(r *monitor.RegisterRequest) (own, all []monitor.Transform) {
	d.transforms.mu.Lock()
	defer d.transforms.mu.Unlock()
	t := &d.transforms
	key := fmt.Sprintf("%s::%s::%s", r.Parent, r.Type, r.Name)
	own = r.Transforms
	if stashed, ok := t.pending[key]; ok && !r.Remote {
		own = stashed
		delete(t.pending, key)
	} else if r.Remote && len(own) > 0 {
		if t.pending == nil {
			t.pending = map[string][]monitor.Transform{}
		}
		t.pending[key] = own
	}
	all = slices.Clone(own)
	all = append(all, d.table.Transforms(r.Parent)...)
	return own, append(all, t.stack...)
}

// transformed is a goal after all transforms: they see inputs that carry their dependencies, and what they leave says
// what the resource depends on (E2.70–E2.73).
func (d *Deployment) transformed(ctx context.Context, g *plan.Goal, all []monitor.Transform) (*plan.Goal, error) {
	r := g.RegisterRequest
	r.Transforms = nil
	r.Inputs = value.EmptyMap()
	for i, key := range g.Inputs.Keys() {
		r.Inputs = r.Inputs.With(key, g.Inputs.At(i).DependingOn(g.PropertyDependencies[key]...))
	}
	for _, transform := range all {
		next, err := transform(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("invoke transform: %w", err)
		}
		next.Type, next.Name, next.Parent, next.Custom, next.Remote = r.Type, r.Name, r.Parent, r.Custom, r.Remote
		next.Inputs = plan.AsMap(next.Inputs)
		r = next
	}
	r.PropertyDependencies = make(map[string][]urn.URN, r.Inputs.Len())
	for i, key := range r.Inputs.Keys() {
		deps := plan.Distinct(r.Inputs.At(i).AllDeps())
		r.PropertyDependencies[key] = deps
		r.Dependencies = append(slices.Clip(r.Dependencies), deps...)
	}
	changed, err := plan.NewGoal(r, d.opts.RootDir)
	if err != nil {
		return nil, fmt.Errorf("after its transforms, %w", err)
	}
	changed.Base = g.Base
	changed.Defaults = unchanged(g.Defaults, g.Inputs, changed.Inputs)
	changed.Inputs, err = d.withHashes(ctx, changed.Inputs)
	return changed, err
}

// transformedInvoke is a call after all transforms of calls.
func (d *Deployment) transformedInvoke(ctx context.Context, r monitor.InvokeRequest) (monitor.InvokeRequest, error) {
	d.transforms.mu.Lock()
	all := slices.Clip(d.transforms.invokes)
	d.transforms.mu.Unlock()
	for _, transform := range all {
		next, err := transform(ctx, r)
		if err != nil {
			return r, fmt.Errorf("invoke transform: %w", err)
		}
		r.Args, r.Provider, r.Version = next.Args, next.Provider, next.Version
		r.PluginDownloadURL, r.PluginChecksums = next.PluginDownloadURL, next.PluginChecksums
	}
	return r, nil
}

// unchanged returns the paths at which a transform has left inputs as they were.
func unchanged(paths []value.Path, before, after value.Value) []value.Path {
	var same []value.Path
	for _, path := range paths {
		was, had := path.Get(before)
		if is, has := path.Get(after); had && has && value.SameContent(was, is) {
			same = append(same, path)
		}
	}
	return same
}
