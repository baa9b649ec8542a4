package plan

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Deletion returns the step that deletes or forgets a resource that is not kept (E4.118). pendingDelete reports whether
// the resource is the old object of a replacement, in this operation or an earlier one.
func Deletion(old *state.Resource, pendingDelete bool) Step {
	op := OpDelete
	switch {
	case pendingDelete && old.External:
		op = OpDiscardReplaced
	case pendingDelete:
		op = OpDeleteReplaced
	case old.External:
		op = OpDiscard
	case old.PendingReplacement:
		op = OpRemovePendingReplace
	}
	return NewStep(op, old, nil)
}

// Layers splits resources that are deleted, in the order of the state, into layers that are deleted one after the
// other; the resources of one layer are deleted concurrently (E4.120). The dependencies of a layer are all in later
// layers, and every resource is in the latest possible layer (E4.121). A resource with deletedWith comes before all
// generations of its owner, including those pending delete: its object may belong to one of them. The cost is linear in
// the number of resources and dependencies.
func Layers(going []*state.Resource) [][]int {
	left := map[urn.URN][]int{} // indexes of the resources pending delete
	for i, r := range going {
		if r.Delete {
			left[r.URN] = append(left[r.URN], i)
		}
	}
	// Dependencies point backwards in the state, so one pass gives the layers. deletedWith may point forwards, to an
	// owner pending delete: such a resource gets a floor, and the layers are computed again until nothing changes.
	floor := map[int]int{}
	groups := layersFrom(going, floor)
	for range left { // one round for each owner is enough; a cycle of deletedWith is broken here
		position := make([]int, len(going))
		for l, group := range groups {
			for _, i := range group {
				position[i] = l
			}
		}
		again := false
		for i, r := range going {
			for _, owner := range left[r.DeletedWith] {
				if i < owner && position[i] <= position[owner] {
					floor[i], again = max(floor[i], position[owner]+1), true
				}
			}
		}
		if !again {
			break
		}
		groups = layersFrom(going, floor)
	}
	slices.Reverse(groups)
	return groups
}

// layersFrom returns the layers, the one that is deleted last first. No resource is in a layer before its floor. A
// resource is in the layer after the last of its dependencies, whose layers are known because they come first in the
// state.
func layersFrom(going []*state.Resource, floor map[int]int) [][]int {
	level := make(map[urn.URN]int, len(going)) // the greatest layer of each URN so far, counted from 1
	// below is the greatest level so far among the descendants of a component: a dependant of the component depends on
	// its descendants too.
	below := map[urn.URN]int{}
	parents := make(map[urn.URN]urn.URN, len(going))
	components := map[urn.URN]bool{}
	var groups [][]int
	for i, r := range going {
		pos := floor[i]
		need := func(l int) { pos = max(pos, l) }
		r.AllDependencies(func(u urn.URN) { need(level[u]) })
		for _, u := range dependenciesButParent(r) {
			if components[u] {
				need(below[u])
			}
		}
		for pos >= len(groups) {
			groups = append(groups, nil)
		}
		groups[pos] = append(groups[pos], i)
		pos++
		level[r.URN] = max(level[r.URN], pos)
		parents[r.URN] = r.Parent
		if !r.Custom {
			components[r.URN] = true
		}
		for u := r.Parent; u != "" && below[u] < pos; u = parents[u] {
			below[u] = pos
		}
	}
	return groups
}

// dependenciesButParent returns the URNs of r's dependencies other than its parent and provider.
func dependenciesButParent(r *state.Resource) []urn.URN {
	var urns []urn.URN
	bare := *r // AllDependencies includes them
	bare.Parent, bare.Provider = "", ""
	bare.AllDependencies(func(u urn.URN) { urns = append(urns, u) })
	return urns
}

// Needed is the set of resources that must stay because a kept resource depends on them, directly or indirectly. A
// dependency on a component includes all its descendants (E4.106, E4.122). The cost of all calls of Add together is
// linear.
type Needed struct {
	resources []*state.Resource // until the first is kept, which is never in most operations
	byURN     map[urn.URN][]*state.Resource
	children  map[urn.URN][]*state.Resource
	Kept      map[urn.URN]bool
	whole     map[urn.URN]bool // components whose descendants are all kept
}

// NewNeeded returns an empty set for resources in the order of the state.
func NewNeeded(resources []*state.Resource) *Needed {
	return &Needed{resources: resources, byURN: map[urn.URN][]*state.Resource{},
		children: map[urn.URN][]*state.Resource{}, Kept: map[urn.URN]bool{}, whole: map[urn.URN]bool{}}
}

// Add keeps everything that r depends on.
func (n *Needed) Add(r *state.Resource) {
	for _, r := range n.resources {
		n.byURN[r.URN] = append(n.byURN[r.URN], r)
		if r.Parent != "" {
			n.children[r.Parent] = append(n.children[r.Parent], r)
		}
	}
	n.resources = nil
	work := []*state.Resource{r}
	keep := func(u urn.URN) {
		if !n.Kept[u] {
			n.Kept[u] = true
			work = append(work, n.byURN[u]...)
		}
	}
	for len(work) > 0 {
		r, work = work[len(work)-1], work[:len(work)-1]
		r.AllDependencies(keep)
		for _, u := range dependenciesButParent(r) {
			if n.isComponent(u) {
				n.keepDescendants(u, keep)
			}
		}
	}
}

// isComponent reports whether u is a component other than the stack: a dependency on the stack includes nothing.
func (n *Needed) isComponent(u urn.URN) bool {
	return slices.ContainsFunc(n.byURN[u], func(r *state.Resource) bool {
		return !r.Custom && r.ViewOf == "" && r.Type != urn.RootStackType
	})
}

// keepDescendants keeps all descendants of a resource.
func (n *Needed) keepDescendants(u urn.URN, keep func(urn.URN)) {
	if n.whole[u] {
		return
	}
	n.whole[u] = true
	for _, child := range n.children[u] {
		keep(child.URN)
		n.keepDescendants(child.URN, keep)
	}
}
