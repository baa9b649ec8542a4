package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// viewing is what a provider tells of the views of a resource while a step is taken on that (E4.114). It is told from other
// goroutines; what it means for the state is settled when the owner's step ends (E4.115).
type viewing struct {
	d     *Deployment
	step  *Step   // the owner's
	owner urn.URN // the owner as it is called now
	was   urn.URN // as the state calls it; views are found by that

	mu    sync.Mutex // guards steps
	steps []viewStep
}

// viewStep is one thing that was told.
type viewStep struct {
	step   Step
	old    *entry
	result Op // of a refresh, what became of the view; else the step's operation
	err    error
}

// watchViews prepares the owner's step for what its provider will tell.
func (d *Deployment) watchViews(s *execution) {
	if s.views != nil || s.Verbatim || s.command != nil {
		return
	}
	about := s.About()
	if !about.Custom || about.IsProvider() {
		return
	}
	s.views = &viewing{d: d, step: &s.Step, owner: about.URN, was: about.URN}
	d.mu.Lock()
	defer d.mu.Unlock()
	if from := d.renamedFrom(about.URN); from != "" && s.New != nil {
		s.views.was = from
	}
}

// request is what goes along with a call to a provider; nil when nothing is to be told.
func (v *viewing) request() *provider.Views {
	if v == nil {
		return nil
	}
	asked := &provider.Views{Publish: v.publish}
	if v.step.Op == OpCreate || v.step.Op == OpCreateReplacement {
		return asked // what is created has had none
	}
	for _, e := range v.present() {
		r := e.now
		old := provider.View{Type: r.Type, Name: r.URN.Name(), Inputs: r.Inputs, Outputs: r.Outputs}
		if r.Parent != "" && r.Parent != r.ViewOf {
			old.ParentType, old.ParentName = r.Parent.Type(), r.Parent.Name()
		}
		asked.Old = append(asked.Old, old)
	}
	return asked
}

// leaving reports whether the step is about an owner that a replacement has left behind: its views are then the old ones.
func (v *viewing) leaving() bool {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	if v.step.Old == nil || v.step.New != nil && v.step.Op != OpRefresh {
		return false
	}
	e := v.d.olds.of[v.step.Old]
	return e != nil && e.doomed
}

// present are the entries of the owner's views: of the old ones when the owner is left behind, else of the others.
func (v *viewing) present() []*entry {
	leaving := v.leaving()
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	var found []*entry
	for _, e := range v.d.olds.views[v.was] {
		if e.now != nil && e.now.Delete == leaving {
			found = append(found, e)
		}
	}
	return found
}

// viewOps are the operations that views can have; a replacement itself has no outcome.
var viewOps = map[string]Op{
	string(OpSame): OpSame, string(OpCreate): OpCreate, string(OpUpdate): OpUpdate, string(OpDelete): OpDelete, string(OpReplace): OpReplace,
	string(OpCreateReplacement): OpCreateReplacement, string(OpDeleteReplaced): OpDeleteReplaced, string(OpRead): OpRead,
	string(OpReadReplacement): OpReadReplacement, string(OpRefresh): OpRefresh, string(OpDiscard): OpDiscard,
	string(OpDiscardReplaced): OpDiscardReplaced, string(OpRemovePendingReplace): OpRemovePendingReplace, string(OpImport): OpImport,
	string(OpImportReplacement): OpImportReplacement,
}

