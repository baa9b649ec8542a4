package plan

import (
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Rebuild returns the state after a refresh: the refreshed resources without references to those that are gone, nil for
// each that is gone (E6.36–E6.39). An unchanged resource is returned as the same pointer as in refreshed.
func Rebuild(prior, refreshed []*state.Resource) []*state.Resource {
	rebuilt := make([]*state.Resource, len(prior))
	present := make(map[urn.URN]bool, len(prior))
	gone := func(u urn.URN) bool { return !present[u] }
	for i, r := range refreshed {
		if r == nil || r.ViewOf != "" && gone(r.ViewOf) {
			continue
		}
		rebuilt[i] = Pruned(r, gone)
		present[r.URN] = true
	}
	return rebuilt
}

// OwnersFirst returns an order of the resources in which each resource with a missing owner (deletedWith) comes after
// an old object of that owner, or nil if the order of the state suffices. When an owner is gone but an old object of it
// is pending delete, its resources belong to that object (E4.80). References point backwards, so the old object moves
// in front of them, unless it depends on a resource that comes later.
func OwnersFirst(prior, refreshed []*state.Resource) (order []int) {
	// lost maps each missing owner to the index of the first resource deleted with it; -1 if there is none yet.
	lost := map[urn.URN]int{}
	for i, r := range refreshed {
		switch {
		case r == nil && !prior[i].Delete:
			lost[prior[i].URN] = -1
		case r != nil:
			if pos, gone := lost[r.DeletedWith]; gone && pos < 0 {
				lost[r.DeletedWith] = i
			}
		}
	}
	dst := map[int][]int{} // objects to move, by the index of the resource that they move in front of
	moved := map[int]bool{}
	for i, r := range refreshed {
		if r == nil || !r.Delete {
			continue
		}
		if pos, gone := lost[r.URN]; gone && pos >= 0 && pos < i && allBefore(r, refreshed[:pos]) {
			dst[pos], moved[i] = append(dst[pos], i), true
		}
	}
	if len(moved) == 0 {
		return nil
	}
	for i := range refreshed {
		order = append(order, dst[i]...)
		if !moved[i] {
			order = append(order, i)
		}
	}
	return order
}

// allBefore reports whether resources contain everything that r refers to.
func allBefore(r *state.Resource, resources []*state.Resource) bool {
	present := map[urn.URN]bool{}
	for _, o := range resources {
		if o != nil {
			present[o.URN] = true
		}
	}
	return Pruned(r, func(u urn.URN) bool { return !present[u] }) == r
}

// Pruned returns r without references to gone resources. It returns r itself if it has none, so that callers can
// compare pointers.
func Pruned(r *state.Resource, gone func(urn.URN) bool) *state.Resource {
	dangling := false
	r.AllDependencies(func(u urn.URN) { dangling = dangling || gone(u) })
	if !dangling {
		return r
	}
	return r.MapURNs(func(ref state.Ref) urn.URN {
		if ref.Kind == state.RefProvider || ref.Kind == state.RefViewOf || !gone(ref.URN) {
			return ref.URN
		}
		return ""
	})
}
