package plan

import (
	"cmp"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// PriorFact describes a prior resource at the end of a program.
type PriorFact struct {
	Resource      *state.Resource // at the start of the operation
	Now           *state.Resource // nil if it is gone
	Claimed       bool            // matched by a registration
	PendingDelete bool            // replaced, and not deleted yet
	Relocated     bool            // moved to another position in the state
	Position      journal.ID      // journal ID if this operation has moved or added it; otherwise 0
}

// CurrentFact describes a registration at the end of a program.
type CurrentFact struct {
	URN   urn.URN
	State *state.Resource // nil if it failed or was skipped
	Old   *state.Resource // nil for a new resource
	// Failed reports whether the registration ended without success. Goal is then the wanted state, nil for a read.
	Failed bool
	Goal   *state.Resource
}

// Inventory is the input of PlanEnding.
type Inventory struct {
	Prior      []*PriorFact // in the order of the state
	Current    []CurrentFact
	Renamed    map[urn.URN]urn.URN // from former to current URNs
	Destroying bool
	// Produced are the resources that a program registered during its destruction (E7.42), in the order of the state.
	Produced []*PriorFact
	// Pending are the creations of earlier operations whose outcome is unknown.
	Pending []*state.Resource
}

// Ending lists the deletions at the end of an operation.
type Ending struct {
	Steps     []Step            // in the order of the state; Old is the resource as it was at the start
	Deleting  []urn.URN         // URNs whose current resource is deleted, which ends its deletedWith resources too
	Keep      *Needed           // resources that must stay for their dependants; failed deletions add more
	Untouched []*state.Resource // neither registered nor in scope (E4.109, E4.123)
	Unnamed   []*state.Resource // deleted, but not targeted (E4.105)
}

// ending is the working data of PlanEnding.
type ending struct {
	Ending
	inv       Inventory
	scope     *Scope
	deletes   func(*state.Resource) bool
	providers map[string]bool  // references of the providers of retained resources
	wanted    map[urn.URN]bool // dependencies of retained resources; a replacement in scope may have deleted them
	gone      map[urn.URN]bool // deleted, unless withoutNeeded or Keep retains them
}

// PlanEnding chooses the deletions at the end of an operation, and their steps (E4.118).
//
// Everything that was not registered is deleted, unless it is untargeted or a retained resource needs it. Each pass
// records facts for the next: first the registered resources determine the providers and dependencies in use; then the
// prior resources are deleted or retained, and the retained ones extend what is in use; finally the deletions are
// sorted, and providers that are still in use are removed from them.
func PlanEnding(inv Inventory, scope *Scope) Ending {
	all := inv.resources()
	p := &ending{inv: inv, scope: scope, deletes: scope.Deletes(all), providers: map[string]bool{},
		wanted: map[urn.URN]bool{}, gone: map[urn.URN]bool{}}
	p.current()
	p.produced()
	p.prior(NewNeeded(all)) // two sets: resources retained with their owners, and all retained resources
	p.keep(NewNeeded(all))
	p.order()
	p.withoutNeeded()
	return p.Ending
}

// resources returns the resources that determine scope and dependencies, under their current URNs.
func (inv *Inventory) resources() []*state.Resource {
	var all []*state.Resource
	for _, f := range inv.Produced {
		all = append(all, f.Resource)
	}
	for _, f := range inv.Prior {
		if !inv.Destroying || f.Now != nil {
			all = append(all, f.Resource)
		}
	}
	return Renamed(all, inv.Renamed)
}

// stay records the dependencies of a retained resource.
func (p *ending) stay(r *state.Resource) {
	p.providers[r.Provider] = true
	r.AllDependencies(func(u urn.URN) { p.wanted[u] = true })
}

// unlisted reports whether a resource must not be deleted because it is no target and dependants are not included.
func (p *ending) unlisted(r *state.Resource) bool {
	return !p.scope.Targets.Empty() && !p.scope.Targets.Match(r.URN) && !p.scope.TargetDependents
}

// current records the dependencies of the registered resources.
func (p *ending) current() {
	for _, c := range p.inv.Current {
		switch {
		case c.State == nil || p.inv.Destroying:
		case p.scope.Restricts():
			p.stay(c.State)
		default:
			p.providers[c.State.Provider] = true
		}
	}
}

// produced deletes the resources that a program registered during its destruction.
func (p *ending) produced() {
	for _, f := range p.inv.Produced {
		r := f.Resource
		if !p.deletes(r) {
			p.providers[r.Provider] = true
			p.Untouched = append(p.Untouched, r)
			continue
		}
		if p.unlisted(r) {
			p.Unnamed = append(p.Unnamed, r)
		}
		p.Steps = append(p.Steps, Deletion(r, false))
		p.gone[r.URN] = true
	}
}

// stays reports whether an unclaimed resource is retained.
func (p *ending) stays(f *PriorFact) bool {
	replaced := f.Claimed && f.PendingDelete // by this operation
	return !replaced && !p.deletes(f.Resource) && !(f.Now.PendingReplacement && !f.Resource.PendingReplacement)
}

// prior deletes the resources that the program did not register, and those pending delete. need is the set of resources
// that stay with owners that must be kept.
func (p *ending) prior(need *Needed) {
	present := map[urn.URN]bool{}
	for _, f := range p.inv.Prior {
		if r := f.Resource; !r.Delete {
			present[r.URN] = true
		}
	}
	for _, r := range p.ownersToKeep() {
		need.Kept[r.URN] = true
		need.Add(r)
	}
	for _, f := range p.inv.Prior {
		r := f.Resource
		switch {
		case f.Now == nil || r.ViewOf != "" || f.Claimed && !f.PendingDelete: // gone, deleted with its owner, or registered
		case f.Relocated && !f.PendingDelete && p.wanted[r.URN]: // moved for a retained dependant
		case need.Kept[r.URN]:
			p.stay(r)
		case p.stays(f):
			if !f.PendingDelete && !r.PendingReplacement {
				p.Untouched = append(p.Untouched, r)
			}
			p.stay(r)
		default:
			if p.unlisted(r) && !f.PendingDelete {
				p.Unnamed = append(p.Unnamed, r)
			}
			if f.Now.PendingReplacement && !r.PendingReplacement {
				// It was deleted for a replacement in this operation, and is no longer wanted (E4.60).
				p.Steps = append(p.Steps, NewStep(OpRemovePendingReplace, r, nil))
			} else {
				p.Steps = append(p.Steps, Deletion(r, f.PendingDelete))
			}
			if !r.Delete || !present[r.URN] { // if several resources share a URN, only the current one counts
				p.gone[r.URN] = true
			}
		}
	}
}

// keep computes the resources that must stay for the sake of retained and skipped ones.
func (p *ending) keep(keep *Needed) {
	providers := map[string]*state.Resource{}
	for _, f := range p.inv.Prior {
		if r := f.Resource; r.IsProvider() {
			providers[urn.Reference{URN: r.URN, ID: r.ID}.String()] = r
		}
	}
	for _, r := range p.inv.Pending { // its provider is needed to find out its outcome
		p.providers[r.Provider] = true
		if provider := providers[r.Provider]; provider != nil {
			keep.Add(provider)
		}
	}
	for _, c := range p.inv.Current { // failed and skipped resources keep their dependencies
		if c.Failed && c.Old != nil {
			keep.Add(c.Old)
		}
		if c.Failed && c.Goal != nil {
			keep.Add(c.Goal)
		}
	}
	for _, f := range p.inv.Prior { // a failed recreation also leaves its prior resource
		if f.Claimed && !f.PendingDelete && f.Now != nil {
			keep.Add(f.Resource)
		}
	}
	p.Keep = keep
	for u := range p.gone {
		if !keep.Kept[p.nameOf(u)] {
			p.Deleting = append(p.Deleting, u)
		}
	}
}

// order sorts the deletions by the new positions of relocated providers.
func (p *ending) order() {
	facts := make(map[*state.Resource]*PriorFact, len(p.inv.Prior)+len(p.inv.Produced))
	for _, f := range slices.Concat(p.inv.Prior, p.inv.Produced) {
		facts[f.Resource] = f
	}
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return facts[s.Old].Relocated }) {
		return
	}
	slices.SortStableFunc(p.Steps, func(x, y Step) int {
		a, b := facts[x.Old].Position, facts[y.Old].Position
		if (a == 0) != (b == 0) {
			return cmp.Compare(b, a) // new records come first
		}
		return cmp.Compare(a, b)
	})
}

