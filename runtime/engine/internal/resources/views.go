package resources

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Owner is a resource with views during a step on it (E4.114).
type Owner struct {
	t    *Table
	Step *plan.Step
	URN  urn.URN // current URN
	Was  urn.URN // URN in the prior state, which is the key of its views
}

// View is one view in the prior state.
type View struct {
	Prior *Prior
	Found *state.Resource // as the operation found it
	Now   *state.Resource
}

// Owner returns the owner of views for a step.
func (t *Table) Owner(s *plan.Step) *Owner {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := &Owner{t: t, Step: s, URN: s.About().URN, Was: s.About().URN}
	if former := t.current.former(o.URN); former != "" && s.New != nil {
		o.Was = former
	}
	return o
}

// Views returns the owner's views: those pending delete if the step is about the old owner, otherwise the others.
func (o *Owner) Views() []View {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	leaving := o.leaving()
	var found []View
	for _, e := range o.t.Prior.views[o.Was] {
		if e.now != nil && e.now.Delete == leaving {
			found = append(found, View{e, e.resource, e.now})
		}
	}
	return found
}

// leaving reports whether the step is about an owner pending delete. Both generations of an owner have the same URN,
// and so do their views; the views of the old one are marked as pending delete with it.
func (o *Owner) leaving() bool {
	if o.Step.Old == nil || o.Step.New != nil && o.Step.Op != plan.OpRefresh {
		return false
	}
	e := o.t.Prior.of[o.Step.Old]
	return e != nil && e.pendingDelete
}

// FindView returns the view with a type and name: one of the step's generation of the owner or else of the other one;
// nil if there is none.
func (o *Owner) FindView(typ, name string) *View {
	named := func(r *state.Resource) bool { return r.Type == typ && r.URN.Name() == name }
	for _, v := range o.Views() {
		if named(v.Found) {
			return &v
		}
	}
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	for _, e := range o.t.Prior.views[o.Was] {
		if e.now != nil && named(e.resource) {
			return &View{e, e.resource, e.now}
		}
	}
	return nil
}

// LeaveViews marks the views of a replaced owner as pending delete, unless the owner was deleted first (E4.57). It
// returns the journal entry.
func (o *Owner) LeaveViews() (e journal.Entry) {
	present := o.Views()
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	if o.t.Prior.replacesFirst(o.Step) {
		return e
	}
	for _, v := range present {
		e.Amend = append(e.Amend, v.Prior.leave())
	}
	return e
}

// leave marks a resource as pending delete. The caller holds mu.
func (p *Prior) leave() journal.Amended {
	left := p.now.Clone()
	left.Delete = true
	p.now, p.pendingDelete = left, true
	return journal.Amended{ID: p.id, Resource: left}
}

// RecordView applies one step of a view to the table, and returns the journal entry. result is the resulting operation
// of the view.
func (o *Owner) RecordView(step *plan.Step, view *View, result plan.Op, newID func() journal.ID) (e journal.Entry) {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	var old *Prior
	if view != nil {
		old = view.Prior
	}
	remove := func() {
		if old != nil && old.now != nil {
			e.Remove = append(e.Remove, old.id)
			old.now = nil
		}
	}
	switch result {
	case plan.OpCreate, plan.OpImport, plan.OpCreateReplacement, plan.OpReadReplacement, plan.OpImportReplacement:
		for _, other := range o.t.Prior.views[o.Was] { // with the same URN, whether the provider reports it or not
			if old == nil && other.now != nil && !other.now.Delete && other.now.URN == step.New.URN {
				old = other
			}
		}
		replaced := slices.Contains([]plan.Op{plan.OpCreateReplacement, plan.OpReadReplacement,
			plan.OpImportReplacement},
			o.Step.Op) ||
			result != plan.OpCreate && result != plan.OpImport
		switch {
		case !replaced || o.t.Prior.replacesFirst(o.Step):
			remove()
		case old != nil && old.now != nil && !old.now.Delete: // E4.57
			e.Amend = []journal.Amended{old.leave()}
		}
		o.addView(step.New, newID(), &e)
	case plan.OpSame, plan.OpUpdate, plan.OpRead:
		remove()
		o.addView(step.New, newID(), &e)
	case plan.OpDelete, plan.OpDeleteReplaced, plan.OpDiscard, plan.OpDiscardReplaced, plan.OpRemovePendingReplace:
		remove()
	case plan.OpReplace, plan.OpRefresh:
	}
	return e
}

// addView adds a new view as a prior resource, so that later steps find it. The caller holds mu.
func (o *Owner) addView(r *state.Resource, id journal.ID, e *journal.Entry) {
	made := o.t.Prior.made(r, id)
	e.Add = []journal.Amended{{ID: id, Resource: r}}
	o.t.Prior.views[o.Was] = append(o.t.Prior.views[o.Was], made)
	if o.URN != o.Was {
		o.t.Prior.views[o.URN] = append(o.t.Prior.views[o.URN], made)
	}
}

// RefreshView sets the current state of a view to now, the result of a refresh, nil if the view is gone. It returns the
// journal entry.
func (o *Owner) RefreshView(v *View, now *state.Resource) (e journal.Entry) {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	switch {
	case v.Prior.now == nil:
		return e
	case now == nil:
		e.Remove = []journal.ID{v.Prior.id}
	default:
		e.Amend = []journal.Amended{{ID: v.Prior.id, Resource: now}}
	}
	v.Prior.now = now
	return e
}
