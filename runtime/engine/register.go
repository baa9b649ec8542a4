package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// RegisterResource registers a resource and returns once it is as the program wants it, or is planned to be
// (E2.9–E2.37). A fault of the request itself is an error of its own; everything else was reported when ErrReported
// comes back.
func (d *Deployment) RegisterResource(ctx context.Context, r monitor.RegisterRequest) (monitor.RegisterResponse,
	error) {
	if err := d.enter(); err != nil {
		return monitor.RegisterResponse{}, err
	}
	defer d.leave()
	own, all := d.transformsOf(&r)
	g, err := plan.NewGoal(r, d.opts.RootDir)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	g.Base = d.registry.Packages.Extends(r.PackageRef)
	parent := d.table.Goal(g.Parent)
	g.Inherit(parent)
	if g.Inputs, err = d.withHashes(ctx, g.Inputs); err != nil {
		return monitor.RegisterResponse{}, fmt.Errorf("%s %q: %w", g.Type, g.Name, err)
	}
	if len(all) > 0 {
		if g, err = d.transformed(ctx, g, all); err != nil {
			return monitor.RegisterResponse{}, err
		}
	}
	g.Own = own
	g.InheritProviders(parent)
	if err := d.resolve(ctx, g); err != nil {
		return monitor.RegisterResponse{}, err
	}
	if g.Remote {
		return d.construct(ctx, g)
	}
	reg, err := d.register(ctx, g)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	return d.response(reg), nil
}

// resolve completes a goal with its provider, which is registered if it is a default one that is missing (E2.20,
// E2.22).
func (d *Deployment) resolve(ctx context.Context, g *plan.Goal) error {
	if !g.Custom && !g.Remote {
		return nil
	}
	about := func() urn.URN { return urn.New(d.opts.Stack, d.opts.Project, g.Parent, g.Type, g.Name) }
	request, err := d.registry.Packages.Request(urn.PackageOf(g.Type), g.PackageRef, monitor.Package{
		Version: g.Version, DownloadURL: g.PluginDownloadURL, Checksums: g.PluginChecksums})
	if err != nil {
		return err
	}
	if urn.IsProviderType(g.Type) {
		g.Inputs = providers.WithPackage(g.Inputs, request, g.EnvVarMappings)
		return nil
	}
	g.Provider, err = d.provider(ctx, g.Provider, request, string(about()), g.Position)
	return err
}

// register takes a goal through all stages. The registered resource is done when it returns without an error.
func (d *Deployment) register(ctx context.Context, g *plan.Goal) (*resources.Registration, error) {
	reg, problem := d.table.Claim(g)
	if problem != nil {
		return nil, d.conflict(urn.New(d.opts.Stack, d.opts.Project, g.Parent, g.Type, g.Name), g.Position, problem)
	}
	if reg.Retained() {
		slot := d.slots.Slot()
		defer slot.Free()
		return reg, retainerOf(d).registerRetained(ctx, reg, g, slot)
	}
	defer close(reg.Done)
	reg.Result = monitor.Failed // until it is known to be better
	s := d.recordOf(reg)
	if err := s.slot.Take(ctx); err != nil {
		return nil, err
	}
	defer s.slot.Free()
	if err := s.process(ctx, reg); err != nil {
		if errors.Is(err, apply.ErrFailed) {
			if d.opts.ContinueOnError {
				return reg, nil
			}
			d.stop()
			return nil, monitor.ErrReported
		}
		return nil, err
	}
	return reg, nil
}

// conflict reports a name that cannot be taken, which ends the operation.
func (d *Deployment) conflict(u urn.URN, position string, c *resources.Conflict) error {
	d.report.message(Message{URN: u, Severity: diag.Error, Code: c.Code, Text: c.Text, Position: position})
	return d.bail()
}

