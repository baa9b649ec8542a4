package engine

import (
	"errors"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// refreshAll reads every resource of the state and makes the outcome the state that the rest of the operation starts from
// (E7.13–E7.22). It is written in one entry at the end (E6.17); an interrupt ends the pass early and keeps what was read.
// Only those that chosen admits are read.
func (d *Deployment) refreshAll(chosen func(*state.Resource) bool) {
	base := d.table.Base()
	refreshed := slices.Clone(base.Resources)
	var read []int
	for i, r := range refreshed {
		if r.ViewOf == "" && chosen(r) {
			read = append(read, i)
		}
	}
	told := make([]*viewing, len(read))
	d.each(len(read), func(n int) {
		i := read[n]
		refreshed[i], told[n], _ = d.refreshTold(base.Resources[i]) // E7.20: what fails was reported and stops nothing here
	})
	if d.isTerminated() {
		return
	}
	created := map[int][]*state.Resource{} // views, by the place of their owner
	for n, v := range told {
		views := d.refreshedViews(v, func(p *resources.Prior) **state.Resource { return &refreshed[d.table.At(p)] })
		if len(views) > 0 && refreshed[read[n]] != nil {
			created[read[n]] = views
		}
	}
	rebuilt := rebuild(base.Resources, refreshed)
	var e journal.Entry
	var rest resources.State
	for i, r := range rebuilt {
		switch {
		case r == nil:
			e.Remove = append(e.Remove, base.IDs[i])
			continue
		case r != base.Resources[i]:
			e.Amend = append(e.Amend, journal.Amended{ID: base.IDs[i], Resource: r})
		}
		rest.Resources, rest.IDs = append(rest.Resources, r), append(rest.IDs, base.IDs[i])
	}
	if len(created) > 0 {
		e, rest = d.insertViews(base, rebuilt, created)
	}
	d.commitRefreshed(e)
	d.table.Rebase(rest)
	if d.report.hasFailed() { // E7.20: everything was read; nothing comes after it
		d.stop()
	}
}

// insertViews puts views that a refresh has found behind their owners, which takes writing everything anew, in its order.
func (d *Deployment) insertViews(base resources.State, rebuilt []*state.Resource, created map[int][]*state.Resource) (e journal.Entry, next resources.State) {
	for i, r := range rebuilt {
		e.Remove = append(e.Remove, base.IDs[i])
		if r != nil {
			next.Resources = append(next.Resources, r)
		}
		next.Resources = append(next.Resources, created[i]...)
	}
	for _, r := range next.Resources {
		id := d.ledger.newID()
		next.IDs = append(next.IDs, id)
		e.Add = append(e.Add, journal.Amended{ID: id, Resource: r})
	}
	return e, next
}

// commitRefreshed records what a refresh has found.
func (d *Deployment) commitRefreshed(e journal.Entry) {
	if len(e.Remove)+len(e.Amend)+len(e.Add) == 0 {
		return
	}
	if err := d.ledger.commit(d.calls, e); err != nil {
		d.report.message(Message{Severity: diag.Error, Code: diag.OperationFailed, Text: "could not record the state: " + err.Error()})
		d.stop()
	}
}

// refresh reads one resource and reports how it differs from what was known. It answers with the state as it is now, which
// is old itself when nothing differs or when reading failed, and nil when the resource is gone.
func (d *Deployment) refresh(old *state.Resource) (*state.Resource, error) {
	now, v, err := d.refreshTold(old)
	if failed := d.keepRefreshed(v, now == nil); failed != nil && err == nil {
		err = failed
	}
	return now, err
}

// refreshTold is refresh with what the provider has told of views, which is the caller's to settle.
func (d *Deployment) refreshTold(old *state.Resource) (*state.Resource, *viewing, error) {
	began := d.opts.Now()
	s := &execution{Step: plan.NewStep(OpRefresh, old, old)}
	d.watchViews(s)
	d.report.started(s.Step)
	now, result, err := d.readAgain(s)
	took := d.opts.Now().Sub(began)
	if err != nil {
		if !d.isTerminated() {
			d.report.stepFailed(s.Step, err, took)
		}
		return old, s.views, err
	}
	shown := s.Step
	shown.New = now
	if !d.report.refreshing {
		result = OpRefresh
	}
	d.report.finished(shown, result, true, took)
	return now, s.views, nil
}

// readAgain is the work of refresh: the state now, nil when it is gone, and what that means.
func (d *Deployment) readAgain(s *execution) (*state.Resource, Op, error) {
	old := s.Old
	if !old.Custom || old.IsProvider() || old.PendingReplacement { // E7.15
		return old, OpSame, nil
	}
	p, err := d.registry.Of(old)
	if err != nil {
		return old, OpSame, err
	}
	r, err := p.Read(d.calls, provider.ReadRequest{ // E7.16
		Subject: provider.SubjectOf(old.URN), ID: old.ID, Inputs: old.Inputs, Outputs: old.Outputs, Timeout: old.CustomTimeouts.Read,
		Views: s.views.request()})
	var unhealthy []string
	var failure *provider.Error
	if errors.As(err, &failure) && failure.Outcome == provider.Partial { // E5.39
		r = provider.ReadResponse{ID: failure.ID, Inputs: failure.Inputs, Outputs: plan.AsMap(failure.Outputs),
			RefreshBeforeUpdate: failure.RefreshBeforeUpdate}
		unhealthy = failure.Reasons
		text := "Refreshed resource is in an unhealthy state:"
		for _, reason := range unhealthy {
			text += "\n* " + reason
		}
		d.report.message(Message{URN: old.URN, Severity: diag.Warning, Text: text, Position: old.SourcePosition})
	} else if err != nil {
		return old, OpSame, err
	}
	if r.ID == "" { // E7.17
		return nil, OpDelete, nil
	}
	now := old.Clone()
	now.ID, now.Outputs, now.InitErrors, now.RefreshBeforeUpdate = r.ID, plan.AsMap(r.Outputs), unhealthy, r.RefreshBeforeUpdate
	if r.Inputs.Is(value.KindMap) {
		now.Inputs = r.Inputs
	}
	now.Outputs = secretOutputs(now.Outputs, now.Inputs, now.AdditionalSecretOutputs)
	touched := !value.Equal(old.Inputs, now.Inputs) || !value.Equal(old.Outputs, now.Outputs)
	if touched {
		now.Modified = d.now() // E6.28
	} else if now.ID == old.ID && slices.Equal(now.InitErrors, old.InitErrors) && now.RefreshBeforeUpdate == old.RefreshBeforeUpdate {
		now = old
	}
	if old.External { // E7.19
		if value.SameContent(old.Outputs, now.Outputs) {
			return now, OpSame, nil
		}
		return now, OpUpdate, nil
	}
	// What would the next update do? Turned around, that is what has happened (E7.18).
	answer, err := p.Diff(d.calls, provider.DiffRequest{
		Subject: provider.SubjectOf(old.URN), ID: now.ID, OldInputs: now.Inputs, OldOutputs: now.Outputs, News: old.Inputs,
		IgnoreChanges: old.IgnoreChanges, AllowUnknowns: d.opts.DryRun})
	if err != nil {
		return old, OpSame, err
	}
	v := plan.ProviderDiff(answer, now.Inputs, old.Inputs, old.IgnoreChanges)
	if !v.Change {
		return now, OpSame, nil
	}
	s.Diffs, s.Detailed = v.Diffs, inverted(v.Detailed)
	return now, OpUpdate, nil
}

// inverted turns a detailed diff around: what would be added is missing. What forces a replacement does so still.
func inverted(detailed map[string]provider.PropertyDiff) map[string]provider.PropertyDiff {
	if detailed == nil {
		return nil
	}
	turned := make(map[string]provider.PropertyDiff, len(detailed))
	for path, p := range detailed {
		switch p.Kind {
		case provider.DiffAdd:
			p.Kind = provider.DiffDelete
		case provider.DiffAddReplace:
			p.Kind = provider.DiffDeleteReplace
		case provider.DiffDelete:
			p.Kind = provider.DiffAdd
		case provider.DiffDeleteReplace:
			p.Kind = provider.DiffAddReplace
		}
		turned[path] = p
	}
	return turned
}

// rebuild is the state after a refresh: each old resource with what was read of it, nil for one that is gone, and nothing
// that names what is gone (E6.36–E6.39). A resource for which nothing changes comes back as the same pointer as refreshed.
func rebuild(olds, refreshed []*state.Resource) []*state.Resource {
	rebuilt := make([]*state.Resource, len(olds))
	present := make(map[urn.URN]bool, len(olds))
	gone := func(u urn.URN) bool { return !present[u] }
	for i, r := range refreshed {
		if r == nil || r.ViewOf != "" && gone(r.ViewOf) {
			continue
		}
		rebuilt[i] = pruned(r, gone)
		present[r.URN] = true
	}
	return rebuilt
}

// pruned is r without references to what is gone; r itself when it has none.
func pruned(r *state.Resource, gone func(urn.URN) bool) *state.Resource {
	dangling := r.Parent != "" && gone(r.Parent) || r.DeletedWith != "" && gone(r.DeletedWith) ||
		slices.ContainsFunc(r.Dependencies, gone) || slices.ContainsFunc(r.ReplaceWith, gone)
	for _, deps := range r.PropertyDependencies {
		dangling = dangling || slices.ContainsFunc(deps, gone)
	}
	if !dangling {
		return r
	}
	left := func(urns []urn.URN) []urn.URN {
		if !slices.ContainsFunc(urns, gone) {
			return urns
		}
		return slices.DeleteFunc(slices.Clone(urns), gone)
	}
	next := r.Clone()
	if gone(r.Parent) {
		next.Parent = ""
	}
	if gone(r.DeletedWith) {
		next.DeletedWith = ""
	}
	next.Dependencies, next.ReplaceWith = left(r.Dependencies), left(r.ReplaceWith)
	if len(r.PropertyDependencies) > 0 {
		next.PropertyDependencies = make(map[string][]urn.URN, len(r.PropertyDependencies))
		for key, deps := range r.PropertyDependencies {
			if kept := left(deps); len(kept) > 0 || len(deps) == 0 {
				next.PropertyDependencies[key] = kept // E6.37
			}
		}
	}
	return next
}