// withoutNeeded removes providers that are still in use from the deletions, and resources that were deleted on behalf
// of another one while a retained resource depends on them.
func (p *ending) withoutNeeded() {
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool {
		r := s.Old
		unmade := s.Op == OpRemovePendingReplace && !r.PendingReplacement && p.wanted[r.URN]
		return unmade || r.IsProvider() && p.providers[urn.Reference{URN: r.URN, ID: r.ID}.String()]
	})
}

// nameOf returns the current URN of a prior resource.
func (p *ending) nameOf(u urn.URN) urn.URN { return cmp.Or(p.inv.Renamed[u], u) }

// ownersToKeep returns the owners pending delete that cannot be deleted in this operation, because a retained resource
// is deletedWith them. The next operation that may replace that resource deletes them.
func (p *ending) ownersToKeep() []*state.Resource {
	if p.inv.Destroying {
		return nil
	}
	present := p.present()
	earlier := map[urn.URN]bool{} // owners whose old object must stay
	note := func(r *state.Resource) {
		if owner := p.nameOf(r.DeletedWith); !earlier[owner] && GoesWithEarlier(r, present[owner]) {
			earlier[owner] = true
		}
	}
	for _, c := range p.inv.Current {
		if c.State != nil && c.State.DeletedWith != "" && c.Old != nil &&
			p.nameOf(c.Old.DeletedWith) == p.nameOf(c.State.DeletedWith) {
			note(c.State)
		}
	}
	for _, f := range p.inv.Prior {
		if f.Now != nil && f.Now.DeletedWith != "" && !f.Claimed && !f.PendingDelete && p.stays(f) {
			note(f.Now)
		}
	}
	var keep []*state.Resource
	for _, f := range p.inv.Prior {
		if f.PendingDelete && f.Now != nil && earlier[p.nameOf(f.Resource.URN)] {
			keep = append(keep, f.Resource)
		}
	}
	return keep
}

