package engine

import (
	"slices"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// refresher reads resources independently of registrations, and updates the state accordingly. Nothing is registered
// while it works.
type refresher struct {
	*core
}

// before reads resources before the first decision: everything in scope if Options.Refresh is set, otherwise the
// resources whose provider asks for it (E7.13, E4.112). later is set if the program's registrations trigger the reads
// (E7.29).
func (f *refresher) before(later bool) {
	switch {
	case f.running.Err() != nil:
	case !f.opts.Refresh && f.opts.SkipRefreshBefore:
	case f.opts.Refresh && later:
	case f.opts.Refresh:
		f.inScope()
	default:
		wants := func(r *state.Resource) bool { return r.RefreshBeforeUpdate && !r.Delete }
		if all := f.table.Prior.Base().Resources; slices.ContainsFunc(all, wants) {
			chosen := f.table.Scope.Refreshes(all)
			f.all(func(r *state.Resource) bool { return wants(r) && chosen(r) })
		}
	}
}

// inScope reads every resource in scope.
func (f *refresher) inScope() { f.all(f.table.Scope.Refreshes(f.table.Prior.Base().Resources)) }

// all reads every resource that chosen admits, and makes the result the prior state of the operation (E7.13–E7.22). The
// changes are written in one entry at the end (E6.17); an interrupt ends the pass early and keeps what was read.
func (f *refresher) all(chosen func(*state.Resource) bool) {
	base := f.table.Prior.Base()
	refreshed, created := f.read(base.Resources, chosen)
	if f.terminated.Load() {
		return
	}
	// If an owner (deletedWith) is gone, the order of the resources that it leaves changes (E4.80).
	order := plan.OwnersFirst(base.Resources, refreshed)
	if order != nil {
		base.Resources, base.IDs = inOrder(base.Resources, order), inOrder(base.IDs, order)
		refreshed, created = inOrder(refreshed, order), inOrder(created, order)
	}
	rebuilt := plan.Rebuild(base.Resources, refreshed)
	anew := order != nil || slices.ContainsFunc(created, func(views []*state.Resource) bool { return len(views) > 0 })
	e, next := changesOf(base, rebuilt)
	if anew {
		e, next = f.written(base, rebuilt, created)
	}
	f.commit(e)
	f.table.Prior.Rebase(next)
	if f.report.failed.Load() { // E7.20: after all reads, stop
		f.stop()
	}
}

// read reads the resources that chosen admits. refreshed holds all resources as they are now, nil for those that are
// gone; created holds the new views, each at the index of its owner.
func (f *refresher) read(all []*state.Resource, chosen func(*state.Resource) bool) (refreshed []*state.Resource,
	created [][]*state.Resource) {
	refreshed, created = slices.Clone(all), make([][]*state.Resource, len(all))
	var read []int
	for i, r := range all {
		if r.ViewOf == "" && chosen(r) {
			read = append(read, i)
		}
	}
	told := make([]*apply.Viewing, len(read))
	f.slots.Each(len(read), func(n int) {
		i := read[n]
		// E7.20: errors were reported and stop nothing here
		refreshed[i], told[n], _ = f.executor.RefreshWithViews(all[i], all[i])
	})
	if f.terminated.Load() {
		return refreshed, created
	}
	// Views are applied after all reads: applying them changes elements of refreshed that other goroutines may be
	// using until then.
	for n, v := range told {
		views := v.Refreshed(func(p *resources.Prior) **state.Resource { return &refreshed[p.Index()] })
		if refreshed[read[n]] != nil {
			created[read[n]] = views
		}
	}
	return refreshed, created
}

// changesOf returns the journal entry that turns base into rebuilt, and the resulting state.
func changesOf(base resources.State, rebuilt []*state.Resource) (e journal.Entry, next resources.State) {
	for i, r := range rebuilt {
		switch {
		case r == nil:
			e.Remove = append(e.Remove, base.IDs[i])
			continue
		case r != base.Resources[i]:
			e.Amend = append(e.Amend, journal.Amended{ID: base.IDs[i], Resource: r})
		}
		next.Resources, next.IDs = append(next.Resources, r), append(next.IDs, base.IDs[i])
	}
	return e, next
}

// rest ends a refresh with a program: it reads the resources that the program did not register, and removes missing
// ones from the state together with all references to them (E7.33, E6.36).
func (f *refresher) rest() {
	if f.running.Err() != nil {
		return
	}
	known := f.table.AtEnd()
	all := make([]*state.Resource, len(known))
	for i, c := range known {
		all[i] = c.State
	}
	all = f.table.Renamed(all) // a renamed resource is not missing
	chosen := f.table.Scope.Refreshes(all)
	now := slices.Clone(all)
	f.slots.Each(len(all), func(i int) {
		switch {
		case known[i].Vanished:
			now[i] = nil
		case known[i].Read && chosen(all[i]):
			now[i], _ = f.executor.Refresh(all[i], all[i]) // errors were reported and stop nothing
		}
	})
	if f.terminated.Load() {
		return
	}
	var e journal.Entry
	for i, r := range plan.Rebuild(all, now) {
		switch {
		case r == nil:
			e.Remove = append(e.Remove, known[i].ID)
		case r != all[i]:
			e.Amend = append(e.Amend, journal.Amended{ID: known[i].ID, Resource: r})
			known[i].Replace(r)
		}
	}
	f.commit(e)
}

// inOrder returns items in the given order of their indexes.
func inOrder[T any](items []T, order []int) []T {
	next := make([]T, len(order))
	for to, from := range order {
		next[to] = items[from]
	}
	return next
}

// written inserts new views behind their owners. It rewrites the whole state in order, because a journal cannot insert
// a resource between others.
func (f *refresher) written(base resources.State, rebuilt []*state.Resource, created [][]*state.Resource) (
	e journal.Entry, next resources.State) {
	for i, r := range rebuilt {
		e.Remove = append(e.Remove, base.IDs[i])
		if r != nil {
			next.Resources = append(next.Resources, r)
		}
		next.Resources = append(next.Resources, created[i]...)
	}
	for _, r := range next.Resources {
		id := f.journal.NewID()
		next.IDs = append(next.IDs, id)
		e.Add = append(e.Add, journal.Amended{ID: id, Resource: r})
	}
	return e, next
}

// commit records the changes of a refresh.
func (f *refresher) commit(e journal.Entry) {
	if len(e.Remove)+len(e.Amend)+len(e.Add) == 0 {
		return
	}
	if err := f.journal.Commit(f.calls, e); err != nil {
		f.failures.notRecorded(err)
	}
}
