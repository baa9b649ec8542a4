package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// leaveAlone is what happens to a registered resource that is out of scope: a new one is not created, and an old one is
// carried over as it was, without a question to its provider (E4.29, E4.32, E4.101).
func (d *Deployment) leaveAlone(ctx context.Context, reg *registered, s *subject, l *held) error {
	old := s.oldState()
	if old == nil {
		d.skipCreate(reg, s.goal)
		return nil
	}
	if err := d.carryNeeds(ctx, old, l); err != nil {
		return err
	}
	step := newStep(OpSame, old, verbatim(old, reg))
	step.verbatim = true
	d.decisions.Lock()
	d.mark(s, []Step{step})
	d.decisions.Unlock()
	return d.carryOut(ctx, reg, s, []Step{step})
}

// verbatim is an old state under the name that its registration gives it.
func verbatim(old *state.Resource, reg *registered) *state.Resource {
	kept := old.Clone()
	if old.URN != reg.urn {
		kept.URN, kept.Type, kept.Parent, kept.Aliases = reg.urn, reg.goal.Type, reg.goal.Parent, []urn.URN{old.URN}
	}
	return kept
}

// skipCreate reports a resource that is not created: it counts as unchanged, is not recorded, and the program learns
// nothing of it but its name (E2.37, E4.29, E8.3).
func (d *Deployment) skipCreate(reg *registered, goal *state.Resource) {
	step := newStep(OpSame, nil, goal)
	d.mu.Lock()
	d.scope.skipped[reg.urn] = true
	reg.step, reg.result, reg.unknown = step, monitor.Succeeded, true
	d.mu.Unlock()
	d.report.started(step)
	d.report.finished(step, OpSame, d.opts.DryRun || goal.Custom, 0)
}

// needsSkipped reports that a resource in scope depends on one that is not created because it is out of scope, of which
// nothing is known then (E4.102).
func (d *Deployment) needsSkipped(s *subject) error {
	d.mu.Lock()
	var missing []urn.URN
	s.goal.AllDependencies(func(u urn.URN) {
		if d.scope.skipped[u] && !slices.Contains(missing, u) {
			missing = append(missing, u)
		}
	})
	d.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	for _, u := range missing {
		text := fmt.Sprintf("Resource '%s' depends on '%s' which was was not specified in --target list.", s.reg.urn, u)
		if d.scope.targets.empty() {
			text = fmt.Sprintf("Resource '%s' depends on '%s' which is excluded and does not exist yet.", s.reg.urn, u)
		}
		d.report.message(Message{URN: s.reg.urn, Severity: diag.Error, Code: diag.OperationFailed, Text: text, Position: s.reg.goal.position})
	}
	if d.opts.DryRun {
		return nil
	}
	return d.bail()
}

// carryNeeds carries over everything that an old state needs and that had no step yet, in the order of the state, so that
// it stands before what needs it; and it waits for what is under way (E4.108).
func (d *Deployment) carryNeeds(ctx context.Context, old *state.Resource, l *held) error {
	d.mu.Lock()
	var mine []*registered
	var others []*registered
	seen := map[*entry]bool{}
	work := []*state.Resource{old}
	for len(work) > 0 {
		r := work[len(work)-1]
		work = work[:len(work)-1]
		r.AllDependencies(func(u urn.URN) {
			e := d.olds.byURN[u]
			if e == nil || e.resource == old || seen[e] {
				return
			}
			seen[e] = true
			if e.claimed {
				holder := d.resources[u]
				if now, ok := d.renamed[u]; ok {
					holder = d.resources[now]
				}
				if holder != nil && holder.old == e && !isDone(holder.done) {
					others = append(others, holder)
				}
				return
			}
			work = append(work, e.resource)
			e.claimed, e.settled = true, true
			mine = append(mine, carried(e))
		})
	}
	slices.SortFunc(mine, func(a, b *registered) int { return cmp.Compare(a.old.position, b.old.position) })
	for _, reg := range mine {
		d.enlist(reg)
	}
	d.mu.Unlock()
	defer func() {
		for _, reg := range mine {
			if !isDone(reg.done) {
				close(reg.done)
			}
		}
	}()
	for _, reg := range others {
		if err := l.waitFor(ctx, reg.done); err != nil {
			return err
		}
	}
	for _, reg := range mine {
		step := newStep(OpSame, reg.old.resource, reg.old.resource)
		step.verbatim = true
		kept, err := d.step(step, reg)
		if err != nil {
			return err
		}
		reg.step, reg.result = step, monitor.Succeeded
		reg.step.New = kept
		close(reg.done)
	}
	return nil
}

// carried is a resource that no program has registered and that is kept because something else needs it. Children may name
// it as their parent.
func carried(e *entry) *registered {
	r := e.resource
	return &registered{urn: r.URN, parent: r.Parent, old: e, done: make(chan struct{}), result: monitor.Failed, carried: true,
		goal: bareGoal(r)}
}

// bareGoal is as much of a goal as others need to know of a resource that no program has registered.
func bareGoal(r *state.Resource) *goal {
	return &goal{position: r.SourcePosition, RegisterRequest: monitor.RegisterRequest{Type: r.Type, Name: r.URN.Name(),
		Parent: r.Parent, Custom: r.Custom, Provider: r.Provider, Inputs: value.EmptyMap()}}
}

// adopt answers a registration of a resource that was carried over before. As long as the resource is out of scope, or a
// provider, that is what it is; one in scope would have to change behind the back of what needs it.
func (d *Deployment) adopt(ctx context.Context, reg *registered, g *goal, l *held) error {
	if err := l.waitFor(ctx, reg.done); err != nil {
		return err
	}
	if reg.result != monitor.Succeeded {
		return monitor.ErrReported
	}
	d.mu.Lock()
	reg.carried = false
	step := reg.step
	in := !step.New.IsProvider() && d.scope.admits(g.newState(reg.urn, reg.old.resource), reg.urn)
	d.mu.Unlock()
	if !in {
		return nil
	}
	d.report.message(Message{URN: reg.urn, Severity: diag.Error, Code: diag.OperationFailed, Position: g.position,
		Text: fmt.Sprintf("Resource '%s' cannot be operated on: something outside of the operation's scope depends on it in the state, and is "+
			"registered before it now. Include that in the operation too, or run it without --target and --exclude.", reg.urn)})
	return d.bail()
}
