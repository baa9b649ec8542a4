package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// deleteRest deletes what the program did not register, and what replacements have left behind (E4.118–E4.125).
func (d *Deployment) deleteRest() {
	d.mu.Lock()
	done := d.deletionsDone
	d.deletionsDone = true
	failed := d.programFailed
	d.mu.Unlock()
	if done || d.running.Err() != nil || (failed || d.report.hasFailed()) && !d.mayDeleteAfterFailure(failed) {
		return
	}
	if d.checkTargets(d.scope.Targets) != nil {
		return
	}
	condemned, steps, keep := d.condemn()
	if condemned == nil {
		return
	}
	current := d.current(condemned)
	if s, err := d.planner.deletions(steps); err != nil {
		_ = d.violatesPlan(s.URN, positionOf(s.Old), err)
		return
	}
	for _, layer := range plan.Layers(current) {
		slices.Reverse(layer)
		layer = slices.DeleteFunc(layer, func(i int) bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			return keep.Kept[current[i].URN]
		})
		d.parallel(len(layer), func(n int) {
			s := steps[layer[n]]
			if _, err := d.step(s, nil); err == nil {
				return
			}
			d.mu.Lock()
			keep.Add(current[layer[n]])
			d.mu.Unlock()
			if !(s.Old.Protect && s.Op == OpDelete && !d.opts.IgnoreProtect) { // E5.45
				d.fail()
			}
		})
	}
}

// condemn chooses what is deleted at the end of an operation, in the order of the state, and with which steps; and what must
// stay because something that was skipped needs it. It is nil when the operation must not go on.
func (d *Deployment) condemn() ([]*state.Resource, []Step, *plan.Needed) {
	condemned, steps := []*state.Resource{}, []Step{}
	var untouched []*state.Resource
	d.mu.Lock()
	all := d.olds.resources()
	var produced []*entry
	if d.mode == destroying { // what the program registered goes too (E7.42)
		produced = d.producedEntries()
		left := all
		all = nil
		for _, e := range produced {
			all = append(all, e.resource)
		}
		for i, e := range d.olds.entries {
			if e.now != nil {
				all = append(all, left[i])
			}
		}
	}
	d.mu.Unlock()
	all = d.current(all)
	d.mu.Lock()
	deletes := d.scope.Deletes(all)
	var unnamed []*state.Resource
	needed := map[string]bool{}  // provider references of what stays
	wanted := map[urn.URN]bool{} // what depends on it stays, although it was deleted because something in scope was replaced
	ending := map[urn.URN]bool{} // what is deleted, unless it has to stay after all
	if d.mode != destroying {
		for _, reg := range d.resources {
			if reg.state != nil {
				needed[reg.state.Provider] = true
				if d.scope.Restricts() {
					reg.state.AllDependencies(func(u urn.URN) { wanted[u] = true })
				}
			}
		}
	}
	if d.mode == destroying {
		for _, e := range produced {
			if !deletes(e.resource) {
				needed[e.resource.Provider] = true
				continue
			}
			if !d.scope.Targets.Empty() && !d.scope.Targets.Match(e.resource.URN) && !d.scope.TargetDependents {
				unnamed = append(unnamed, e.resource)
			}
			condemned = append(condemned, e.resource)
			steps = append(steps, plan.Deletion(e.resource, false))
			ending[e.resource.URN] = true
		}
	}
	stays := func(e *entry) bool { // whether the operation leaves alone what it has not taken
		return !(e.claimed && e.doomed) && !deletes(e.resource) && !(e.now.PendingReplacement && !e.resource.PendingReplacement)
	}
	with := plan.NewNeeded(all) // what stays along with owners that have to stay
	if d.mode != destroying {
		for _, e := range d.ownersToKeep(stays) {
			with.Kept[e.resource.URN] = true
			with.Add(e.resource)
		}
	}
	for _, e := range d.olds.entries {
		if e.now == nil || e.resource.ViewOf != "" || e.claimed && !e.doomed {
			continue
		}
		about := e.resource
		if e.brought != nil && !e.doomed && wanted[about.URN] {
			continue
		}
		replacedNow := e.claimed && e.doomed
		if with.Kept[about.URN] {
			needed[about.Provider] = true
			about.AllDependencies(func(u urn.URN) { wanted[u] = true })
			continue
		}
		if stays(e) {
			if !e.doomed && !about.PendingReplacement {
				untouched = append(untouched, about)
			}
			needed[about.Provider] = true
			about.AllDependencies(func(u urn.URN) { wanted[u] = true })
			continue
		}
		if !d.scope.Targets.Empty() && !d.scope.Targets.Match(about.URN) && !d.scope.TargetDependents && !replacedNow && !e.doomed {
			unnamed = append(unnamed, about)
		}
		condemned = append(condemned, about)
		if e.now.PendingReplacement && !about.PendingReplacement {
			// Deleted by a replacement of this operation and not wanted any more (E4.60).
			steps = append(steps, plan.NewStep(OpRemovePendingReplace, about, nil))
		} else {
			steps = append(steps, plan.Deletion(about, e.doomed))
		}
		if !about.Delete || d.olds.byURN[about.URN] == nil {
			ending[about.URN] = true
		}
	}
	keep := plan.NewNeeded(all)
	for _, op := range d.opts.Base.Pending { // without its provider nobody could find out about it
		if op.Kind != state.Creating || d.retries(op) {
			continue
		}
		needed[op.Resource.Provider] = true
		if p := d.olds.providers[op.Resource.Provider]; p != nil {
			keep.Add(p)
		}
	}
	for _, reg := range d.resources {
		// What was skipped stays as it was, and with it what that needs.
		if isDone(reg.done) && reg.result != monitor.Succeeded {
			if reg.old != nil {
				keep.Add(reg.old.resource)
			}
			if reg.goal != nil {
				keep.Add(reg.goal.NewState(reg.urn, nil))
			}
		}
	}
	for _, e := range d.olds.entries { // so does what is to be created anew, because it is gone, and could not be
		if e.claimed && !e.doomed && e.now != nil {
			keep.Add(e.resource)
		}
	}
	for u := range ending {
		if !keep.Kept[d.nameOf(u)] {
			d.deleting[u] = true
		}
	}
	d.mu.Unlock()
	d.inStateOrder(condemned, steps)
	for i := len(condemned) - 1; i >= 0; i-- { // a replaced provider waits for what still needs it
		r := condemned[i]
		unmade := steps[i].Op == OpRemovePendingReplace && !r.PendingReplacement && wanted[r.URN]
		if unmade || r.IsProvider() && needed[urn.Reference{URN: r.URN, ID: r.ID}.String()] {
			condemned, steps = slices.Delete(condemned, i, i+1), slices.Delete(steps, i, i+1)
		}
	}
	for _, r := range untouched { // E4.109, E4.123: it stays where it is
		step := plan.NewStep(OpSame, r, r)
		d.report.started(step)
		d.report.finished(step, OpSame, d.opts.DryRun || r.Custom, 0)
	}
	for _, r := range unnamed {
		d.report.message(Message{URN: r.URN, Severity: diag.Error, Code: diag.OperationFailed, Position: r.SourcePosition,
			Text: fmt.Sprintf("Resource '%s' will be destroyed but was not specified in --target list.\n"+
				"Either include resource in --target list or pass --target-dependents to proceed.", r.URN)}) // E4.105
	}
	if len(unnamed) > 0 && !d.opts.DryRun {
		_ = d.bail()
		return nil, nil, nil
	}
	return condemned, steps, keep
}

