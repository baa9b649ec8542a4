package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// readOnly is what happens to a resource that the program of a refresh registers: the old state is read again through the
// provider that the program gives it, and the program's inputs count for nothing (E7.30–E7.32). What is gone leaves the
// state at the end, when everything that names it is known.
func (d *Deployment) readOnly(ctx context.Context, reg *registered, s *subject, l *held) error {
	old := s.oldState()
	if old == nil {
		d.skipCreate(reg, s.goal)
		return nil
	}
	in, err := d.inScope(ctx, s, l)
	if err != nil {
		return err
	}
	if !in {
		return d.leaveAlone(ctx, reg, s, false, l)
	}
	if err := d.carryNeeds(ctx, old, l); err != nil {
		return err
	}
	before, renamed := d.verbatim(old, reg, true)
	before.Provider = s.goal.Provider
	now, err := d.refresh(before)
	if err != nil { // E7.20: reported, and nothing is stopped by it
		now = before
	}
	d.mu.Lock()
	s.old.settled = true
	reg.vanished = now == nil
	d.mu.Unlock()
	if now == nil {
		now = before
	}
	step := plan.NewStep(OpSame, old, now)
	if err := d.record(&step, now, d.books(&step), 0, reg); err != nil {
		return d.journalFailed(&step, err)
	}
	d.mu.Lock()
	reg.step, reg.result, reg.unknown = step, monitor.Succeeded, reg.vanished
	if reg.vanished {
		d.scope.Skip(reg.urn)
	}
	d.mu.Unlock()
	if !renamed {
		d.keepName(reg)
	}
	return nil
}

// withoutSkipped takes out of a goal what the program of a refresh or a destroy has not made; see plan.Scope.
func (d *Deployment) withoutSkipped(g *state.Resource) (known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.scope.WithoutSkipped(g, d.opts.DryRun)
}

// readFirst reads a resource when the program registers it, before anything is decided about it (E4.6, E7.29). What it
// finds is written at once. A resource that is gone is to be created; until then its place in the state says so.
func (d *Deployment) readFirst(reg *registered, s *subject) error {
	old := s.oldState()
	if old == nil || !old.Custom || old.IsProvider() || old.PendingReplacement || !s.goal.Custom {
		return nil
	}
	taken := func() bool { // it is deleted on behalf of another, or was, and what is read of it says nothing
		d.mu.Lock()
		defer d.mu.Unlock()
		return s.old.cascade != nil
	}
	if taken() {
		return nil
	}
	probe := old.Clone()
	probe.Provider = s.goal.Provider
	now, err := d.refresh(probe)
	if err != nil {
		return errResourceFailed
	}
	if now == probe {
		return nil
	}
	gone := now == nil
	if gone {
		now = old.Clone()
		now.PendingReplacement = true
	} else {
		now = now.Clone()
		now.Provider = old.Provider
	}
	d.decisions.Lock()
	defer d.decisions.Unlock()
	if taken() {
		return nil
	}
	if err := d.ledger.commit(d.calls, journal.Entry{Amend: []journal.Amended{{ID: s.old.id, Resource: now}}}); err != nil {
		step := plan.NewStep(OpRefresh, old, old)
		return d.journalFailed(&step, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.olds.of, s.old.resource)
	s.old.resource, s.old.now = now, now
	d.olds.of[now] = s.old
	if gone {
		s.recreated, s.old, reg.old = s.old, nil, nil
		s.goal = reg.goal.NewState(reg.urn, nil)
		if now.URN != reg.urn {
			reg.was = now.URN
			s.goal.Aliases = []urn.URN{now.URN} // what names it does so by its old name
		}
	} else {
		s.goal = reg.goal.NewState(reg.urn, now)
	}
	return nil
}

// refreshRest ends a refresh that ran a program: what the program did not register is read as well, and what is gone leaves
// the state along with everything that names it (E7.33, E6.36).
func (d *Deployment) refreshRest() {
	if d.running.Err() != nil {
		return
	}
	d.mu.Lock()
	var all []*state.Resource
	var ids []journal.ID
	var regs []*registered
	for _, reg := range d.resources {
		if reg.state != nil {
			regs = append(regs, reg)
		}
	}
	slices.SortFunc(regs, func(a, b *registered) int { return cmp.Compare(a.id, b.id) })
	read := map[int]bool{}
	vanished := map[int]bool{}
	for _, reg := range regs {
		if reg.carried && reg.state.Custom && !reg.state.IsProvider() {
			read[len(all)] = true
		}
		if reg.vanished {
			vanished[len(all)] = true
		}
		all, ids = append(all, reg.state), append(ids, reg.id)
	}
	for _, e := range d.olds.entries {
		if e.now == nil {
			continue
		}
		if !e.claimed && e.resource.ViewOf == "" {
			read[len(all)] = true
		}
		all, ids = append(all, e.now), append(ids, e.id)
	}
	d.mu.Unlock()
	all = d.current(all) // what was renamed is not gone
	chosen := d.scope.Refreshes(all)
	now := slices.Clone(all)
	d.parallel(len(all), func(i int) {
		switch {
		case vanished[i]:
			now[i] = nil
		case read[i] && chosen(all[i]):
			now[i], _ = d.refresh(all[i]) // what fails was reported; nothing is stopped by it
		}
	})
	if d.isTerminated() {
		return
	}
	var e journal.Entry
	for i, r := range rebuild(all, now) {
		switch {
		case r == nil:
			e.Remove = append(e.Remove, ids[i])
		case r != all[i]:
			e.Amend = append(e.Amend, journal.Amended{ID: ids[i], Resource: r})
		}
	}
	d.mu.Lock()
	for _, reg := range regs {
		for _, a := range e.Amend {
			if a.ID == reg.id {
				reg.state = a.Resource
			}
		}
	}
	d.mu.Unlock()
	d.commitRefreshed(e)
}

// knownOutputs are outputs as they can be recorded: what is not known, because the operation left it out, stays as it was
// or is missing.
func knownOutputs(before, outputs value.Value) value.Value {
	for _, key := range slices.Clone(outputs.Keys()) {
		part, _ := outputs.Lookup(key)
		if !part.ContainsUnknown() {
			continue
		}
		if was, ok := before.Lookup(key); ok {
			outputs = outputs.With(key, was)
		} else {
			outputs = outputs.Without(key)
		}
	}
	return outputs
}
