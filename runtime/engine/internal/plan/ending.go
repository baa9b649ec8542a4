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
	Resource      *state.Resource // as found
	Now           *state.Resource // nil when it is gone
	Claimed       bool            // a registration has taken it as its old state
	PendingDelete bool            // a replacement has left it behind
	Relocated     bool            // it has another position in the state
	Position      journal.ID      // among what this operation has put into the state; 0 for what stands where it was found
}

// CurrentFact describes a registration at the end of a program.
type CurrentFact struct {
	URN   urn.URN
	State *state.Resource // nil when it failed or was skipped
	Old   *state.Resource // nil for a new one
	// Failed reports whether it is over and did not succeed; Goal is then what the program wanted, nil for a read.
	Failed bool
	Goal   *state.Resource
}

// Inventory is everything that decides what is deleted at the end of an operation.
type Inventory struct {
	Prior      []*PriorFact // in the order of the state
	Current    []CurrentFact
	Renamed    map[urn.URN]urn.URN // from former to present names
	Destroying bool
	// Produced are the resources that a program registered before its destruction (E7.42), in the order of the state.
	Produced []*PriorFact
	// Pending are the creations of earlier operations whose outcome is unknown.
	Pending []*state.Resource
}

// Ending lists the deletions at the end of an operation.
type Ending struct {
	Resources []*state.Resource // in the order of the state, as found
	Steps     []Step            // one for each
	Deleting  []urn.URN         // whose present resource is deleted, so that what is deletedWith it goes too
	Keep      *Needed           // what must stay because something that stays needs it; failures add to that
	Untouched []*state.Resource // neither registered nor in scope (E4.109, E4.123)
	Unnamed   []*state.Resource // deleted, and no target (E4.105)
}

// ending is an Ending in the making.
type ending struct {
	Ending
	inv       Inventory
	scope     *Scope
	deletes   func(*state.Resource) bool
	providers map[string]bool  // references that retained resources hold
	wanted    map[urn.URN]bool // what stays depends on it, although it was deleted because something in scope was replaced
	gone      map[urn.URN]bool // what is deleted, unless it has to stay after all
}

// PlanEnding chooses what is deleted at the end of an operation, and with which steps (E4.118).
//
// Everything that was not registered goes, unless the scope leaves it out, or something that stays needs it. The passes
// come in this order because each records facts that the next one needs: registered resources say which providers
// and dependencies are in use; prior ones then go or stay, and those that stay add to what is in use; at last what was
// chosen is put in order, and providers that are still in use are taken out again.
func PlanEnding(inv Inventory, scope *Scope) Ending {
	all := inv.resources()
	p := &ending{inv: inv, scope: scope, deletes: scope.Deletes(all), providers: map[string]bool{},
		wanted: map[urn.URN]bool{}, gone: map[urn.URN]bool{}}
	p.Resources, p.Steps = []*state.Resource{}, []Step{}
	p.current()
	p.produced()
	p.prior(NewNeeded(all)) // two sets: what stays along with kept owners, and what stays at all
	p.keep(NewNeeded(all))
	p.order()
	p.withoutNeeded()
	return p.Ending
}

// resources returns all that scope and needs are computed over, with present names.
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

// stay records the dependencies of a resource that stays.
func (p *ending) stay(r *state.Resource) {
	p.providers[r.Provider] = true
	r.AllDependencies(func(u urn.URN) { p.wanted[u] = true })
}

// delete chooses the deletion of a resource.
func (p *ending) delete(r *state.Resource, step Step) {
	p.Resources, p.Steps = append(p.Resources, r), append(p.Steps, step)
}

// unlisted reports whether the deletion of a resource has to be asked for by name.
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

// produced deletes what a program has registered before it is destroyed.
func (p *ending) produced() {
	for _, f := range p.inv.Produced {
		r := f.Resource
		if !p.deletes(r) {
			p.providers[r.Provider] = true
			continue
		}
		if p.unlisted(r) {
			p.Unnamed = append(p.Unnamed, r)
		}
		p.delete(r, Deletion(r, false))
		p.gone[r.URN] = true
	}
}

// stays reports whether the operation leaves alone what it has not taken.
func (p *ending) stays(f *PriorFact) bool {
	replaced := f.Claimed && f.PendingDelete // by this operation
	return !replaced && !p.deletes(f.Resource) && !(f.Now.PendingReplacement && !f.Resource.PendingReplacement)
}

