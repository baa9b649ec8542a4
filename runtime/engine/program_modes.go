package engine

import (
	"cmp"
	"context"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// mode is the purpose of a program's registrations.
type mode uint8

const (
	updating   mode = iota // executed
	refreshing             // only read, with the program's providers (E7.30)
	destroying             // only deleted, with the program's providers (E7.41)
)

// readOnly handles a registration during a refresh with a program: it reads the prior resource again through the
// provider of the registration, and ignores the program's inputs (E7.30–E7.32). A missing resource is removed from the
// state at the end, when all resources that name it are known.
func (r *registrar) readOnly(ctx context.Context, s *record) error {
	reg, old := s.reg, s.oldState()
	if old == nil {
		r.retainer.skipCreate(reg, s.desired)
		return nil
	}
	inside, err := r.inScope(ctx, s)
	if err != nil {
		return err
	}
	if !inside {
		return r.retain(ctx, s, false)
	}
	if err := r.retainer.prerequisites(ctx, r.table.Prerequisites(old), s.slot); err != nil {
		return err
	}
	before, renamed := r.retainer.verbatim(old, reg, true)
	before.Provider = s.desired.Provider
	now, err := r.executor.Refresh(before, old)
	if err != nil { // E7.20: the error was reported and stops nothing
		now = before
	}
	reg.Decide(now == nil)
	now = cmp.Or(now, before)
	step := plan.NewStep(OpSame, old, now)
	if err := r.executor.Record(&step, now, r.executor.Positions(&step), 0, reg); err != nil {
		return r.executor.JournalFailed(&step, err)
	}
	reg.Refreshed(step)
	if !renamed {
		reg.KeepName()
	}
	return nil
}

// readFirst reads a resource when the program registers it, before its steps are decided (E4.6, E7.29), and records the
// result at once. A missing resource is marked in the state until it is created again.
func (r *registrar) readFirst(s *record) error {
	reg, old := s.reg, s.oldState()
	if old == nil || !old.Custom || old.IsProvider() || old.PendingReplacement || !s.desired.Custom {
		return nil
	}
	// If the resource is deleted on behalf of another one, the result of the read is of no use.
	taken := func() bool { return s.old.Cascade() != nil }
	if taken() {
		return nil
	}
	probe := old.Clone()
	probe.Provider = s.desired.Provider
	now, err := r.executor.Refresh(probe, probe)
	if err != nil {
		s.stepped = true
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
	return r.decider.between(func() error {
		if taken() {
			return nil
		}
		step := plan.NewStep(OpRefresh, old, old)
		if err := r.executor.Commit(&step, journal.Entry{Amend: []journal.Amended{{ID: s.old.ID(),
			Resource: now}}}); err != nil {
			return err
		}
		reg.Amended(now, gone)
		s.desired = reg.Goal.NewState(reg.URN, reg.Old.Resource())
		if gone {
			s.recreated, s.old = s.old, nil
			if now.URN != reg.URN {
				s.desired.Aliases = []urn.URN{now.URN} // dependants refer to it by its old URN
			}
		}
		return nil
	})
}
