package plan

import (
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Rebuild returns the state after a refresh: each old resource with what was read of it, nil for one that is gone, and
// nothing that names what is gone (E6.36–E6.39). A resource for which nothing changes comes back as the same pointer as
// refreshed.
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

// OwnersFirst returns an order of the resources in which what goes with an owner (deletedWith) keeps something to go
// with, or nil if the order of the state will do. An owner may be gone while an object of it that was replaced earlier
// still waits for its deletion; what goes with the owner may go with that object (E4.80). References lead back, so the
// object has to stand in front. It stays where it is if it needs something that comes later itself.
func OwnersFirst(prior, refreshed []*state.Resource) (order []int) {
	// lost has the owners that are gone, with the place of the first resource that goes with each; -1 for none yet.
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
	dst := map[int][]int{} // by the index that they come before
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

// allBefore reports whether everything that r names is among the resources.
func allBefore(r *state.Resource, resources []*state.Resource) bool {
	there := map[urn.URN]bool{}
	for _, o := range resources {
		if o != nil {
			there[o.URN] = true
		}
	}
	return Pruned(r, func(u urn.URN) bool { return !there[u] }) == r
}

// Pruned returns r without references to what is gone; r itself when it has none, so that callers see by the pointer
// whether there is anything to write.
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
