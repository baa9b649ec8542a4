package apply

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Viewing collects what a provider reports about the views of a resource during a step on it (E4.114). The provider
// calls publish on other goroutines; the reports are recorded when the owner's step ends (E4.115).
type Viewing struct {
	x     *Executor
	owner *resources.Owner

	mu    sync.Mutex // guards steps
	steps []viewStep
}

// viewStep is one reported step of a view.
type viewStep struct {
	step   plan.Step
	old    *resources.View
	result plan.Op // in a refresh, the change of the view; otherwise the step's operation
	err    error
}

// watchViews sets s.views if the step's resource may have views.
func (x *Executor) watchViews(s *execution) {
	if s.views != nil || s.Verbatim || s.command != nil {
		return
	}
	if res := s.About(); res.Custom && !res.IsProvider() {
		s.views = &Viewing{x: x, owner: x.Table.Owner(&s.Step)}
	}
}

// request returns the views for a request to a provider; nil if the resource has none.
func (v *Viewing) request() *provider.Views {
	if v == nil {
		return nil
	}
	asked := &provider.Views{Publish: v.publish}
	if op := v.owner.Step.Op; op == plan.OpCreate || op == plan.OpCreateReplacement {
		return asked // a new resource has no views yet
	}
	for _, e := range v.owner.Views() {
		r := e.Now
		old := provider.View{Type: r.Type, Name: r.URN.Name(), Inputs: r.Inputs, Outputs: r.Outputs}
		if r.Parent != "" && r.Parent != r.ViewOf {
			old.ParentType, old.ParentName = r.Parent.Type(), r.Parent.Name()
		}
		asked.Old = append(asked.Old, old)
	}
	return asked
}

// viewOps are the valid operations for views.
var viewOps = []plan.Op{plan.OpSame, plan.OpCreate, plan.OpUpdate, plan.OpDelete, plan.OpReplace,
	plan.OpCreateReplacement, plan.OpDeleteReplaced, plan.OpRead, plan.OpReadReplacement, plan.OpRefresh,
	plan.OpDiscard,
	plan.OpDiscardReplaced, plan.OpRemovePendingReplace, plan.OpImport, plan.OpImportReplacement}

