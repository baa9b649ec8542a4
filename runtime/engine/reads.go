package engine

import (
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// ReadResource reads a resource that is managed elsewhere (E2.45–E2.49, E4.92–E4.94).
func (d *Deployment) ReadResource(ctx context.Context, r monitor.ReadRequest) (monitor.ReadResponse, error) {
	if err := d.gate.enter(); err != nil {
		return monitor.ReadResponse{}, err
	}
	defer d.leave()
	if err := value.Storable(r.State); err != nil { // F1.10
		return monitor.ReadResponse{}, fmt.Errorf("%s %q: %w", r.Type, r.Name, err)
	}
	position := plan.SourcePosition(d.opts.RootDir, r.SourcePosition)
	id, known := r.ID.AsString()
	u := d.opts.urnOf(r.Parent, r.Type, r.Name)
	if known && id == "" || !known && r.ID.IsKnown() {
		return monitor.ReadResponse{}, fmt.Errorf("Expected an ID for %s", u)
	}
	if !known && !d.opts.DryRun {
		return monitor.ReadResponse{}, fmt.Errorf("the ID of %s is not known", u)
	}
	ref, err := d.resolver.resolve(ctx, providerRequest{plugin: r.Plugin, pkg: urn.PackageOf(r.Type), about: "Read",
		position: position})
	if err != nil {
		d.resolver.failed(&state.Resource{URN: u, Type: r.Type, Custom: true, Parent: r.Parent}, err)
		return monitor.ReadResponse{}, err
	}
	inputs, err := d.opts.withHashes(ctx, r.State.MapOrEmpty().DeepWithoutDeps())
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	goal := &state.Resource{
		URN: u, Type: r.Type, Custom: true, External: true, ID: id, Inputs: inputs, Outputs: value.EmptyMap(),
		Parent:   r.Parent,
		Provider: ref, Dependencies: plan.Distinct(r.Dependencies), AdditionalSecretOutputs: r.AdditionalSecretOutputs,
		SourcePosition: position, ExtensionRef: d.registry.Packages.Extension(r.PackageRef),
	}
	reg, adopted, err := d.registrar.read(ctx, goal)
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	now := reg.State()
	i, err := d.registry.Get(ref)
	unconfigured := err == nil && i.Unconfigured // the provider answers no calls in this preview
	return monitor.ReadResponse{URN: u, ID: plan.IDValue(now.ID), Outputs: now.Outputs,
		Known: adopted || known && !unconfigured}, nil
}