// process checks, compares, decides and acts. It returns apply.ErrFailed after a failure that concerns this resource
// only, and otherwise what its caller is to get.
func (record *record) process(ctx context.Context, reg *resources.Registration) error {
	g := reg.Goal
	if record.d.table.DependsOnFailed(record.goal) {
		reg.Result = monitor.Skipped
		record.d.report.skip(reg.URN)
		return nil
	}
	if record.d.mode != updating && g.Custom && !urn.IsProviderType(g.Type) {
		if record.d.mode == destroying {
			return record.retain(ctx, reg, true) // E7.41
		}
		return record.readOnly(ctx, reg) // E7.30, E7.31
	}
	in, err := record.inScope(ctx)
	if err != nil {
		return err
	}
	if reachable := record.d.mode == updating || record.d.table.WithoutSkipped(record.goal, record.d.opts.DryRun); !in ||
		!reachable {
		return record.retain(ctx, reg, in)
	}
	if record.d.mode == updating {
		if err := record.needsSkipped(); err != nil {
			return err
		}
	}
	if record.d.opts.Refresh && record.d.opts.RunProgram && record.d.mode == updating {
		if err := record.readFirst(reg); err != nil {
			return err
		}
	}
	if err := record.connect(); err != nil {
		return record.d.refused(reg.URN, g.Position, "start the provider of", g.Type, err)
	}
	if plan.WantsImport(record.oldState(), record.goal) {
		if err := record.importFirst(ctx, reg); err != nil {
			return err
		}
	}
	for {
		if err := record.awaitCascade(ctx); err != nil {
			return err
		}
		if err := record.examine(); err != nil {
			return err
		}
		steps, again, err := record.decide()
		if err != nil {
			return err
		}
		if again {
			continue
		}
		if err := record.keepPosition(steps); err != nil {
			return err
		}
		plan.NameTransforms(steps, g, record.d.opts.RootDir)
		return record.takeSteps(ctx, reg, steps)
	}
}

// refused reports that a provider could not answer about a resource (E4.27, E4.49).
func (d *Deployment) refused(u urn.URN, position, doing, typ string, err error) error {
	if errors.Is(err, monitor.ErrReported) || errors.Is(err, monitor.ErrShutdown) {
		return err
	}
	if d.isTerminated() {
		return monitor.ErrShutdown
	}
	text := err.Error()
	var crash *provider.CrashError
	if errors.As(err, &crash) {
		text = fmt.Sprintf("could not %s %s %q: %s", doing, typ, u.Name(), d.report.crashText(crash))
	}
	d.report.message(Message{URN: u, Severity: diag.Error, Code: diag.OperationFailed, Text: text, Position: position})
	return apply.ErrFailed
}

// takeSteps takes the steps of a registration.
func (s *record) takeSteps(ctx context.Context, reg *resources.Registration, steps []Step) error {
	defer s.d.table.EndCascades(steps)
	for i := range steps {
		if s.d.running.Err() != nil || ctx.Err() != nil { // E5.10
			return monitor.ErrShutdown
		}
		step := &steps[i]
		if i > 0 && step.Op == OpReplace && reg.State() != nil {
			step.New = reg.State()
		}
		result, err := s.d.executor.Take(*step, reg)
		if err != nil {
			return err
		}
		if step.New == nil {
			continue
		}
		if result == nil {
			result = step.New
		}
		if step.Logical() {
			reg.Step = *step
			reg.Step.New = result
		}
	}
	reg.Result = monitor.Succeeded
	return nil
}

// importFirst brings a resource under management as it is (E4.86–E4.91). Afterwards that is the record's old state.
func (s *record) importFirst(ctx context.Context, reg *resources.Registration) error {
	old := s.oldState()
	goal := s.goal.Clone()
	goal.ID, goal.Inputs = s.goal.ImportID, value.EmptyMap()
	situation := s.situation()
	situation.Goal, situation.Importing = goal, true
	steps := plan.Steps(situation)
	if err := s.d.constraint.imports(steps); err != nil {
		return s.d.violatesPlan(reg.URN, reg.Goal.Position, err)
	}
	if err := s.keepPosition(steps); err != nil {
		return err
	}
	if old != nil {
		s.mark(steps)
	}
	if err := s.takeSteps(ctx, reg, steps); err != nil {
		return err
	}
	reg.Result = monitor.Failed
	s.old, s.imported = s.d.table.Imported(reg), true
	s.goal = reg.Goal.NewState(reg.URN, reg.State())
	s.goal.Aliases = slices.Clone(goal.Aliases)
	return nil
}

// response is what the program learns of a registered resource (E2.34–E2.37, E5.30, E5.31).
func (d *Deployment) response(reg *resources.Registration) monitor.RegisterResponse {
	r := monitor.RegisterResponse{URN: reg.URN, Outputs: value.EmptyMap(), Result: reg.Result}
	now := reg.State()
	if reg.Result != monitor.Succeeded || now == nil {
		if reg.Goal.Custom {
			r.ID = value.Unknown(value.KindString)
		}
		return r
	}
	r.Known = reg.Known()
	if !now.Custom { // E2.35
		return r
	}
	r.ID = plan.IDValue(now.ID)
	r.Outputs = now.Outputs
	return r
}
