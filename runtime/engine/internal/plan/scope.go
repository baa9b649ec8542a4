package plan

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// ScopeOptions select the resources of an operation (4.13).
type ScopeOptions struct {
	Targets, Excludes, Replace          []string
	TargetDependents, ExcludeDependents bool
	ExcludeProtected                    bool
	Base                                []*state.Resource
}

// Scope is the part of a stack that targets and excludes select (4.13). Admits extends it with registered resources. It
// is not safe for concurrent use; Targets, Excludes and Replaces are immutable.
type Scope struct {
	Targets, Excludes, Replaces Patterns
	TargetDependents            bool
	excludeDependents           bool

	actual map[urn.URN]bool // in scope: targeted, or dependant of a resource in scope (E4.99)
	left   map[urn.URN]bool // out of scope: excluded, or dependant of an excluded resource (E4.106)
	// skipped are untargeted resources that are not created (E4.29).
	skipped map[urn.URN]bool
	// dependents are the targets and their dependants in the state, if TargetDependents is set.
	dependents map[urn.URN]bool
}

// NewScope parses the options. With ExcludeProtected, it excludes the protected resources of the base (E4.78).
func NewScope(o ScopeOptions) (*Scope, error) {
	s := &Scope{TargetDependents: o.TargetDependents, excludeDependents: o.ExcludeDependents,
		actual: map[urn.URN]bool{}, left: map[urn.URN]bool{}, skipped: map[urn.URN]bool{}}
	excludes := o.Excludes
	if o.ExcludeProtected {
		excludes = slices.Clone(excludes)
		for _, r := range o.Base {
			if r.Protect {
				excludes = append(excludes, string(r.URN))
			}
		}
	}
	for _, list := range []struct {
		texts []string
		dst   *Patterns
	}{{o.Targets, &s.Targets}, {excludes, &s.Excludes}, {o.Replace, &s.Replaces}} {
		var err error
		if *list.dst, err = NewPatterns(list.texts, o.Base); err != nil {
			return nil, err
		}
	}
	if s.TargetDependents {
		s.dependents = closure(o.Base, s.Targets.Match, true)
	}
	return s, nil
}

// Skip records that a resource is not created, or keeps its former URN, because it is untargeted.
func (s *Scope) Skip(u urn.URN) { s.skipped[u] = true }

// Skipped reports whether Skip was called for a resource.
func (s *Scope) Skipped(u urn.URN) bool { return s.skipped[u] }

// Missing returns the skipped resources (see Skip) that r depends on, in ascending order (E4.102).
func (s *Scope) Missing(r *state.Resource) []urn.URN {
	var missing []urn.URN
	r.AllDependencies(func(u urn.URN) {
		if s.skipped[u] && !slices.Contains(missing, u) {
			missing = append(missing, u)
		}
	})
	slices.Sort(missing)
	return missing
}

// WithoutSkipped removes references to skipped resources from a goal: the program of a refresh or a destroy does not
// create them. known reports whether all remaining values are known, so that the goal can be reached.
func (s *Scope) WithoutSkipped(g *state.Resource, dryRun bool) (known bool) {
	known = !s.skipped[g.Parent] && !g.Inputs.ContainsUnknown()
	*g = *g.MapURNs(func(ref state.Ref) urn.URN {
		if ref.Kind == state.RefProvider || ref.Kind == state.RefParent || !s.skipped[ref.URN] {
			return ref.URN
		}
		return ""
	})
	return known || dryRun && !s.skipped[g.Parent]
}

// Restricts reports whether there are targets or excludes.
func (s *Scope) Restricts() bool { return !s.Targets.Empty() || !s.Excludes.Empty() }

// Left returns why resources may be out of scope; empty if the scope is everything.
func (s *Scope) Left() Left {
	switch {
	case !s.Targets.Empty():
		return NotTargeted
	case !s.Excludes.Empty():
		return Excluded
	}
	return ""
}

// names reports whether one of the URNs matches a target or, without targets, whether none of them matches an exclude
// (E4.107).
func (s *Scope) names(urns ...urn.URN) bool {
	if !s.Targets.Empty() {
		return slices.ContainsFunc(urns, s.Targets.Match)
	}
	return !slices.ContainsFunc(urns, s.Excludes.Match)
}

// LeftOf returns why a resource that is not registered, or not yet, is out of scope. It is empty for one in scope,
// which stays perhaps because one out of scope needs it.
func (s *Scope) LeftOf(u urn.URN) Left {
	if s.names(u) && !s.left[u] || s.dependents[u] {
		return ""
	}
	return s.Left()
}

// Admits reports whether a registered resource is in scope (E4.99–E4.101, E4.106), and records that for its dependants.
// known are its URN and its former one, if any. Dependencies are registered first, so their scope is known. Providers
// and the stack are always admitted, because other resources need them, but their dependants are not in scope for that
// reason.
func (s *Scope) Admits(r *state.Resource, known ...urn.URN) bool {
	if !s.Restricts() {
		return true
	}
	inside := s.names(known...)
	switch {
	case !s.Targets.Empty() && !inside && s.TargetDependents:
		inside = DependsOnAny(r, s.actual) || slices.ContainsFunc(known,
			func(u urn.URN) bool { return s.dependents[u] })
	case s.Targets.Empty() && inside && s.excludeDependents:
		inside = !DependsOnAny(r, s.left)
	}
	if inside {
		s.actual[r.URN] = true
	} else {
		s.left[r.URN] = true
	}
	return inside || r.IsProvider() || r.Type == urn.RootStackType
}

