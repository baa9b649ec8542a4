// Package resources holds the resources of an operation: their prior and current states, and which of them are renamed.
// It makes no decisions and calls nothing else.
package resources

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Table holds the resources of an operation. It is safe for concurrent use: its mutex guards the parts, and the Priors
// and Registrations that it returns. Only this package locks the mutex, and never during a provider call or a wait.
//
// The parts are the prior resources (Priors), the registrations of this operation (registrations), the URNs of renamed
// resources (names), the effects of decisions on other resources (Marks), and the scope (Scope).
type Table struct {
	Scope Scope
	Marks Marks
	Prior *Priors

	stack, project string

	mu      sync.Mutex
	current registrations
	names   names
}

// NewTable returns the table of an operation on a stack. The journal IDs of base count from 1.
func NewTable(stack, project string, base []*state.Resource, scope *plan.Scope) *Table {
	ids := make([]journal.ID, len(base))
	for i := range ids {
		ids[i] = journal.ID(i + 1)
	}
	t := &Table{stack: stack, project: project, current: registrations{of: make(map[urn.URN]*Registration, len(base))},
		names: names{renamed: map[urn.URN]urn.URN{}, kept: map[urn.URN]urn.URN{}}}
	t.Prior = newPriors(t, base, ids)
	t.Scope = Scope{mu: &t.mu, of: scope}
	t.Marks = Marks{mu: &t.mu, prior: t.Prior, replaced: map[urn.URN]bool{}, deleting: map[urn.URN]bool{}}
	return t
}

// Conflict is the reason why a resource cannot be registered under a URN.
type Conflict struct {
	Code diag.Code
	Text string
}

// conflict returns the result of a refused claim.
func conflict(code diag.Code, format string, args ...any) (*Registration, *Conflict) {
	return nil, &Conflict{code, fmt.Sprintf(format, args...)}
}

// Claim registers a resource and finds its prior resource (E4.1–E4.4, E4.13–E4.20). The registration may exist already
// if the resource was retained; see Registration.Retained.
func (t *Table) Claim(g *plan.Goal) (*Registration, *Conflict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := urn.New(t.stack, t.project, g.Parent, g.Type, g.Name)
	if known, problem := t.current.free(u, g.Parent); known != nil || problem != nil {
		return known, problem
	}
	if successor, taken := t.names.renamed[u]; taken {
		return conflict(diag.DuplicateURN, "Duplicate resource alias '%s' applied to resource with URN '%s': "+
			"a resource with that name is registered as well; give one of them another name or remove the alias", u, successor)
	}
	if successor, taken := t.names.kept[u]; taken {
		return conflict(diag.DuplicateURN,
			"Duplicate resource URN '%s': the resource of that name becomes '%s', which the operation leaves "+
				"out; include it in the operation", u, successor)
	}
	reg := &Registration{URN: u, Goal: g, Parent: g.Parent, Done: make(chan struct{}), t: t}
	for _, candidate := range t.lineage().Candidates(u, g.Parent, g.Aliases) {
		old := t.Prior.byURN[candidate]
		if old == nil {
			continue
		}
		if candidate != u { // E4.15, even if the earlier registration has ended
			if other, taken := t.names.renamed[candidate]; taken {
				return conflict(diag.DuplicateURN, "Duplicate resource alias '%s' applied to resource with URN '%s' "+
					"conflicting with resource with URN '%s'; remove the alias from one of them", candidate, u, other)
			}
			if t.current.of[candidate] != nil {
				return conflict(diag.DuplicateURN, "Duplicate resource alias '%s' applied to resource with URN '%s': "+
					"that resource is registered as well; remove the alias or rename one of them", candidate, u)
			}
		}
		if old.now == nil {
			continue
		}
		if candidate != u {
			t.names.renamed[candidate] = u
		}
		old.claimed = true
		reg.Old = old
		break
	}
	t.current.track(reg)
	return reg, nil
}

// ClaimRead registers a resource that is read; only its own URN is matched with prior resources (E4.94).
func (t *Table) ClaimRead(goal *state.Resource) (*Registration, *Conflict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, problem := t.current.free(goal.URN, goal.Parent); known != nil || problem != nil {
		return known, problem
	}
	reg := &Registration{URN: goal.URN, Parent: goal.Parent, Done: make(chan struct{}), t: t,
		outcome: outcome{read: true}}
	if old := t.Prior.byURN[goal.URN]; old != nil && old.now != nil {
		old.claimed = true
		reg.Old = old
	}
	t.current.track(reg)
	return reg, nil
}

// Track registers a resource without a program.
func (t *Table) Track(goal *plan.Goal, u, parent urn.URN) *Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	reg := &Registration{URN: u, Parent: parent, Done: make(chan struct{}), Goal: goal, t: t}
	t.current.track(reg)
	return reg
}

