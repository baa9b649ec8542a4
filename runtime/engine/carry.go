package engine

import (
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// leaveAlone is what happens to a registered resource that is out of scope: a new one is not created, and an old one is
// carried over as it was, without a question to its provider (E4.29, E4.32, E4.101). in says that the resource is in scope,
// and left alone because of what the operation is: then it goes by its new name.
func (d *Deployment) leaveAlone(ctx context.Context, reg *registered, s *subject, in bool, l *held) error {
	old := s.oldState()
	if old == nil {
		d.skipCreate(reg, s.goal)
		return nil
	}
	if err := d.carryNeeds(ctx, old, l); err != nil {
		return err
	}
	kept, renamed := d.verbatim(old, reg, in)
	step := plan.Unchanged(old, kept)
	d.decisions.Lock()
	d.mark(s, []Step{step})
	d.decisions.Unlock()
	if err := d.carryOut(ctx, reg, s, []Step{step}); err != nil || renamed {
		return err
	}
	d.keepName(reg)
	return nil
}

// stay puts the old state of a registration into the new state to the letter; whoever waits for the resource goes on.
func (d *Deployment) stay(reg *registered) error {
	step := plan.Unchanged(reg.old.resource, reg.old.resource)
	kept, err := d.step(step, reg)
	if err != nil {
		return err
	}
	reg.step, reg.result = step, monitor.Succeeded
	reg.step.New = kept
	close(reg.done)
	return nil
}

// verbatim is an old state under the name that its registration gives it; renamed is false when it keeps the one that it
// had, because it is out of scope, or because the registration puts it below a parent that is not created.
func (d *Deployment) verbatim(old *state.Resource, reg *registered, in bool) (kept *state.Resource, renamed bool) {
	kept = old.Clone()
	if old.URN == reg.urn {
		return kept, true
	}
	d.mu.Lock()
	orphaned := d.scope.Skipped(reg.goal.Parent)
	d.mu.Unlock()
	if orphaned || !in {
		return kept, false
	}
	kept.URN, kept.Type, kept.Parent, kept.Aliases = reg.urn, reg.goal.Type, reg.goal.Parent, []urn.URN{old.URN}
	return kept, true
}

// keepName takes note that a registered resource goes on under the name that it had: nothing in scope can depend on it under
// its new one (E4.102).
func (d *Deployment) keepName(reg *registered) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.renamed, reg.old.resource.URN)
	d.keptNames[reg.old.resource.URN] = reg.urn
	d.scope.Skip(reg.urn)
}

// skipCreate reports a resource that is not created: it counts as unchanged, is not recorded, and the program learns
// nothing of it but its name (E2.37, E4.29, E8.3).
func (d *Deployment) skipCreate(reg *registered, goal *state.Resource) {
	step := plan.NewStep(OpSame, nil, goal)
	d.mu.Lock()
	d.scope.Skip(reg.urn)
	reg.step, reg.result, reg.unknown = step, monitor.Succeeded, true
	d.mu.Unlock()
	d.report.started(step)
	d.report.finished(step, OpSame, d.opts.DryRun || goal.Custom, 0)
}

// needsSkipped reports that a resource in scope depends on one that is not created because it is out of scope, of which
// nothing is known then (E4.102).
func (d *Deployment) needsSkipped(s *subject) error {
	d.mu.Lock()
	missing := d.scope.Missing(s.goal)
	d.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	for _, u := range missing {
		text := fmt.Sprintf("Resource '%s' depends on '%s' which was was not specified in --target list.", s.reg.urn, u)
		if d.scope.Targets.Empty() {
			text = fmt.Sprintf("Resource '%s' depends on '%s' which is excluded and does not exist yet.", s.reg.urn, u)
		}
		d.report.message(Message{URN: s.reg.urn, Severity: diag.Error, Code: diag.OperationFailed, Text: text, Position: s.reg.goal.Position})
	}
	if d.opts.DryRun {
		return nil
	}
	return d.bail()
}

// carried is a resource that no program has registered and that is kept because something else needs it. Children may name
// it as their parent.
func carried(e *entry) *registered {
	r := e.resource
	return &registered{urn: r.URN, parent: r.Parent, old: e, done: make(chan struct{}), result: monitor.Failed, carried: true,
		goal: bareGoal(r)}
}

// bareGoal is as much of a goal as others need to know of a resource that no program has registered.
func bareGoal(r *state.Resource) *plan.Goal {
	return &plan.Goal{Position: r.SourcePosition, RegisterRequest: monitor.RegisterRequest{Type: r.Type, Name: r.URN.Name(),
		Parent: r.Parent, Custom: r.Custom, Provider: r.Provider, Inputs: value.EmptyMap()}}
}

// adopt answers a registration of a resource that was carried over before. As long as the resource is out of scope, or a
// provider, that is what it is; one in scope would have to change behind the back of what needs it.
func (d *Deployment) adopt(ctx context.Context, reg *registered, g *plan.Goal, l *held) error {
	if err := l.waitFor(ctx, reg.done); err != nil {
		return err
	}
	if reg.result != monitor.Succeeded {
		return monitor.ErrReported
	}
	d.mu.Lock()
	reg.carried = false
	now := reg.state
	in := !now.IsProvider() && d.scope.Admits(g.NewState(reg.urn, reg.old.resource), reg.urn)
	d.mu.Unlock()
	if !in {
		return nil
	}
	if same, err := d.staysSame(reg, g, now); same || err != nil {
		return err
	}
	d.needed(reg.urn, g.Position)
	return d.bail()
}

// staysSame reports whether a resource that was carried over is what the program wants already.
func (d *Deployment) staysSame(reg *registered, g *plan.Goal, now *state.Resource) (bool, error) {
	wanted := &registered{urn: reg.urn, goal: g, old: &entry{resource: now, now: now}}
	s := d.subjectOf(wanted)
	if plan.WantsImport(s.oldState(), s.goal) {
		return false, nil
	}
	if err := d.connect(s); err != nil {
		return false, d.refused(reg.urn, g.Position, "start the provider of", g.Type, err)
	}
	if err := d.examine(s); err != nil {
		return false, err
	}
	goal := s.goal
	goal.ID, goal.Outputs = now.ID, now.Outputs
	changes := s.diff.Change || s.diff.Replace || now.PendingReplacement || now.External || len(now.InitErrors) > 0
	return !changes && materiallySame(now, goal), nil
}

// needed reports that a resource cannot change any more, because it was carried over before.
func (d *Deployment) needed(u urn.URN, position string) {
	d.report.message(Message{URN: u, Severity: diag.Error, Code: diag.OperationFailed, Position: position,
		Text: fmt.Sprintf("Resource '%s' cannot be operated on: something outside of the operation's scope depends on it in the state, and is "+
			"registered before it now. Include that in the operation too, or run it without --target and --exclude.", u)})
}