// publish takes what a provider tells and shows it.
func (v *viewing) publish(_ context.Context, told []provider.ViewStep) error {
	steps := make([]viewStep, len(told))
	for i, t := range told {
		var err error
		if steps[i], err = v.read(t); err != nil {
			return err
		}
	}
	for i := range steps {
		v.d.report.started(steps[i].step)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.steps = append(v.steps, steps...)
	return nil
}

// read makes a step of what was told.
func (v *viewing) read(t provider.ViewStep) (viewStep, error) {
	op, ok := viewOps[t.Op]
	if !ok {
		return viewStep{}, fmt.Errorf("views have no operation %q", t.Op)
	}
	w := viewStep{result: op}
	var before, after *state.Resource
	if t.Old != nil {
		if w.old = v.find(t.Old); w.old == nil && v.step.Op != OpRefresh {
			return w, fmt.Errorf("%s has no view %s %q", v.owner, t.Old.Type, t.Old.Name)
		}
		if w.old != nil {
			before = w.old.resource
		}
	}
	if t.New != nil {
		after = v.resource(t.New)
		if before != nil {
			after.Created, after.Modified = before.Created, before.Modified
		}
	}
	if before == nil && after == nil {
		return w, fmt.Errorf("a step of the view %s %q of %s says nothing of what there is afterwards", t.Old.Type, t.Old.Name, v.owner)
	}
	if v.step.Op == OpRefresh {
		op = OpRefresh
	}
	w.step = plan.NewStep(op, before, after)
	w.step.Keys, w.step.Diffs, w.step.Detailed = t.Keys, t.Diffs, t.Detailed
	if t.Error != "" {
		w.err = &provider.Error{Outcome: t.Outcome, Message: t.Error}
	}
	return w, nil
}

// resource is the state of a view.
func (v *viewing) resource(of *provider.View) *state.Resource {
	return &state.Resource{URN: urn.New(v.d.opts.Stack, v.d.opts.Project, v.owner, of.Type, of.Name), Type: of.Type, Parent: v.owner, ViewOf: v.owner,
		Inputs: plan.WithoutDeps(asMap(of.Inputs)), Outputs: plan.WithoutDeps(asMap(of.Outputs))}
}

// find is the entry of a view that a provider names: of the owner that is meant, or, if that has none, the other one's.
func (v *viewing) find(of *provider.View) *entry {
	named := func(e *entry) bool { return e.resource.Type == of.Type && e.resource.URN.Name() == of.Name }
	if present := v.present(); slices.ContainsFunc(present, named) {
		return present[slices.IndexFunc(present, named)]
	}
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	for _, e := range v.d.olds.views[v.was] {
		if e.now != nil && named(e) {
			return e
		}
	}
	return nil
}

// take are the steps told so far, which are not told again.
func (v *viewing) take() []viewStep {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	steps := v.steps
	v.steps = nil
	return steps
}

// settleViews makes what was told the state of the owner's views. there says that the owner is in the state; without it
// its views cannot be either. gone says that the step has ended the owner: what is left of its views ends with it, whether
// the provider told so or not.
func (d *Deployment) settleViews(v *viewing, there, gone bool) error {
	if v == nil {
		return nil
	}
	told := v.take()
	if v.step.Op == OpCreateReplacement && there {
		if err := d.leaveViews(v); err != nil {
			return err
		}
	}
	for _, w := range told {
		if w.err != nil {
			d.report.stepFailed(w.step, w.err, 0)
			d.fail()
			continue
		}
		if w.step.New != nil && !there {
			continue
		}
		if err := d.recordView(v, &w); err != nil {
			return err
		}
		d.report.finished(w.step, w.result, true, 0)
	}
	if !gone {
		return nil
	}
	for _, e := range v.present() {
		w := viewStep{step: plan.NewStep(OpDelete, e.resource, nil), old: e, result: OpDelete}
		d.report.started(w.step)
		if err := d.recordView(v, &w); err != nil {
			return err
		}
		d.report.finished(w.step, OpDelete, true, 0)
	}
	return nil
}

// leaveViews leaves the views of a replaced owner to be deleted with it (E4.57).
func (d *Deployment) leaveViews(v *viewing) error {
	var e journal.Entry
	present := v.present()
	d.mu.Lock()
	if !d.replacesFirst(v.step) {
		for _, old := range present {
			left := old.now.Clone()
			left.Delete = true
			e.Amend = append(e.Amend, journal.Amended{ID: old.id, Resource: left})
			old.now, old.doomed = left, true
		}
	}
	d.mu.Unlock()
	if len(e.Amend) == 0 {
		return nil
	}
	return d.ledger.commit(d.calls, e)
}

// recordView writes down one step of a view.
func (d *Deployment) recordView(v *viewing, w *viewStep) error {
	var e journal.Entry
	var made *entry
	d.mu.Lock()
	add := func() {
		made = &entry{id: d.ledger.newID(), position: -1, resource: w.step.New, now: w.step.New, claimed: true}
		e.Add = []journal.Amended{{ID: made.id, Resource: w.step.New}}
	}
	remove := func(old *entry) {
		if old != nil && old.now != nil {
			e.Remove = append(e.Remove, old.id)
			old.now = nil
		}
	}
	leave := func(old *entry) { // E4.57
		left := old.now.Clone()
		left.Delete = true
		e.Amend = []journal.Amended{{ID: old.id, Resource: left}}
		old.now, old.doomed = left, true
	}
	switch w.result {
	case OpCreate, OpImport, OpCreateReplacement, OpReadReplacement, OpImportReplacement:
		old := w.old
		for _, other := range d.olds.views[v.was] { // of the same name, whether the provider speaks of it or not
			if old == nil && other.now != nil && !other.now.Delete && other.now.URN == w.step.New.URN {
				old = other
			}
		}
		replaced := v.step.Op == OpCreateReplacement || v.step.Op == OpReadReplacement || v.step.Op == OpImportReplacement ||
			w.result != OpCreate && w.result != OpImport
		switch {
		case !replaced || d.replacesFirst(v.step):
			remove(old)
		case old != nil && old.now != nil && !old.now.Delete:
			leave(old)
		}
		add()
	case OpSame, OpUpdate, OpRead:
		remove(w.old)
		add()
	case OpDelete, OpDeleteReplaced, OpDiscard, OpDiscardReplaced, OpRemovePendingReplace:
		remove(w.old)
	case OpReplace, OpRefresh:
	}
	if made != nil {
		d.olds.of[made.resource] = made
		if d.olds.views == nil {
			d.olds.views = map[urn.URN][]*entry{}
		}
		d.olds.views[v.was] = append(d.olds.views[v.was], made)
		if v.owner != v.was {
			d.olds.views[v.owner] = append(d.olds.views[v.owner], made)
		}
	}
	d.mu.Unlock()
	if len(e.Remove)+len(e.Amend)+len(e.Add) == 0 {
		return nil
	}
	return d.ledger.commit(d.calls, e)
}

// replacesFirst reports whether the old owner was deleted before the step that makes the new one. The caller holds mu.
func (d *Deployment) replacesFirst(s *Step) bool {
	if s.Old == nil {
		return false
	}
	e := d.olds.of[s.Old]
	return e == nil || e.now == nil || e.now.PendingReplacement
}

// sameViews keeps the views of a resource that has not changed (E4.116).
func (d *Deployment) sameViews(s *execution) error {
	if s.views == nil {
		return nil
	}
	for _, e := range s.views.present() {
		after := e.now.Clone()
		if after.ViewOf != s.views.owner {
			after.URN = urn.New(d.opts.Stack, d.opts.Project, s.views.owner, after.Type, after.URN.Name())
			after.Parent, after.ViewOf = s.views.owner, s.views.owner
		}
		w := viewStep{step: plan.NewStep(OpSame, e.resource, after), old: e, result: OpSame}
		d.report.started(w.step)
		if err := d.recordView(s.views, &w); err != nil {
			return err
		}
		d.report.finished(w.step, OpSame, true, 0)
	}
	return nil
}

// refreshedViews brings what a refresh was told of views into the states that it has read, of which place gives each its
// place, nil if it has none; and answers with views that are new.
func (d *Deployment) refreshedViews(v *viewing, place func(*entry) **state.Resource) (created []*state.Resource) {
	for _, w := range v.take() {
		if w.err == nil {
			var at **state.Resource
			if w.old != nil {
				at = place(w.old)
			}
			switch {
			case at != nil:
				*at = w.step.New
			case w.step.New != nil:
				created = append(created, w.step.New)
			}
		}
		d.reportRefreshed(&w)
	}
	return created
}

// reportRefreshed tells what a refresh has found of a view.
func (d *Deployment) reportRefreshed(w *viewStep) {
	switch {
	case w.err != nil:
		d.report.stepFailed(w.step, w.err, 0)
	case d.report.refreshing:
		d.report.finished(w.step, w.result, true, 0)
	default:
		d.report.finished(w.step, OpRefresh, true, 0)
	}
}

// keepRefreshed records what the refresh of a resource that a program has registered was told of views. Those that are new
// come with the next refresh: they would have to stand behind their owner, which has no place in the state yet. Those of an
// owner that is gone go with it.
func (d *Deployment) keepRefreshed(v *viewing, gone bool) error {
	for _, w := range v.take() {
		if w.err == nil && !gone && w.old != nil {
			d.mu.Lock()
			var e journal.Entry
			switch now := w.old.now; {
			case now == nil:
			case w.step.New == nil:
				e.Remove = []journal.ID{w.old.id}
			default:
				e.Amend = []journal.Amended{{ID: w.old.id, Resource: w.step.New}}
			}
			if len(e.Remove)+len(e.Amend) > 0 {
				w.old.now = w.step.New
			}
			d.mu.Unlock()
			if err := d.ledger.commit(d.calls, e); err != nil {
				return err
			}
		}
		d.reportRefreshed(&w)
	}
	return nil
}
