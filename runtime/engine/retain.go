package engine

import (
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/slots"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// retainer keeps untargeted resources unchanged, together with the resources that they need (E4.29, E4.108). The
// registrar uses it for resources out of scope, the importer for the whole state. It is safe for concurrent use.
type retainer struct {
	*core
	left plan.Left // why resources are out of scope
}

// prerequisites moves the resources that a retained resource needs in front of it. It retains those without a step so
// far, and relocates those whose step failed or that were deleted on behalf of another resource (E4.108).
func (k *retainer) prerequisites(ctx context.Context, p *resources.Prerequisites, slot *slots.Slot) error {
	defer p.End()
	for m := p.Next(k.journal.NewID); m != nil; m = p.Next(k.journal.NewID) {
		switch {
		case m.Retain != nil:
			if err := k.asIs(m.Retain); err != nil {
				return err
			}
		case m.Wait != nil:
			if err := slot.Wait(ctx, m.Wait); err != nil {
				return err
			}
		default:
			step := plan.NewStep(OpSame, m.About, m.About)
			err := k.executor.Commit(&step, *m.Entry)
			m.Moved()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// asIs copies the prior state of a registration unchanged into the new state, and completes the registration.
func (k *retainer) asIs(reg *resources.Registration) error {
	step := plan.Unchanged(reg.Old.Resource(), reg.Old.Resource())
	step.Left = k.table.Scope.LeftOf(reg.URN)
	kept, err := k.executor.Take(step, reg)
	if err != nil {
		return err
	}
	reg.Step, reg.Result = step, monitor.Succeeded
	reg.Step.New = kept
	close(reg.Done)
	return nil
}

// verbatim returns a copy of a prior state under the URN of its registration. renamed is false if the copy keeps its
// old URN, because the resource is out of scope or its new parent is not created.
func (k *retainer) verbatim(old *state.Resource, reg *resources.Registration, inside bool) (kept *state.Resource,
	renamed bool) {
	kept = old.Clone()
	if old.URN == reg.URN {
		return kept, true
	}
	if !inside || k.table.Scope.Skipped(reg.Goal.Parent) {
		return kept, false
	}
	kept.URN, kept.Type, kept.Parent, kept.Aliases = reg.URN, reg.Goal.Type, reg.Goal.Parent, []urn.URN{old.URN}
	return kept, true
}

// skipCreate reports a resource that is not created: it counts as unchanged and is not recorded, and the program gets
// only its URN (E2.37, E4.29, E8.3).
func (k *retainer) skipCreate(reg *resources.Registration, goal *state.Resource) {
	step := plan.NewStep(OpSame, nil, goal)
	step.Left = k.table.Scope.LeftOf(reg.URN)
	reg.Skip(step)
	k.report.Started(step)
	k.report.Finished(step, OpSame, k.opts.DryRun || goal.Custom, 0)
}

// tooLate reports that a resource cannot change any more, because it was retained before, and ends the operation.
func (k *retainer) tooLate(u urn.URN, position string) error {
	return k.failures.unclaimed(operationFailed(u, position, fmt.Sprintf(
		"Resource '%s' cannot be operated on: in the state, a resource outside of the operation's scope depends "+
			"on it, and the program now registers that resource first. Include that resource in the operation, "+
			"or run it without --target and --exclude.", u)))
}

// retain handles a registered resource that is out of scope, without a call to its provider: a new one is not created,
// an existing one is retained (E4.29, E4.32, E4.101). inside reports whether the resource is in scope and retained only
// because of the kind of operation; it then gets its new URN.
func (r *registrar) retain(ctx context.Context, s *record, inside bool) error {
	old := s.oldState()
	if old == nil {
		r.retainer.skipCreate(s.reg, s.desired)
		return nil
	}
	if err := r.retainer.prerequisites(ctx, r.table.Prerequisites(old), s.slot); err != nil {
		return err
	}
	kept, renamed := r.retainer.verbatim(old, s.reg, inside)
	steps := []Step{plan.Unchanged(old, kept)}
	if !inside {
		steps[0].Left = r.retainer.left
	}
	r.decider.mark(s, steps)
	if err := r.takeSteps(ctx, s, steps); err != nil || renamed {
		return err
	}
	s.reg.KeepName()
	return nil
}

// keepPosition sets the position of a resource that is created again after its deletion to that of its relocated
// record, because its retained dependants come after that position. It fails if a dependency of the new resource comes
// later.
func (r *registrar) keepPosition(s *record, steps []Step) error {
	p := s.recreated
	if p == nil && s.deleted != nil {
		p = s.old
	}
	if p == nil {
		return nil
	}
	position, late := p.Late(s.desired)
	if late != "" {
		return r.failures.bailWith(s.reg.URN, s.reg.Goal.Position, fmt.Sprintf(
			"Resource '%s' cannot be created again: in the state, a resource outside of the operation's scope "+
				"depends on it, and comes before '%s', on which it depends now. Include both in the operation, "+
				"or run it without --target and --exclude.", s.reg.URN, late))
	}
	for i := range steps {
		switch steps[i].Op {
		case OpCreate, OpImport, OpCreateReplacement, OpImportReplacement:
			steps[i].Position = position
		}
	}
	return nil
}

// needsSkipped returns an error if a resource in scope depends on an untargeted one that is not created, so that its
// outputs do not exist (E4.102).
func (r *registrar) needsSkipped(s *record) error {
	missing := r.table.Scope.Missing(s.desired)
	if len(missing) == 0 {
		return nil
	}
	for _, u := range missing {
		text := fmt.Sprintf("Resource '%s' depends on '%s' which was not specified in --target list.", s.reg.URN, u)
		if len(r.opts.Targets) == 0 {
			text = fmt.Sprintf("Resource '%s' depends on '%s' which is excluded and does not exist yet.", s.reg.URN, u)
		}
		r.report.message(operationFailed(s.reg.URN, s.reg.Goal.Position, text))
	}
	if r.opts.DryRun {
		return nil
	}
	return r.failures.bail()
}

// registerRetained answers a registration of a resource that was retained before. An untargeted resource or a provider
// stays retained. One in scope must not change, since its dependants are already recorded.
func (r *registrar) registerRetained(ctx context.Context, reg *resources.Registration, g *plan.Goal,
	slot *slots.Slot) error {
	if err := slot.Wait(ctx, reg.Done); err != nil {
		return err
	}
	if reg.Result != monitor.Succeeded {
		return monitor.ErrReported
	}
	reg.Adopt(false)
	now := reg.State()
	if now.IsProvider() || !r.table.Scope.Admit(g.NewState(reg.URN, reg.Old.Resource()), reg.URN) {
		return nil
	}
	if same, err := r.wantsNoChange(reg, g, now); same || err != nil {
		return err
	}
	return r.retainer.tooLate(reg.URN, g.Position)
}

// wantsNoChange reports whether the state of a retained resource matches the program's goal.
func (r *registrar) wantsNoChange(reg *resources.Registration, g *plan.Goal, now *state.Resource) (bool, error) {
	s := r.recordOf(&resources.Registration{URN: reg.URN, Goal: g})
	s.before = now
	s.desired = g.NewState(reg.URN, now)
	if plan.WantsImport(s.oldState(), s.desired) {
		return false, nil
	}
	if err := r.examiner.connect(s); err != nil {
		return false, err
	}
	if err := r.examiner.examine(s, r.facts(s)); err != nil {
		return false, err
	}
	goal := s.desired
	goal.ID, goal.Outputs = now.ID, now.Outputs
	changes := s.diff.Change || s.diff.Replace || now.PendingReplacement || now.External || len(now.InitErrors) > 0
	return !changes && apply.MateriallySame(now, goal), nil
}
