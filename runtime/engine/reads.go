package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
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
	request, err := d.packageRequest(urn.PackageOf(r.Type), r.PackageRef, monitor.Package{
		Version: r.Version, DownloadURL: r.PluginDownloadURL, Checksums: r.PluginChecksums})
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	ref, err := d.provider(ctx, r.Provider, request, "Read", position)
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	inputs, err := d.withHashes(ctx, plan.WithoutDeps(asMap(r.State)))
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	goal := &state.Resource{
		URN: u, Type: r.Type, Custom: true, External: true, ID: id, Inputs: inputs, Outputs: value.EmptyMap(), Parent: r.Parent,
		Provider: ref, Dependencies: plan.Distinct(r.Dependencies), AdditionalSecretOutputs: r.AdditionalSecretOutputs,
		SourcePosition: position, ExtensionRef: d.onlyExtension(r.PackageRef),
	}
	reg, err := d.claimRead(goal)
	if err != nil {
		return monitor.ReadResponse{}, err
	}
	if reg.carried {
		return d.adoptRead(ctx, reg, goal)
	}
	defer close(reg.done)
	reg.result = monitor.Failed
	if d.poisoned(goal) {
		reg.result = monitor.Skipped
		d.report.skip(u)
		return monitor.ReadResponse{}, monitor.ErrReported
	}
	l := &held{d: d}
	if err := l.take(ctx); err != nil {
		return monitor.ReadResponse{}, err
	}
	defer l.free()
	s := &subject{reg: reg, old: reg.old, goal: goal}
	if err := d.awaitCascade(ctx, s, l); err != nil {
		return monitor.ReadResponse{}, err
	}
	chain := plan.ReadSteps(s.oldState(), goal)
	d.decisions.Lock()
	d.mark(s, chain)
	d.decisions.Unlock()
	if err := d.carryOut(ctx, reg, s, chain); err != nil {
		if errors.Is(err, errResourceFailed) {
			d.fail()
			err = monitor.ErrReported
		}
		return monitor.ReadResponse{}, err
	}
	return monitor.ReadResponse{URN: u, ID: d.idOf(reg.state), Outputs: reg.state.Outputs, Known: known && !d.providerUnknown(ref)}, nil
}

// providerUnknown reports whether a provider answers nothing because its configuration is not known in this preview.
func (d *Deployment) providerUnknown(ref string) bool {
	i, err := d.registry.get(ref)
	return err == nil && i.unconfigured
}

// adoptRead answers a read of what was carried over before, with what it was when it was read the last time.
func (d *Deployment) adoptRead(ctx context.Context, reg *registered, goal *state.Resource) (monitor.ReadResponse, error) {
	if err := d.wait(ctx, reg.done); err != nil {
		return monitor.ReadResponse{}, err
	}
	if reg.result != monitor.Succeeded {
		return monitor.ReadResponse{}, monitor.ErrReported
	}
	d.mu.Lock()
	reg.carried, reg.read = false, true
	now := reg.state
	d.mu.Unlock()
	if !now.External || now.ID != goal.ID {
		d.needed(reg.urn, goal.SourcePosition)
		return monitor.ReadResponse{}, d.bail()
	}
	return monitor.ReadResponse{URN: reg.urn, ID: d.idOf(now), Outputs: now.Outputs, Known: true}, nil
}

// claimRead names a resource that is read; its old state is found under its own URN only (E4.94).
func (d *Deployment) claimRead(goal *state.Resource) (*registered, error) {
	d.mu.Lock()
	u := goal.URN
	fault := func(code diag.Code, format string, args ...any) (*registered, error) {
		d.mu.Unlock()
		d.report.message(Message{URN: u, Severity: diag.Error, Code: code, Text: fmt.Sprintf(format, args...), Position: goal.SourcePosition})
		return nil, d.bail()
	}
	if goal.Parent != "" && d.resources[goal.Parent] == nil {
		return fault(diag.OperationFailed, "could not find parent resource %s", goal.Parent)
	}
	if r := d.resources[u]; r != nil && r.carried {
		d.mu.Unlock()
		return r, nil
	}
	if d.resources[u] != nil {
		return fault(diag.DuplicateURN, "Duplicate resource URN '%s'; try giving it a unique name", u)
	}
	reg := &registered{urn: u, parent: goal.Parent, read: true, done: make(chan struct{})}
	if old := d.olds.byURN[u]; old != nil && old.now != nil {
		old.claimed = true
		reg.old = old
	}
	d.enlist(reg)
	d.mu.Unlock()
	return reg, nil
}