// Refreshes returns a predicate for the resources that a refresh without a program reads (E7.25). resources are in the
// order of the state.
func (s *Scope) Refreshes(resources []*state.Resource) func(*state.Resource) bool {
	if !s.Restricts() {
		return func(*state.Resource) bool { return true }
	}
	chosen := map[urn.URN]bool{}
	for _, r := range resources {
		if !s.Targets.Empty() {
			chosen[r.URN] = chosen[r.URN] || s.names(r.URN) || s.TargetDependents && DependsOnAny(r, chosen)
		} else if !s.names(r.URN) || s.excludeDependents && DependsOnAny(r, s.left) {
			s.left[r.URN] = true
		}
	}
	if s.Targets.Empty() {
		return func(r *state.Resource) bool { return !s.left[r.URN] }
	}
	return func(r *state.Resource) bool { return chosen[r.URN] }
}

// Deletes returns a predicate for the resources that may be deleted; resources are in the order of the state. With
// targets, these are the targets and their dependants; with excludes, all but the excluded and their dependencies
// (E4.105, E4.106).
func (s *Scope) Deletes(resources []*state.Resource) func(*state.Resource) bool {
	switch {
	case !s.Restricts():
		return func(*state.Resource) bool { return true }
	case !s.Targets.Empty():
		deleted := closure(resources, s.Targets.Match, true)
		return func(r *state.Resource) bool { return deleted[r.URN] }
	}
	excluded, keep := closure(resources, s.Excludes.Match, s.excludeDependents), NewNeeded(resources)
	for _, r := range resources {
		if excluded[r.URN] {
			s.left[r.URN] = true
			keep.Add(r)
		}
	}
	return func(r *state.Resource) bool { return !excluded[r.URN] && !keep.Kept[r.URN] }
}

// closure returns the URNs that match and, if dependents is set, the URNs of all that depend on them. A replacement
// can leave a second resource with the same URN that is pending delete. If one of the two is in the closure, both
// are, so the resources between them are examined once more.
func closure(resources []*state.Resource, match func(urn.URN) bool, dependents bool) map[urn.URN]bool {
	inside := map[urn.URN]bool{}
	for more := true; more; { // a second pass is needed only for duplicate URNs
		more = false
		for _, r := range resources {
			if !inside[r.URN] && (match(r.URN) || dependents && DependsOnAny(r, inside)) {
				inside[r.URN], more = true, dependents
			}
		}
	}
	return inside
}

// DependsOnAny reports whether r depends on a member of set in any way (E1.47).
func DependsOnAny(r *state.Resource, set map[urn.URN]bool) bool {
	found := false
	r.AllDependencies(func(u urn.URN) { found = found || set[u] })
	return found
}

// Missing returns the exact URNs that are not present.
func (p Patterns) Missing(present func(urn.URN) bool) []urn.URN {
	return slices.DeleteFunc(slices.Clone(p.Exact), present)
}

// Unmatched returns the globs and names that match no URN, as they were written. some reports whether any URN satisfies
// a condition.
func (p Patterns) Unmatched(some func(condition func(urn.URN) bool) bool) []string {
	var unmatched []string
	for _, g := range p.globs {
		if !some(g.Match) {
			unmatched = append(unmatched, g.Text)
		}
	}
	return unmatched
}

// Patterns are URNs, names of resources, and globs of URNs (E4.98).
type Patterns struct {
	Exact []urn.URN
	set   map[urn.URN]bool
	globs []urn.Pattern // and names
}

// NewPatterns parses URNs, names and globs, and ignores duplicates. A name must not be that of two resources of base.
func NewPatterns(texts []string, base []*state.Resource) (Patterns, error) {
	p := Patterns{set: map[urn.URN]bool{}}
	for _, text := range texts {
		one, err := urn.ParsePattern(text)
		if err != nil {
			return p, err
		}
		switch u := one.Exact(); {
		case u == "":
			all := make([]urn.URN, len(base))
			for i, r := range base {
				all[i] = r.URN
			}
			if _, err := one.Select(all); err != nil {
				return p, err
			}
			p.globs = append(p.globs, one)
		case !p.set[u]:
			p.set[u] = true
			p.Exact = append(p.Exact, u)
		}
	}
	return p, nil
}

// Empty reports whether p contains neither a URN nor a glob.
func (p Patterns) Empty() bool { return len(p.Exact)+len(p.globs) == 0 }

// Match reports whether u equals a URN or matches a glob of p.
func (p Patterns) Match(u urn.URN) bool {
	return p.set[u] || slices.ContainsFunc(p.globs, func(g urn.Pattern) bool { return g.Match(u) })
}
