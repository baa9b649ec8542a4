package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// registrar takes registrations through these stages, each on its caller's goroutine:
//
//	claim     the name and the prior resource   the table's lock
//	examine   the provider checks and compares  no lock, one slot
//	decide    the steps are chosen              the decider's lock
//	take      the steps are taken               no lock, one slot
//
// It does not wait for another resource while it holds a lock, and gives up its slot while it waits (slots.Slot.Wait).
// It is safe for concurrent use.
type registrar struct {
	*core
	examiner *examiner
	decider  *decider
	retainer *retainer
	pending  *pendingCreations
}

// register takes a goal through all stages. If it returns without an error, the registration is complete. If the
// operation goes on, a failed registration is no error; Result records the failure.
func (r *registrar) register(ctx context.Context, g *plan.Goal) (*resources.Registration, error) {
	reg, problem := r.table.Claim(g)
	if problem != nil {
		return nil, r.failures.conflict(r.opts.urnOf(g.Parent, g.Type, g.Name), g.Position, problem)
	}
	if reg.Retained() {
		slot := r.slots.Slot()
		defer slot.Free()
		err := r.registerRetained(ctx, reg, g, slot)
		if errors.Is(err, apply.ErrFailed) {
			r.failures.resourceFailed()
			err = monitor.ErrReported
		}
		if errors.Is(err, monitor.ErrReported) && reg.Result == monitor.Succeeded {
			r.report.resourceFailed(reg.State(), reg.State())
		}
		return reg, err
	}
	defer close(reg.Done)
	reg.Result = monitor.Failed // overwritten on success
	s := r.recordOf(reg)
	if err := s.slot.Take(ctx); err != nil {
		return nil, err
	}
	defer s.slot.Free()
	if err := r.process(ctx, s); err != nil {
		if !s.stepped && (errors.Is(err, apply.ErrFailed) || errors.Is(err, monitor.ErrReported)) {
			r.report.resourceFailed(s.oldState(), s.desired)
		}
		if errors.Is(err, apply.ErrFailed) {
			if r.failures.goOn {
				return reg, nil
			}
			r.failures.resourceFailed()
			return nil, monitor.ErrReported
		}
		return nil, err
	}
	return reg, nil
}

// recordOf returns the resource record for a claimed registration.
func (r *registrar) recordOf(reg *resources.Registration) *record {
	s := &record{reg: reg, slot: r.slots.Slot(), inputs: reg.Goal.Inputs, old: reg.Old}
	if planned := r.constraint.planned(reg.URN); planned != nil {
		s.seed = planned.Seed
	}
	if s.seed == nil {
		s.seed = r.opts.Seed()
	}
	s.desired = reg.Goal.NewState(reg.URN, s.oldState())
	return s
}

// process examines the resource, decides its steps and takes them. It returns apply.ErrFailed after a failure of this
// resource only, and otherwise the error for the program.
func (r *registrar) process(ctx context.Context, s *record) error {
	reg, g := s.reg, s.reg.Goal
	if r.table.DependsOnFailed(s.desired) {
		reg.Result = monitor.Skipped
		r.report.skip(reg.URN)
		return nil
	}
	if r.mode != updating && g.Custom && !urn.IsProviderType(g.Type) {
		if r.mode == destroying {
			return r.retain(ctx, s, true) // E7.41
		}
		return r.readOnly(ctx, s) // E7.30, E7.31
	}
	inside, err := r.inScope(ctx, s)
	if err != nil {
		return err
	}
	// In a refresh or a destroy, references to resources that the program skipped are removed from the goal; they are
	// no error.
	if reachable := r.mode == updating || r.table.Scope.WithoutSkipped(s.desired, r.opts.DryRun); !inside ||
		!reachable {
		return r.retain(ctx, s, inside)
	}
	if r.mode == updating {
		if err := r.needsSkipped(s); err != nil {
			return err
		}
	}
	if r.opts.Refresh && r.opts.RunProgram && r.mode == updating {
		if err := r.readFirst(s); err != nil {
			return err
		}
	}
	if err := r.examiner.connect(s); err != nil {
		return err
	}
	if plan.WantsImport(s.oldState(), s.desired) {
		if err := r.importFirst(ctx, s); err != nil {
			return err
		}
	}
	steps, err := r.plan(ctx, s)
	if err != nil {
		return err
	}
	r.warn(s, steps)
	if err := r.keepPosition(s, steps); err != nil {
		return err
	}
	plan.NameTransforms(steps, g, r.opts.RootDir)
	return r.takeSteps(ctx, s, steps)
}

