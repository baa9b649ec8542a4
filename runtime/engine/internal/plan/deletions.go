package plan

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Deletion returns the step that ends a resource that the operation found and does not keep (E4.118). pendingDelete
// says that a replacement has left it behind, in this operation or an earlier one.
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

// Layers splits resources to be deleted, given in the order of the state, into groups to be deleted one after the
// other, the members of each all at once (E4.120). The remaining dependencies of a group's members are all in later
// groups, and every resource sits as near to the end as that allows (E4.121). A resource that is deleted with an
// owner goes before all generations of that owner, also before one that a replacement has left behind: its object may
// belong to that generation. The cost is linear in resources and dependencies.
func Layers(going []*state.Resource) [][]int {
	left := map[urn.URN][]int{} // what replacements have left behind
	for i, r := range going {
		if r.Delete {
			left[r.URN] = append(left[r.URN], i)
		}
	}
	// Dependencies lead back in the state, so that one pass gives the groups. To go with an owner may lead forward, to a
	// generation that stands behind: such resources get a floor, and the groups are made again, until nothing moves.
	floor := map[int]int{}
	groups := layersFrom(going, floor)
	for range left { // as often as that can help; resources that go with each other in a circle go at once
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

// layersFrom returns the groups; the group that is deleted last comes first. No resource is in a group before its
// floor. A resource is one group after the last of its dependencies. The state has dependencies first, so their
// groups are known when the resource's turn comes.
func layersFrom(going []*state.Resource, floor map[int]int) [][]int {
	level := make(map[urn.URN]int, len(going)) // of a URN's entries so far, the greatest; from 1
	// below is the greatest level among the descendants of a component that came so far: anyone who depends on the
	// component depends on them too.
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

// dependenciesButParent returns the URNs of r's dependencies, except its parent and provider.
func dependenciesButParent(r *state.Resource) []urn.URN {
	var urns []urn.URN
	bare := *r // AllDependencies names parent and provider too
	bare.Parent, bare.Provider = "", ""
	bare.AllDependencies(func(u urn.URN) { urns = append(urns, u) })
	return urns
}

// Needed describes what must stay because something that stays depends on it, in any way and over any number of steps;
// what depends on a component depends on all that the component is made of (E4.106, E4.122). The cost over all calls of
// add is linear.
type Needed struct {
	byURN    map[urn.URN][]*state.Resource
	children map[urn.URN][]*state.Resource
	Kept     map[urn.URN]bool
	whole    map[urn.URN]bool // components of which all descendants are kept
}

// NewNeeded prepares for resources in the order of the state.
func NewNeeded(resources []*state.Resource) *Needed {
	n := &Needed{byURN: make(map[urn.URN][]*state.Resource, len(resources)), children: map[urn.URN][]*state.Resource{},
		Kept: map[urn.URN]bool{}, whole: map[urn.URN]bool{}}
	for _, r := range resources {
		n.byURN[r.URN] = append(n.byURN[r.URN], r)
		if r.Parent != "" {
			n.children[r.Parent] = append(n.children[r.Parent], r)
		}
	}
	return n
}

// Add keeps everything that r depends on.
func (n *Needed) Add(r *state.Resource) {
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

// isComponent reports whether a URN names a component. The stack is none here: to depend on it is to depend on nothing.
func (n *Needed) isComponent(u urn.URN) bool {
	return slices.ContainsFunc(n.byURN[u], func(r *state.Resource) bool {
		return !r.Custom && r.ViewOf == "" && r.Type != urn.RootStackType
	})
}

// keepDescendants keeps everything below a resource.
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
