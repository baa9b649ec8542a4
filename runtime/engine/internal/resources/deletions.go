package resources

import (
	"cmp"
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Inventory returns the input of plan.PlanEnding. If destroying is set, the resources that the program registered are
// deleted too; they become prior resources (E7.42).
func (t *Table) Inventory(destroying bool) plan.Inventory {
	t.mu.Lock()
	defer t.mu.Unlock()
	inv := plan.Inventory{Destroying: destroying, Renamed: maps.Clone(t.names.renamed)}
	for _, e := range t.Prior.list {
		inv.Prior = append(inv.Prior, factOf(e))
	}
	for _, reg := range t.current.of {
		inv.Current = append(inv.Current, outcomeOf(reg))
	}
	if destroying {
		inv.Produced = t.produced()
	}
	return inv
}

// factOf returns the planner's view of a prior resource. Position is set only for resources that this operation has
// moved or added; all others keep the order of the list.
func factOf(e *Prior) *plan.PriorFact {
	f := &plan.PriorFact{Resource: e.resource, Now: e.now, Claimed: e.claimed, PendingDelete: e.pendingDelete,
		Relocated: e.relocated != nil}
	if e.index < 0 || e.relocated != nil {
		f.Position = e.id
	}
	return f
}

// outcomeOf returns the planner's view of a registration.
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

// produced turns the resources that this operation has recorded into prior resources, in order.
func (t *Table) produced() []*plan.PriorFact {
	var facts []*plan.PriorFact
	for _, reg := range t.current.of {
		if reg.state != nil {
			reg.gone = true
			facts = append(facts, factOf(t.Prior.made(reg.state, reg.id)))
		}
	}
	slices.SortFunc(facts, func(a, b *plan.PriorFact) int { return cmp.Compare(a.Position, b.Position) })
	return facts
}

// URNs returns the URNs of the resources in the prior state, in order.
func (p *Priors) URNs() []urn.URN {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	urns := make([]urn.URN, len(p.list))
	for i, e := range p.list {
		urns[i] = e.resource.URN
	}
	return urns
}
