package plan

import (
	"slices"

	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Rebuild is the state after a refresh: each old resource with what was read of it, nil for one that is gone, and
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

// Pruned is r without references to what is gone; r itself when it has none.
func Pruned(r *state.Resource, gone func(urn.URN) bool) *state.Resource {
	dangling := r.Parent != "" && gone(r.Parent) || r.DeletedWith != "" && gone(r.DeletedWith) ||
		slices.ContainsFunc(r.Dependencies, gone) || slices.ContainsFunc(r.ReplaceWith, gone)
	for _, deps := range r.PropertyDependencies {
		dangling = dangling || slices.ContainsFunc(deps, gone)
	}
	if !dangling {
		return r
	}
	left := func(urns []urn.URN) []urn.URN {
		if !slices.ContainsFunc(urns, gone) {
			return urns
		}
		return slices.DeleteFunc(slices.Clone(urns), gone)
	}
	next := r.Clone()
	if gone(r.Parent) {
		next.Parent = ""
	}
	if gone(r.DeletedWith) {
		next.DeletedWith = ""
	}
	next.Dependencies, next.ReplaceWith = left(r.Dependencies), left(r.ReplaceWith)
	if len(r.PropertyDependencies) > 0 {
		next.PropertyDependencies = make(map[string][]urn.URN, len(r.PropertyDependencies))
		for key, deps := range r.PropertyDependencies {
			if kept := left(deps); len(kept) > 0 || len(deps) == 0 {
				next.PropertyDependencies[key] = kept // E6.37
			}
		}
	}
	return next
}
