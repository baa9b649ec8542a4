package resources

import (
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Positions are the journal positions that a step reads and writes.
type Positions struct {
	Old    journal.ID      // of Step.Old, 0 for none
	OldNow *state.Resource // its current content
	New    journal.ID      // for the new state, 0 for none
	// PendingDelete reports whether the old resource is pending delete, so that a deletion removes it.
	PendingDelete bool
	// Moving is open while the old resource is being relocated; nil if it is not.
	Moving <-chan struct{}
}

// Positions returns the journal position of a step's old resource.
func (t *Table) Positions(s *plan.Step) Positions {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.Prior.of[s.Old] // no entry for nil
	if e == nil {
		return Positions{}
	}
	return Positions{Old: e.id, OldNow: e.now, PendingDelete: e.pendingDelete, Moving: e.relocated}
}

// Recorded applies the journal entry of a successful step to the table. reg is the step's registration, nil for a
// deletion; with dryRun the outputs of a changed resource are unknown.
func (t *Table) Recorded(s *plan.Step, result *state.Resource, pos Positions, e journal.Entry, reg *Registration,
	dryRun bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Over != 0 { // the missing resource whose position the new one takes
		for _, old := range t.Prior.list {
			if old.id == s.Over {
				old.now = nil
			}
		}
	}
	if old := t.Prior.of[s.Old]; old != nil {
		switch {
		case len(e.Remove) > 0, s.Position != 0:
			old.now = nil
		case len(e.Amend) > 0:
			old.now = e.Amend[0].Resource
			old.pendingDelete = old.pendingDelete || old.now.Delete
		}
	}
	if reg == nil || len(e.Add) == 0 && s.Position == 0 {
		return
	}
	reg.state, reg.id = result, pos.New
	switch s.Op {
	case plan.OpSame, plan.OpRead, plan.OpReadReplacement, plan.OpImport, plan.OpImportReplacement:
		reg.unknown = false
	default:
		reg.unknown = dryRun
	}
}

// replacesFirst reports whether the old resource of a step was deleted before the step creates the new one.
func (p *Priors) replacesFirst(s *plan.Step) bool {
	if s.Old == nil {
		return false
	}
	e := p.of[s.Old]
	return e == nil || e.now == nil || e.now.PendingReplacement
}
