package engine

import (
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// readOnly is what happens to a resource that the program of a refresh registers: the old state is read again through
// the provider that the program gives it, and the program's inputs count for nothing (E7.30–E7.32). What is gone leaves
// the state at the end, when everything that names it is known.
func (s *record) readOnly(ctx context.Context, reg *resources.Registration) error {
	old := s.oldState()
	if old == nil {
		retainerOf(s.d).skipCreate(reg, s.goal)
		return nil
	}
	in, err := s.inScope(ctx)
	if err != nil {
		return err
	}
	if !in {
		return s.retain(ctx, reg, false)
	}
	if err := retainerOf(s.d).prerequisites(ctx, s.d.table.Prerequisites(old), s.slot); err != nil {
		return err
	}
	before, renamed := retainerOf(s.d).verbatim(old, reg, true)
	before.Provider = s.goal.Provider
	now, err := s.d.executor.Refresh(before)
	if err != nil { // E7.20: reported, and nothing is stopped by it
		now = before
	}
	reg.Decide(now == nil)
	if now == nil {
		now = before
	}
	step := plan.NewStep(OpSame, old, now)
	if err := s.d.executor.Record(&step, now, s.d.executor.Positions(&step), 0, reg); err != nil {
		return s.d.executor.JournalFailed(&step, err)
	}
	reg.Refreshed(step)
	if !renamed {
		s.d.table.KeepName(reg)
	}
	return nil
}

// readFirst reads a resource when the program registers it, before anything is decided about it (E4.6, E7.29). What it
// finds is written at once. A resource that is gone is to be created; until then its place in the state says so.
func (s *record) readFirst(reg *resources.Registration) error {
	old := s.oldState()
	if old == nil || !old.Custom || old.IsProvider() || old.PendingReplacement || !s.goal.Custom {
		return nil
	}
	// It may be deleted on behalf of another resource; then what is read of it says nothing.
	taken := func() bool { return s.d.table.CascadeOf(s.old) != nil }
	if taken() {
		return nil
	}
	probe := old.Clone()
	probe.Provider = s.goal.Provider
	now, err := s.d.executor.Refresh(probe)
	if err != nil {
		return apply.ErrFailed
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
	s.d.decisions.Lock()
	defer s.d.decisions.Unlock()
	if taken() {
		return nil
	}
	if err := s.d.journal.Commit(s.d.calls, journal.Entry{Amend: []journal.Amended{{ID: s.d.table.ID(s.old),
		Resource: now}}}); err != nil {
		step := plan.NewStep(OpRefresh, old, old)
		return s.d.executor.JournalFailed(&step, err)
	}
	s.d.table.Amended(reg, s.old, now, gone)
	if !gone {
		s.goal = reg.Goal.NewState(reg.URN, now)
		return nil
	}
	s.recreated, s.old = s.old, nil
	s.goal = reg.Goal.NewState(reg.URN, nil)
	if now.URN != reg.URN {
		s.goal.Aliases = []urn.URN{now.URN} // what names it does so by its old name
	}
	return nil
}

// refreshRest ends a refresh that ran a program: what the program did not register is read as well, and what is gone
// leaves the state along with everything that names it (E7.33, E6.36).
func (d refresher) refreshRest() {
	if d.running.Err() != nil {
		return
	}
	known := d.table.AtEnd()
	all := make([]*state.Resource, len(known))
	for i, c := range known {
		all[i] = c.State
	}
	all = d.table.Renamed(all) // what was renamed is not gone
	chosen := d.table.Refreshes(all)
	now := slices.Clone(all)
	d.each(len(all), func(i int) {
		switch {
		case known[i].Vanished:
			now[i] = nil
		case known[i].Read && chosen(all[i]):
			now[i], _ = d.executor.Refresh(all[i]) // what fails was reported; nothing is stopped by it
		}
	})
	if d.isTerminated() {
		return
	}
	var e journal.Entry
	for i, r := range plan.Rebuild(all, now) {
		switch {
		case r == nil:
			e.Remove = append(e.Remove, known[i].ID)
		case r != all[i]:
			e.Amend = append(e.Amend, journal.Amended{ID: known[i].ID, Resource: r})
			d.table.Replace(known[i], r)
		}
	}
	d.commitRefreshed(e)
}

// knownOutputs are outputs as they can be recorded: what is not known, because the operation left it out, stays as it
// was or is missing.
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