// prior deletes what the program did not register, and what replacements have left behind. need holds what stays along
// with owners that have to stay.
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
		case f.Now == nil || r.ViewOf != "" || f.Claimed && !f.PendingDelete: // gone, goes with its owner, or registered
		case f.Relocated && !f.PendingDelete && p.wanted[r.URN]: // it was moved because something that stays needs it
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
				// Deleted by a replacement of this operation and not wanted any more (E4.60).
				p.delete(r, NewStep(OpRemovePendingReplace, r, nil))
			} else {
				p.delete(r, Deletion(r, f.PendingDelete))
			}
			if !r.Delete || !present[r.URN] { // of several with one URN only the present one counts
				p.gone[r.URN] = true
			}
		}
	}
}

// keep finds what must stay because something that stays or was skipped needs it.
func (p *ending) keep(keep *Needed) {
	providers := map[string]*state.Resource{}
	for _, f := range p.inv.Prior {
		if r := f.Resource; r.IsProvider() {
			providers[urn.Reference{URN: r.URN, ID: r.ID}.String()] = r
		}
	}
	for _, r := range p.inv.Pending { // without its provider nobody could find out about it
		p.providers[r.Provider] = true
		if provider := providers[r.Provider]; provider != nil {
			keep.Add(provider)
		}
	}
	for _, c := range p.inv.Current { // what was skipped stays as it was
		if c.Failed && c.Old != nil {
			keep.Add(c.Old)
		}
		if c.Failed && c.Goal != nil {
			keep.Add(c.Goal)
		}
	}
	for _, f := range p.inv.Prior { // a resource also stays if it was gone, had to be created anew, and could not be
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

// order sorts what is deleted so that providers which found a new position in the state stand there.
func (p *ending) order() {
	facts := make(map[*state.Resource]*PriorFact, len(p.inv.Prior)+len(p.inv.Produced))
	moved := false
	for _, f := range slices.Concat(p.inv.Prior, p.inv.Produced) {
		facts[f.Resource] = f
	}
	position := make([]int, len(p.Resources))
	for i, r := range p.Resources {
		position[i] = i
		moved = moved || facts[r].Relocated
	}
	if !moved {
		return
	}
	slices.SortStableFunc(position, func(i, j int) int {
		a, b := facts[p.Resources[i]].Position, facts[p.Resources[j]].Position
		if (a == 0) != (b == 0) {
			return cmp.Compare(b, a) // what is new is first
		}
		return cmp.Compare(a, b)
	})
	resources, steps := make([]*state.Resource, len(position)), make([]Step, len(position))
	for n, i := range position {
		resources[n], steps[n] = p.Resources[i], p.Steps[i]
	}
	p.Resources, p.Steps = resources, steps
}

// withoutNeeded leaves out providers that something still names, which wait for that, and what was deleted on behalf of
// another resource and something still depends on.
func (p *ending) withoutNeeded() {
	for i := len(p.Resources) - 1; i >= 0; i-- { // backwards: the list shrinks
		r := p.Resources[i]
		unmade := p.Steps[i].Op == OpRemovePendingReplace && !r.PendingReplacement && p.wanted[r.URN]
		if unmade || r.IsProvider() && p.providers[urn.Reference{URN: r.URN, ID: r.ID}.String()] {
			p.Resources, p.Steps = slices.Delete(p.Resources, i, i+1), slices.Delete(p.Steps, i, i+1)
		}
	}
}

// nameOf returns what a resource of the state is called now.
func (p *ending) nameOf(u urn.URN) urn.URN { return cmp.Or(p.inv.Renamed[u], u) }

// ownersToKeep returns the resources that replacements have left behind and that cannot be deleted in this operation,
// because something that stays still goes with them (deletedWith): it is replaced by the next operation that may do so,
// and the old owner is deleted then.
func (p *ending) ownersToKeep() []*state.Resource {
	if p.inv.Destroying {
		return nil
	}
	present := p.present()
	earlier := map[urn.URN]bool{} // owners of which an earlier object has to stay
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

// present returns the resources as they are now, by their URNs.
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

// Renamed returns resources with every name as it is now: what was found through an alias has another, also where
// others still name it as it was. A resource for which nothing changes comes back as the same pointer.
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

// GoesWithEarlier reports whether a resource that is deletedWith an owner was there before the owner's present object
// was made: then it goes with an earlier one (E4.80). owner is the owner as it is now, nil when it is gone.
//
// Times decide because the state does not say with which generation of an owner a resource was made. Without a time the
// resource counts as the older one, which keeps an old owner for one operation more and loses nothing.
func GoesWithEarlier(r, owner *state.Resource) bool {
	switch {
	case !r.Custom || r.External || r.IsProvider() || r.PendingReplacement: // it has no object that could go
		return false
	case owner == nil:
		return true
	case owner.Created == nil:
		return false
	}
	return r.Created == nil || r.Created.Before(*owner.Created)
}
