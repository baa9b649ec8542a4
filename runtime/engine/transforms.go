package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// transforms holds the functions of the program that change its registrations and calls before the engine processes
// them. It is safe for concurrent use.
type transforms struct {
	mu      sync.Mutex // guards the rest
	stack   []monitor.Transform
	invokes []monitor.InvokeTransform
	// pending holds the transforms of remote components under construction: their second registration comes from the
	// process that constructs them, without the transforms (E2.42).
	pending map[string][]monitor.Transform
}

// RegisterStackTransform adds a transform for all later registrations (E2.74).
func (t *transforms) RegisterStackTransform(_ context.Context, transform monitor.Transform) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stack = append(t.stack, transform)
	return nil
}

// RegisterStackInvokeTransform adds a transform for all later function calls.
func (t *transforms) RegisterStackInvokeTransform(_ context.Context, transform monitor.InvokeTransform) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invokes = append(t.invokes, transform)
	return nil
}

// of returns a registration's own transforms, and all transforms that apply to it in order: its own, those of its
// ancestors from the parent upwards, and the stack's (E2.18).
func (t *transforms) of(r *monitor.RegisterRequest, ancestors []monitor.Transform) (own, all []monitor.Transform) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// The first registration of a remote component comes from the program and has its transforms; they wait for the
	// second one, which comes from the process that constructs it and is recognized by its name.
	key := fmt.Sprintf("%s::%s::%s", r.Parent, r.Type, r.Name)
	own = r.Transforms
	if pending, ok := t.pending[key]; ok && !r.Remote {
		own = pending
		delete(t.pending, key)
	} else if r.Remote && len(own) > 0 {
		if t.pending == nil {
			t.pending = map[string][]monitor.Transform{}
		}
		t.pending[key] = own
	}
	return own, slices.Concat(own, ancestors, t.stack)
}

// invoke applies all invoke transforms to a call.
func (t *transforms) invoke(ctx context.Context, r monitor.InvokeRequest) (monitor.InvokeRequest, error) {
	t.mu.Lock()
	all := slices.Clip(t.invokes)
	t.mu.Unlock()
	for _, transform := range all {
		next, err := transform(ctx, r)
		if err != nil {
			return r, fmt.Errorf("invoke transform: %w", err)
		}
		next.PackageRef = r.PackageRef
		r.Args, r.Plugin = next.Args, next.Plugin
	}
	return r, nil
}

// transformed applies transforms to a goal. Transforms get inputs that carry their dependencies, and the dependencies
// in their results replace the goal's (E2.70–E2.73). They cannot change the URN of the resource.
func (o *Options) transformed(ctx context.Context, g *plan.Goal, all []monitor.Transform) (*plan.Goal, error) {
	r := g.RegisterRequest
	r.Transforms = nil
	r.Inputs = value.EmptyMap()
	for i, key := range g.Inputs.Keys() {
		deps, _ := g.PropertyDependencies.Get(key)
		r.Inputs = r.Inputs.With(key, g.Inputs.At(i).DependingOn(deps...))
	}
	for _, transform := range all {
		next, err := transform(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("invoke transform: %w", err)
		}
		next.Type, next.Name, next.Parent, next.Custom, next.Remote = r.Type, r.Name, r.Parent, r.Custom, r.Remote
		next.Inputs = next.Inputs.MapOrEmpty()
		r = next
	}
	byInput := make([][]urn.URN, r.Inputs.Len())
	for i := range byInput {
		byInput[i] = plan.Distinct(r.Inputs.At(i).AllDeps())
		r.Dependencies = append(slices.Clip(r.Dependencies), byInput[i]...)
	}
	r.PropertyDependencies = urn.NewDependencies(r.Inputs.Keys(), byInput)
	changed, err := plan.NewGoal(r, o.RootDir)
	if err != nil {
		return nil, fmt.Errorf("after its transforms, %w", err)
	}
	changed.Base = g.Base
	changed.Defaults = unchanged(g.Defaults, g.Inputs, changed.Inputs)
	changed.Inputs, err = o.withHashes(ctx, changed.Inputs)
	return changed, err
}

// unchanged returns the paths whose inputs a transform has not changed.
func unchanged(paths []value.Path, before, after value.Value) []value.Path {
	var same []value.Path
	for _, path := range paths {
		former, found := path.Get(before)
		if now, present := path.Get(after); found && present && value.SameContent(former, now) {
			same = append(same, path)
		}
	}
	return same
}