// publish receives reported steps of views, and reports their start.
func (v *Viewing) publish(_ context.Context, told []provider.ViewStep) error {
	steps := make([]viewStep, len(told))
	for i, t := range told {
		var err error
		if steps[i], err = v.read(t); err != nil {
			return err
		}
	}
	for i := range steps {
		v.x.Report.Started(steps[i].step)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.steps = append(v.steps, steps...)
	return nil
}

// read converts a report into a step.
func (v *Viewing) read(t provider.ViewStep) (viewStep, error) {
	op := plan.Op(t.Op)
	if !slices.Contains(viewOps, op) {
		return viewStep{}, fmt.Errorf("views have no operation %q", t.Op)
	}
	w := viewStep{result: op}
	var before, after *state.Resource
	if t.Old != nil {
		if w.old = v.owner.FindView(t.Old.Type, t.Old.Name); w.old == nil && v.owner.Step.Op != plan.OpRefresh {
			return w, fmt.Errorf("%s has no view %s %q", v.owner.URN, t.Old.Type, t.Old.Name)
		}
		if w.old != nil {
			before = w.old.Found
		}
	}
	if t.New != nil {
		after = v.resource(t.New)
		if before != nil {
			after.Created, after.Modified = before.Created, before.Modified
		}
	}
	if before == nil && after == nil {
		return w, fmt.Errorf("a step of the view %s %q of %s does not have the new state", t.Old.Type,
			t.Old.Name, v.owner.URN)
	}
	if v.owner.Step.Op == plan.OpRefresh {
		op = plan.OpRefresh
	}
	w.step = plan.NewStep(op, before, after)
	w.step.Keys, w.step.Diffs, w.step.Detailed = t.Keys, t.Diffs, t.Detailed
	w.step.Drifted = op == plan.OpRefresh && w.result != plan.OpSame && w.result != plan.OpRefresh
	if t.Error != "" {
		w.err = &provider.Error{Outcome: t.Outcome, Message: t.Error}
	}
	return w, nil
}

// resource returns the state of a view.
func (v *Viewing) resource(view *provider.View) *state.Resource {
	return &state.Resource{URN: urn.New(v.x.Stack, v.x.Project, v.owner.URN, view.Type, view.Name), Type: view.Type,
		Parent: v.owner.URN, ViewOf: v.owner.URN,
		Inputs: view.Inputs.MapOrEmpty().DeepWithoutDeps(), Outputs: view.Outputs.MapOrEmpty().DeepWithoutDeps()}
}

// take removes and returns the steps reported so far.
func (v *Viewing) take() []viewStep {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	steps := v.steps
	v.steps = nil
	return steps
}

// write records the reported steps of the owner's views. ownerPresent is set if the owner is in the state; without it,
// new views are not recorded. gone is set if the step has deleted the owner: its remaining views are deleted too,
// whether the provider reported that or not.
func (v *Viewing) write(ownerPresent, gone bool) error {
	if v == nil {
		return nil
	}
	told := v.take()
	if v.owner.Step.Op == plan.OpCreateReplacement && ownerPresent {
		if e := v.owner.LeaveViews(); len(e.Amend) > 0 {
			if err := v.x.Journal.Commit(v.x.Calls, e); err != nil {
				return err
			}
		}
	}
	for _, w := range told {
		if w.err != nil {
			v.x.Report.StepFailed(w.step, w.err, 0)
			v.x.Failed()
			continue
		}
		if w.step.New != nil && !ownerPresent {
			continue
		}
		if err := v.record(&w); err != nil {
			return err
		}
		v.x.Report.Finished(w.step, w.result, true, 0)
	}
	if !gone {
		return nil
	}
	for _, e := range v.owner.Views() {
		if err := v.step(plan.OpDelete, &e, nil); err != nil {
			return err
		}
	}
	return nil
}

// step executes a step on a view that its provider did not report; after is nil for a deletion.
func (v *Viewing) step(op plan.Op, view *resources.View, after *state.Resource) error {
	w := viewStep{step: plan.NewStep(op, view.Found, after), old: view, result: op}
	v.x.Report.Started(w.step)
	if err := v.record(&w); err != nil {
		return err
	}
	v.x.Report.Finished(w.step, op, true, 0)
	return nil
}

// record journals one step of a view. Views have no pending operations of their own: their outcome is resolved together
// with their owner's.
func (v *Viewing) record(w *viewStep) error {
	e := v.owner.RecordView(&w.step, w.old, w.result, v.x.Journal.NewID)
	if len(e.Remove)+len(e.Amend)+len(e.Add) == 0 {
		return nil
	}
	return v.x.Journal.Commit(v.x.Calls, e)
}

// keepSame keeps the views of an unchanged resource (E4.116).
func (v *Viewing) keepSame() error {
	if v == nil {
		return nil
	}
	owner := v.owner.URN
	for _, e := range v.owner.Views() {
		after := e.Now.Clone()
		if after.ViewOf != owner {
			after.URN = urn.New(v.x.Stack, v.x.Project, owner, after.Type, after.URN.Name())
			after.Parent, after.ViewOf = owner, owner
		}
		if err := v.step(plan.OpSame, &e, after); err != nil {
			return err
		}
	}
	return nil
}

// Refreshed applies the reports of a refresh to the states that it has read. field returns a pointer to the state of a
// view, or nil. Refreshed returns the new views.
func (v *Viewing) Refreshed(field func(*resources.Prior) **state.Resource) (created []*state.Resource) {
	for _, w := range v.take() {
		if w.err == nil {
			var place **state.Resource
			if w.old != nil {
				place = field(w.old.Prior)
			}
			switch {
			case place != nil:
				*place = w.step.New
			case w.step.New != nil:
				created = append(created, w.step.New)
			}
		}
		v.report(&w)
	}
	return created
}

// report reports the result of a refresh for a view.
func (v *Viewing) report(w *viewStep) {
	switch {
	case w.err != nil:
		v.x.Report.StepFailed(w.step, w.err, 0)
	case v.x.Refreshing:
		v.x.Report.Finished(w.step, w.result, true, 0)
	default:
		v.x.Report.Finished(w.step, plan.OpRefresh, true, 0)
	}
}

// keepRefreshed records the reports about views from the refresh of a registered resource. New views are left to the
// next refresh: they must come after their owner, which is not in the new state yet. The views of a missing owner are
// removed with it.
func (v *Viewing) keepRefreshed(gone bool) error {
	for _, w := range v.take() {
		if w.err == nil && !gone && w.old != nil {
			e := v.owner.RefreshView(w.old, w.step.New)
			if err := v.x.Journal.Commit(v.x.Calls, e); err != nil {
				return err
			}
		}
		v.report(&w)
	}
	return nil
}