// plan examines a record and chooses its steps. It starts over if, by the time of the decision, the prior resource is
// being deleted on behalf of another one: then there is nothing left to compare with.
func (r *registrar) plan(ctx context.Context, s *record) ([]Step, error) {
	for {
		if err := r.awaitCascade(ctx, s); err != nil {
			return nil, err
		}
		if err := r.examiner.examine(s, r.facts(s)); err != nil {
			return nil, err
		}
		if steps, again, err := r.decider.decide(s, r.situation(s)); err != nil || !again {
			return steps, err
		}
	}
}

// warn adds warnings about steps that change or delete an object although the program's options seem to spare it: an
// import that is followed by a change, and a deletion of an object that the program retains from now on.
func (r *registrar) warn(s *record, steps []Step) {
	old := s.oldState()
	if r.mode != updating || old == nil || !old.Custom || old.External {
		return
	}
	warning := func(text string) { r.report.message(s.message(Message{Severity: diag.Warning, Text: text})) }
	for i := range steps {
		step := &steps[i]
		if s.imported && (step.Op == OpUpdate || step.Op == OpReplace) {
			done := "updated"
			if step.Op == OpReplace {
				done = "replaced"
			}
			text := fmt.Sprintf("The object of '%s' is imported and then %s", s.reg.URN.Name(), done)
			if keys := slices.Sorted(slices.Values(step.Diffs)); len(keys) > 0 {
				text += ", because the program has other values for: " + strings.Join(keys, ", ")
			}
			warning(text +
				". To leave it as it is, write the values that it has, or list the properties in ignoreChanges.")
		}
		if step.Op == OpReplace && s.desired.RetainOnDelete && !old.RetainOnDelete && s.deleted == nil {
			warning(fmt.Sprintf("The present object of '%s' is deleted: retainOnDelete holds only once it is in the state. "+
				"To keep the object, run `yamlhost up` with retainOnDelete and without the other changes first.",
				s.reg.URN.Name()))
		}
	}
}

// facts returns the input of the examination.
func (r *registrar) facts(s *record) plan.Facts {
	f := plan.Facts{Old: s.oldState(), Goal: s.desired, Wanted: s.inputs, Deleted: s.deleted != nil,
		Provided: s.provider != nil, DryRun: r.opts.DryRun, Recorded: r.pending.recorded(s.reg.URN),
		Defaults: s.reg.Goal.Defaults}
	if f.Old == nil {
		return f
	}
	f.Around, f.OldProvider = r.decider.surroundings(s.reg.URN, f.Old,
		s.desired), r.table.Prior.Provider(f.Old.Provider)
	if now, err := urn.ParseReference(s.desired.Provider); err == nil {
		f.FormerProvider = r.table.Former(now.URN)
	}
	return f
}

// situation returns the input of the decision about the steps.
func (r *registrar) situation(s *record) plan.Situation {
	situation := plan.Situation{Old: s.oldState(), Goal: s.desired, Deleted: s.deleted, Imported: s.imported,
		Diff: s.diff}
	if s.recreated != nil {
		situation.Recreated = s.recreated.ID()
	}
	return situation
}

// inScope reports whether the operation covers a resource, itself or because it was deleted on behalf of one in scope.
func (r *registrar) inScope(ctx context.Context, s *record) (bool, error) {
	if r.table.Scope.Admit(s.desired, s.urns()...) {
		return true, nil
	}
	err := r.awaitCascade(ctx, s)
	return s.deleted != nil, err
}

// awaitCascade waits until a deletion of the prior resource on behalf of another one has ended, if there is one
// (E4.30).
func (r *registrar) awaitCascade(ctx context.Context, s *record) error {
	s.deleted = nil
	if s.old == nil {
		return nil
	}
	c := s.old.Cascade()
	if c == nil {
		return nil
	}
	if err := s.slot.Wait(ctx, c.Done); err != nil {
		return err
	}
	if c.Deleted {
		s.deleted = &c.Dependent
	} else {
		s.old.ForgetCascade()
	}
	return nil
}