// inStateOrder sorts what is condemned, and its steps, so that providers which found a new place in the state stand there.
func (d *Deployment) inStateOrder(condemned []*state.Resource, steps []Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	type place struct {
		at       journal.ID // in what this operation put into the state, 0 in what it found there
		resource *state.Resource
		step     Step
	}
	var moved bool
	places := make([]place, len(condemned))
	for i, r := range condemned {
		places[i] = place{resource: r, step: steps[i]}
		if e := d.olds.of[r]; e != nil && (e.position < 0 || e.brought != nil) {
			places[i].at = e.id
			moved = moved || e.brought != nil
		}
	}
	if !moved {
		return
	}
	slices.SortStableFunc(places, func(a, b place) int {
		if (a.at == 0) != (b.at == 0) {
			return cmp.Compare(b.at, a.at) // what is new is first
		}
		return cmp.Compare(a.at, b.at)
	})
	for i, p := range places {
		condemned[i], steps[i] = p.resource, p.step
	}
}

// current are resources with every name as it is now: what was found through an alias has another, also where others still
// name it as it was. A resource for which nothing changes comes back as the same pointer.
func (d *Deployment) current(resources []*state.Resource) []*state.Resource {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.renamed) == 0 {
		return resources
	}
	named := func(u urn.URN) urn.URN {
		if now, ok := d.renamed[u]; ok {
			return now
		}
		return u
	}
	list := func(urns []urn.URN) []urn.URN {
		next := make([]urn.URN, len(urns))
		for i, u := range urns {
			next[i] = named(u)
		}
		return next
	}
	next := make([]*state.Resource, len(resources))
	before := d.oldNames()
	for i, r := range resources {
		if next[i] = r; !plan.DependsOnAny(r, before) && named(r.URN) == r.URN {
			continue
		}
		c := r.Clone()
		c.URN, c.Parent, c.DeletedWith = named(r.URN), named(r.Parent), named(r.DeletedWith)
		c.Dependencies, c.ReplaceWith = list(r.Dependencies), list(r.ReplaceWith)
		c.PropertyDependencies = make(map[string][]urn.URN, len(r.PropertyDependencies))
		for key, urns := range r.PropertyDependencies {
			c.PropertyDependencies[key] = list(urns)
		}
		if ref, err := urn.ParseReference(r.Provider); err == nil {
			ref.URN = named(ref.URN)
			c.Provider = ref.String()
		}
		next[i] = c
	}
	return next
}

// oldNames are the names that are not valid any more. The caller holds mu.
func (d *Deployment) oldNames() map[urn.URN]bool {
	names := make(map[urn.URN]bool, len(d.renamed))
	for u := range d.renamed {
		names[u] = true
	}
	return names
}

// producedEntries makes entries of what the operation has put into the state, in the order of that, so that it can be
// deleted. The caller holds mu.
func (d *Deployment) producedEntries() []*entry {
	var produced []*entry
	for _, reg := range d.resources {
		if reg.state == nil {
			continue
		}
		reg.gone = true
		e := &entry{id: reg.id, position: -1, resource: reg.state, now: reg.state, claimed: true, doomed: false}
		d.olds.of[reg.state] = e
		produced = append(produced, e)
	}
	slices.SortFunc(produced, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	return produced
}

// mayDeleteAfterFailure decides whether deletions go on although something failed: only if asked to go on, and if the
// program itself ran to its end (E4.125, E5.44).
func (d *Deployment) mayDeleteAfterFailure(programFailed bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opts.ContinueOnError && !programFailed && !d.bailed
}
