package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// ReadResource reads a resource that is managed elsewhere (E2.45–E2.49, E4.92–E4.94).
func (d *Deployment) ReadResource(ctx context.Context, r monitor.ReadRequest) (monitor.ReadResponse, error) {
	if err := d.enter(); err != nil {
		return monitor.ReadResponse{}, err
	}
	defer d.leave()
	if err := value.Storable(r.State); err != nil { // F1.10
		return monitor.ReadResponse{}, fmt.Errorf("%s %q: %w", r.Type, r.Name, err)
	}
	position := plan.SourcePosition(d.opts.RootDir, r.SourcePosition)
	id, known := r.ID.AsString()
	u := urn.New(d.opts.Stack, d.opts.Project, r.Parent, r.Type, r.Name)
	if known && id == "" || !known && r.ID.IsKnown() {
		return monitor.ReadResponse{}, fmt.Errorf("Expected an ID for %s", u)
	}
	if !known && !d.opts.DryRun {
		return monitor.ReadResponse{}, fmt.Errorf("the ID of %s is not known", u)
	}
	request, err := d.registry.Packages.Request(urn.PackageOf(r.Type), r.PackageRef, monitor.Package{
		Version: r.Version, DownloadURL: r.PluginDownloadURL, Checksums: r.PluginChecksums})
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	ref, err := d.provider(ctx, r.Provider, request, "Read", position)
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	inputs, err := d.withHashes(ctx, plan.WithoutDeps(plan.AsMap(r.State)))
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	goal := &state.Resource{
		URN: u, Type: r.Type, Custom: true, External: true, ID: id, Inputs: inputs, Outputs: value.EmptyMap(),
		Parent:   r.Parent,
		Provider: ref, Dependencies: plan.Distinct(r.Dependencies), AdditionalSecretOutputs: r.AdditionalSecretOutputs,
		SourcePosition: position, ExtensionRef: d.registry.Packages.Extension(r.PackageRef),
	}
	reg, problem := d.table.ClaimRead(goal)
	if problem != nil {
		return monitor.ReadResponse{}, d.conflict(u, position, problem)
	}
	if reg.Retained() {
		return d.readRetained(ctx, reg, goal)
	}
	defer close(reg.Done)
	reg.Result = monitor.Failed
	if d.table.DependsOnFailed(goal) {
		reg.Result = monitor.Skipped
		d.report.skip(u)
		return monitor.ReadResponse{}, monitor.ErrReported
	}
	s := &record{d: d, reg: reg, slot: d.slots.Slot(), old: reg.Old, goal: goal}
	if err := s.slot.Take(ctx); err != nil {
		return monitor.ReadResponse{}, err
	}
	defer s.slot.Free()
	if err := s.awaitCascade(ctx); err != nil {
		return monitor.ReadResponse{}, err
	}
	steps := plan.ReadSteps(s.oldState(), goal)
	s.mark(steps)
	if err := s.takeSteps(ctx, reg, steps); err != nil {
		if errors.Is(err, apply.ErrFailed) {
			d.fail()
			err = monitor.ErrReported
		}
		return monitor.ReadResponse{}, err
	}
	now := reg.State()
	return monitor.ReadResponse{URN: u, ID: plan.IDValue(now.ID), Outputs: now.Outputs, Known: known &&
		!d.providerUnknown(ref)}, nil
}

// providerUnknown reports whether a provider answers nothing because its configuration is not known in this preview.
func (d *Deployment) providerUnknown(ref string) bool {
	i, err := d.registry.Get(ref)
	return err == nil && i.Unconfigured
}

// readRetained answers a read of what was retained before, with what it was when it was read the last time.
func (d *Deployment) readRetained(ctx context.Context, reg *resources.Registration,
	goal *state.Resource) (monitor.ReadResponse, error) {
	if err := d.slots.Wait(ctx, reg.Done); err != nil {
		return monitor.ReadResponse{}, err
	}
	if reg.Result != monitor.Succeeded {
		return monitor.ReadResponse{}, monitor.ErrReported
	}
	reg.Adopt(true)
	now := reg.State()
	if !now.External || now.ID != goal.ID {
		retainerOf(d).needed(reg.URN, goal.SourcePosition)
		return monitor.ReadResponse{}, d.bail()
	}
	return monitor.ReadResponse{URN: reg.URN, ID: plan.IDValue(now.ID), Outputs: now.Outputs, Known: true}, nil
}
