package engine

import (
	"slices"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// goesWithLeftover reports whether a resource goes with an owner that an earlier operation has replaced and not deleted
// yet. Then it has to be replaced before the old owner can be deleted, as the operation that replaced the owner would have
// done (E4.41).
func (d *Deployment) goesWithLeftover(old, goal *state.Resource) bool {
	if old.DeletedWith == "" {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	left := func(e *entry) bool { return e.now != nil }
	if d.nameOf(old.DeletedWith) != d.nameOf(goal.DeletedWith) || !slices.ContainsFunc(d.olds.left[old.DeletedWith], left) {
		return false
	}
	var owner *state.Resource
	if e := d.olds.byURN[old.DeletedWith]; e != nil {
		owner = e.resource
	}
	return plan.GoesWithEarlier(old, owner)
}

// nameOf is what a resource of the state is called now. The caller holds mu.
func (d *Deployment) nameOf(u urn.URN) urn.URN {
	if now, ok := d.renamed[u]; ok {
		return now
	}
	return u
}

// ownersToKeep are the resources that replacements have left behind and that cannot be deleted in this operation, because
// something that stays still goes with them (deletedWith): it is replaced by the next operation that may do so, and the old
// owner is deleted then. stays tells of an entry that no registration has taken whether it stays. The caller holds mu.
func (d *Deployment) ownersToKeep(stays func(*entry) bool) []*entry {
	earlier := map[urn.URN]bool{} // owners of which an earlier object has to stay
	note := func(r *state.Resource) {
		owner := d.nameOf(r.DeletedWith)
		if !earlier[owner] && plan.GoesWithEarlier(r, d.present(owner)) {
			earlier[owner] = true
		}
	}
	for _, reg := range d.resources {
		if reg.state != nil && reg.state.DeletedWith != "" && reg.old != nil &&
			d.nameOf(reg.old.resource.DeletedWith) == d.nameOf(reg.state.DeletedWith) {
			note(reg.state)
		}
	}
	for _, e := range d.olds.entries {
		if e.now != nil && e.now.DeletedWith != "" && !e.claimed && !e.doomed && stays(e) {
			note(e.now)
		}
	}
	if len(earlier) == 0 {
		return nil
	}
	var keep []*entry
	for _, e := range d.olds.entries {
		if e.doomed && e.now != nil && earlier[d.nameOf(e.resource.URN)] {
			keep = append(keep, e)
		}
	}
	return keep
}

// present is a resource as it is now, nil if there is none. The caller holds mu.
func (d *Deployment) present(u urn.URN) *state.Resource {
	if reg := d.resources[u]; reg != nil && reg.state != nil {
		return reg.state
	}
	if e := d.olds.byURN[u]; e != nil && !e.doomed {
		return e.now
	}
	return nil
}