// lineage returns the input of the search for former URNs. The caller holds mu.
func (t *Table) lineage() plan.Lineage {
	return plan.Lineage{Stack: t.stack, Project: t.project, Former: t.current.former}
}

// Aliases returns the URNs that the prior state may have for a resource, without its own (E4.13).
func (t *Table) Aliases(own, parent urn.URN, aliases []monitor.Alias) []urn.URN {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lineage().Candidates(own, parent, aliases)[1:]
}

// Former returns the prior URN of a renamed resource of this operation, and "" otherwise.
func (t *Table) Former(u urn.URN) urn.URN {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.former(u)
}

// Renamed returns resources with current URNs; see plan.Renamed.
func (t *Table) Renamed(resources []*state.Resource) []*state.Resource {
	t.mu.Lock()
	renamed := maps.Clone(t.names.renamed)
	t.mu.Unlock()
	return plan.Renamed(resources, renamed)
}

// Get returns a registration of this operation, or nil.
func (t *Table) Get(u urn.URN) *Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.of[u]
}

// Goal returns the goal of the resource registered with a URN, or nil.
func (t *Table) Goal(u urn.URN) *plan.Goal {
	if reg := t.Get(u); reg != nil {
		return reg.Goal
	}
	return nil
}

// Before returns the prior state of a registered resource, nil for a new one.
func (t *Table) Before(u urn.URN) *state.Resource {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.current.of[u]; r != nil {
		return r.Old.Resource()
	}
	return nil
}

// Root returns the registration of the stack, or nil.
func (t *Table) Root() *Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.root
}

// Transforms returns the transforms of a resource and its ancestors, from the resource upwards (E2.18).
func (t *Table) Transforms(u urn.URN) []monitor.Transform {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []monitor.Transform
	for reg := t.current.of[u]; reg != nil; reg = t.current.of[reg.Parent] {
		if reg.Goal != nil {
			all = append(all, reg.Goal.Own...)
		}
	}
	return all
}

// Known reports whether a URN is the current or former URN of a resource in the prior state or this operation.
func (t *Table) Known(u urn.URN) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.of[u] != nil || t.Prior.byURN[u] != nil || t.names.renamed[u] != ""
}

// Some reports whether any URN that is Known satisfies a condition.
func (t *Table) Some(condition func(urn.URN) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for u := range t.current.of {
		if condition(u) {
			return true
		}
	}
	for u := range t.Prior.byURN {
		if condition(u) {
			return true
		}
	}
	for u := range t.names.renamed {
		if condition(u) {
			return true
		}
	}
	return false
}

// OwnerLeft reports whether a resource belongs to an old object of its owner (deletedWith) that an earlier operation
// replaced and did not delete yet. The resource must then be replaced before the old object can be deleted, as the
// earlier operation would have done (E4.41).
func (t *Table) OwnerLeft(old, goal *state.Resource) bool {
	if old.DeletedWith == "" {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	left := slices.ContainsFunc(t.Prior.left[old.DeletedWith], func(e *Prior) bool { return e.now != nil })
	if !left || t.names.now(old.DeletedWith) != t.names.now(goal.DeletedWith) {
		return false
	}
	return plan.GoesWithEarlier(old, t.Prior.byURN[old.DeletedWith].Resource())
}

// Scope is plan.Scope guarded by the table's mutex. It is part of a Table and safe for concurrent use.
type Scope struct {
	mu *sync.Mutex // the table's
	of *plan.Scope
}

// Admit reports whether a registered resource is in scope; see plan.Scope.Admits.
func (s *Scope) Admit(goal *state.Resource, known ...urn.URN) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.Admits(goal, known...)
}

// LeftOf returns why a resource that is not registered, or not yet, is out of scope; see plan.Scope.
func (s *Scope) LeftOf(u urn.URN) plan.Left {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.LeftOf(u)
}

// Skipped reports whether an untargeted resource is not created or keeps its former URN; see plan.Scope.Skip.
func (s *Scope) Skipped(u urn.URN) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.Skipped(u)
}

// Missing returns the skipped dependencies of a goal in ascending order (E4.102).
func (s *Scope) Missing(goal *state.Resource) []urn.URN {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.Missing(goal)
}

// WithoutSkipped removes references to skipped resources from a goal; see plan.Scope.WithoutSkipped.
func (s *Scope) WithoutSkipped(goal *state.Resource, dryRun bool) (known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.WithoutSkipped(goal, dryRun)
}

// Refreshes returns a predicate for the resources that a refresh reads; resources are in the order of the state. It
// must not be called while a program runs. See plan.Scope.Refreshes.
func (s *Scope) Refreshes(resources []*state.Resource) func(*state.Resource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.Refreshes(resources)
}