// present returns the current resources by their URNs.
func (p *ending) present() map[urn.URN]*state.Resource {
	present := map[urn.URN]*state.Resource{}
	for _, f := range p.inv.Prior {
		if !f.Resource.Delete && !f.PendingDelete && f.Now != nil {
			present[f.Resource.URN] = f.Now
		}
	}
	for _, c := range p.inv.Current {
		if c.State != nil {
			present[c.URN] = c.State
		}
	}
	return present
}

// Renamed returns resources with all URNs in them mapped by names from former to current ones. A resource that does not
// change is returned as the same pointer.
func Renamed(resources []*state.Resource, names map[urn.URN]urn.URN) []*state.Resource {
	if len(names) == 0 {
		return resources
	}
	named := func(u urn.URN) urn.URN { return cmp.Or(names[u], u) }
	next := make([]*state.Resource, len(resources))
	for i, r := range resources {
		next[i] = r.MapURNs(func(ref state.Ref) urn.URN { return named(ref.URN) })
		if now := named(r.URN); now != r.URN {
			next[i] = next[i].Clone()
			next[i].URN = now
		}
	}
	return next
}

// GoesWithEarlier reports whether a resource with deletedWith existed before the current object of its owner: then it
// belongs to an earlier object (E4.80). owner is the current owner, nil if it is gone.
//
// Timestamps decide, because the state does not record to which object of the owner a resource belongs. A resource
// without a timestamp counts as the older one; that only keeps an old owner for one more operation.
func GoesWithEarlier(r, owner *state.Resource) bool {
	switch {
	case !r.Custom || r.External || r.IsProvider() || r.PendingReplacement: // it has no object
		return false
	case owner == nil:
		return true
	case owner.Created == nil:
		return false
	}
	return r.Created == nil || r.Created.Before(*owner.Created)
}
