package engine

import (
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// refreshAll reads every resource of the state and makes the outcome the state that the rest of the operation starts
// from (E7.13–E7.22). It is written in one entry at the end (E6.17); an interrupt ends the pass early and keeps what
// was read. Only those that chosen admits are read.
func (d refresher) refreshAll(chosen func(*state.Resource) bool) {
	base := d.table.Base()
	refreshed := slices.Clone(base.Resources)
	var read []int
	for i, r := range refreshed {
		if r.ViewOf == "" && chosen(r) {
			read = append(read, i)
		}
	}
	told := make([]*apply.Viewing, len(read))
	d.each(len(read), func(n int) {
		i := read[n]
		// E7.20: what fails was reported and stops nothing here
		refreshed[i], told[n], _ = d.executor.RefreshTold(base.Resources[i])
	})
	if d.isTerminated() {
		return
	}
	created := map[int][]*state.Resource{} // views, by the place of their owner
	for n, v := range told {
		views := d.executor.RefreshedViews(v, func(p *resources.Prior) **state.Resource { return &refreshed[d.table.At(p)] })
		if len(views) > 0 && refreshed[read[n]] != nil {
			created[read[n]] = views
		}
	}
	order := plan.OwnersFirst(base.Resources, refreshed)
	if order != nil {
		base.Resources, base.IDs = inOrder(base.Resources, order), inOrder(base.IDs, order)
		refreshed = inOrder(refreshed, order)
		found := created
		created = map[int][]*state.Resource{}
		for to, from := range order {
			if views := found[from]; views != nil {
				created[to] = views
			}
		}
	}
	rebuilt := plan.Rebuild(base.Resources, refreshed)
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
	if len(created) > 0 || order != nil {
		e, rest = d.insertViews(base, rebuilt, created)
	}
	d.commitRefreshed(e)
	d.table.Rebase(rest)
	if d.report.hasFailed() { // E7.20: everything was read; nothing comes after it
		d.stop()
	}
}

// inOrder returns the items in another order.
func inOrder[T any](items []T, order []int) []T {
	next := make([]T, len(order))
	for to, from := range order {
		next[to] = items[from]
	}
	return next
}

// insertViews puts views that a refresh has found behind their owners, which takes writing everything anew, in its
// order.
func (d refresher) insertViews(base resources.State, rebuilt []*state.Resource, created map[int][]*state.Resource) (
	e journal.Entry, next resources.State) {
	for i, r := range rebuilt {
		e.Remove = append(e.Remove, base.IDs[i])
		if r != nil {
			next.Resources = append(next.Resources, r)
		}
		next.Resources = append(next.Resources, created[i]...)
	}
	for _, r := range next.Resources {
		id := d.journal.NewID()
		next.IDs = append(next.IDs, id)
		e.Add = append(e.Add, journal.Amended{ID: id, Resource: r})
	}
	return e, next
}

// commitRefreshed records what a refresh has found.
func (d refresher) commitRefreshed(e journal.Entry) {
	if len(e.Remove)+len(e.Amend)+len(e.Add) == 0 {
		return
	}
	if err := d.journal.Commit(d.calls, e); err != nil {
		d.report.message(Message{Severity: diag.Error, Code: diag.OperationFailed, Text: "could not record the state: " +
			err.Error()})
		d.stop()
	}
}
