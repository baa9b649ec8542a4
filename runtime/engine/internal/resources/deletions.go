package resources

import (
	"cmp"
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Inventory returns everything that decides what is deleted at the end of an operation. destroying says that what the
// program has registered goes too: it then becomes prior resources (E7.42).
func (t *Table) Inventory(destroying bool) plan.Inventory {
	t.mu.Lock()
	defer t.mu.Unlock()
	inv := plan.Inventory{Destroying: destroying, Renamed: maps.Clone(t.renamed)}
	for _, e := range t.priors.list {
		inv.Prior = append(inv.Prior, factOf(e))
	}
	for _, reg := range t.current {
		inv.Current = append(inv.Current, outcomeOf(reg))
	}
	if destroying {
		inv.Produced = t.produced()
	}
	return inv
}

func factOf(e *Prior) plan.PriorFact {
	f := plan.PriorFact{Resource: e.resource, Now: e.now, Claimed: e.claimed, PendingDelete: e.pendingDelete,
		Relocated: e.relocated != nil}
	if e.index < 0 || e.relocated != nil {
		f.Position = e.id
	}
	return f
}

// outcomeOf says what became of a registration.
func outcomeOf(reg *Registration) plan.CurrentFact {
	f := plan.CurrentFact{URN: reg.URN, State: reg.state, Old: reg.Old.Resource()}
	if reg.IsDone() && reg.Result != monitor.Succeeded {
		f.Failed = true
		if reg.Goal != nil {
			f.Goal = reg.Goal.NewState(reg.URN, nil)
		}
	}
	return f
}

// produced makes prior resources of what the operation has put into the state, in the order of that.
func (t *Table) produced() []plan.PriorFact {
	var made []*Prior
	for _, reg := range t.current {
		if reg.state == nil {
			continue
		}
		reg.gone = true
		e := &Prior{id: reg.id, index: -1, resource: reg.state, now: reg.state, claimed: true}
		t.priors.of[reg.state] = e
		made = append(made, e)
	}
	slices.SortFunc(made, func(a, b *Prior) int { return cmp.Compare(a.id, b.id) })
	facts := make([]plan.PriorFact, len(made))
	for i, e := range made {
		facts[i] = factOf(e)
	}
	return facts
}

// URNs returns the names of what the state has, in its order.
func (t *Table) URNs() []urn.URN {
	t.mu.Lock()
	defer t.mu.Unlock()
	urns := make([]urn.URN, len(t.priors.list))
	for i, e := range t.priors.list {
		urns[i] = e.resource.URN
	}
	return urns
}

// Late returns a resource on which goal depends and that is not there yet, or stands behind a prior resource that was
// relocated; empty when there is none. position is the relocated resource's, 0 when p was not relocated.
func (t *Table) Late(p *Prior, goal *state.Resource) (position journal.ID, late urn.URN) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.relocated == nil {
		return 0, ""
	}
	goal.AllDependencies(func(u urn.URN) {
		if reg := t.current[u]; reg == nil || reg.state == nil || reg.id > p.id {
			late = u
		}
	})
	return p.id, late
}