// takeSteps executes the steps of a registration in order.
func (r *registrar) takeSteps(ctx context.Context, s *record, steps []Step) error {
	defer r.table.Marks.EndCascades(steps)
	err := r.examiner.policies.mayDestroy(steps, analyzer.Replacement, OpReplace, OpDeleteReplaced)
	if err != nil {
		return err
	}
	reg := s.reg
	for i := range steps {
		if r.running.Err() != nil || ctx.Err() != nil { // E5.10
			return monitor.ErrShutdown
		}
		step := &steps[i]
		if i > 0 && step.Op == OpReplace && reg.State() != nil { // show the replacement with the created resource
			step.New = reg.State()
		}
		result, err := r.executor.Take(*step, reg)
		if err != nil {
			s.stepped = true
			return err
		}
		if step.New == nil {
			continue
		}
		if step.Logical() {
			reg.Step = *step
			reg.Step.New = cmp.Or(result, step.New)
		}
	}
	reg.Result = monitor.Succeeded
	return nil
}

// importFirst imports a resource before the update (E4.86–E4.91). The imported state becomes the record's prior state.
func (r *registrar) importFirst(ctx context.Context, s *record) error {
	reg, old := s.reg, s.oldState()
	goal := s.desired.Clone()
	goal.ID, goal.Inputs = s.desired.ImportID, value.EmptyMap()
	situation := r.situation(s)
	situation.Goal, situation.Importing = goal, true
	steps := plan.Steps(situation)
	if _, err := r.constraint.taken(steps); err != nil {
		return r.constraint.violation(reg.URN, reg.Goal.Position, err)
	}
	if err := r.keepPosition(s, steps); err != nil {
		return err
	}
	if old != nil {
		r.decider.mark(s, steps)
	}
	if err := r.takeSteps(ctx, s, steps); err != nil {
		return err
	}
	reg.Result = monitor.Failed // imported, but not yet updated to the goal
	s.old, s.imported = reg.Imported(), true
	s.desired = reg.Goal.NewState(reg.URN, reg.State())
	s.desired.Aliases = slices.Clone(goal.Aliases)
	return nil
}

// read takes a read request through all stages (E4.92–E4.94); nothing is compared. If it returns without an error, the
// resource is complete. adopted reports whether it was retained before; then it was not read again.
func (r *registrar) read(ctx context.Context, goal *state.Resource) (reg *resources.Registration, adopted bool,
	err error) {
	reg, problem := r.table.ClaimRead(goal)
	if problem != nil {
		return nil, false, r.failures.conflict(goal.URN, goal.SourcePosition, problem)
	}
	if reg.Retained() {
		return reg, true, r.readRetained(ctx, reg, goal)
	}
	defer close(reg.Done)
	reg.Result = monitor.Failed
	if r.table.DependsOnFailed(goal) {
		reg.Result = monitor.Skipped
		r.report.skip(goal.URN)
		return nil, false, monitor.ErrReported
	}
	s := &record{reg: reg, slot: r.slots.Slot(), old: reg.Old, desired: goal}
	if err := s.slot.Take(ctx); err != nil {
		return nil, false, err
	}
	defer s.slot.Free()
	if err := r.awaitCascade(ctx, s); err != nil {
		return nil, false, err
	}
	steps := plan.ReadSteps(s.oldState(), goal)
	r.decider.mark(s, steps)
	err = r.takeSteps(ctx, s, steps)
	if errors.Is(err, apply.ErrFailed) {
		r.failures.resourceFailed()
		err = monitor.ErrReported
	}
	return reg, false, err
}

// readRetained answers a read of a retained resource from its recorded state.
func (r *registrar) readRetained(ctx context.Context, reg *resources.Registration, goal *state.Resource) error {
	if err := r.slots.Wait(ctx, reg.Done); err != nil {
		return err
	}
	if reg.Result != monitor.Succeeded {
		return monitor.ErrReported
	}
	reg.Adopt(true)
	if now := reg.State(); !now.External || now.ID != goal.ID {
		return r.retainer.tooLate(reg.URN, goal.SourcePosition)
	}
	return nil
}
