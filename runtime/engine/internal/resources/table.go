// Package resources keeps what an operation knows of resources: as the state had them, as they are now, and which of
// them have another name. It decides nothing and calls nobody.
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

// Table holds the resources of an operation. It is safe for concurrent use: one mutex guards everything that its
// parts, and the Priors and Registrations that it gives out, say it does. Nobody outside of this package takes it, and
// nobody calls a provider or waits while holding it.
//
// The parts are: what the state had (Priors), what this operation has registered (registrations), which of the former
// goes by another name in the latter (names), what decisions do to others (Marks), and what is left out (Scope).
type Table struct {
	Scope Scope
	Marks Marks
	Prior *Priors

	stack, project string

	mu      sync.Mutex
	current registrations
	names   names
}

// NewTable makes the table of an operation on a stack. The IDs of resources in the journal count from 1.
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

// Conflict describes why a resource cannot be registered under a name.
type Conflict struct {
	Code diag.Code
	Text string
}

// conflict makes the answer of a claim that is refused.
func conflict(code diag.Code, format string, args ...any) (*Registration, *Conflict) {
	return nil, &Conflict{code, fmt.Sprintf(format, args...)}
}

// Claim names a resource and finds what it was before (E4.1–E4.4, E4.13–E4.20). The registration may be one that is
// retained already; see Registration.Retained.
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
		if candidate != u { // E4.15, also when the one who was first is done already
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

// ClaimRead names a resource that is read; its old state is found under its own URN only (E4.94).
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

// Track adds a resource that no program registers.
func (t *Table) Track(goal *plan.Goal, u, parent urn.URN) *Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	reg := &Registration{URN: u, Parent: parent, Done: make(chan struct{}), Goal: goal, t: t}
	t.current.track(reg)
	return reg
}

// lineage returns what finds former names. The caller holds mu.
func (t *Table) lineage() plan.Lineage {
	return plan.Lineage{Stack: t.stack, Project: t.project, Former: t.current.former}
}

// Aliases returns the URNs under which a resource may be known from before, without its own (E4.13).
func (t *Table) Aliases(own, parent urn.URN, aliases []monitor.Alias) []urn.URN {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lineage().Candidates(own, parent, aliases)[1:]
}

// Former returns the URN under which a resource of this operation was found, empty when that is its own.
func (t *Table) Former(u urn.URN) urn.URN {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.former(u)
}

// Renamed returns resources with every name as it is now; see plan.Renamed.
func (t *Table) Renamed(resources []*state.Resource) []*state.Resource {
	t.mu.Lock()
	renamed := maps.Clone(t.names.renamed)
	t.mu.Unlock()
	return plan.Renamed(resources, renamed)
}

// Get returns a resource of this operation, nil if there is none.
func (t *Table) Get(u urn.URN) *Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.of[u]
}

// Goal returns what the program asked for, nil where no resource of that URN was registered.
func (t *Table) Goal(u urn.URN) *plan.Goal {
	if reg := t.Get(u); reg != nil {
		return reg.Goal
	}
	return nil
}

// Before returns what a resource of this operation was before, nil for a new one.
func (t *Table) Before(u urn.URN) *state.Resource {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.current.of[u]; r != nil {
		return r.Old.Resource()
	}
	return nil
}

// Root returns the registration of the stack, nil if there is none.
func (t *Table) Root() *Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.root
}

// Transforms returns the transforms of a resource and its ancestors, from itself upwards (E2.18).
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

// Known reports whether a URN names something of the state or of this operation, under its present or its former name.
func (t *Table) Known(u urn.URN) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.of[u] != nil || t.Prior.byURN[u] != nil || t.names.renamed[u] != ""
}

// OwnerLeft reports whether a resource goes with an owner (deletedWith) that an earlier operation has replaced and not
// deleted yet. Then it has to be replaced before the old owner can be deleted, as the operation that replaced the owner
// would have done (E4.41).
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

// Scope is the part of the stack that the operation may change, and the resources that it left out. It is the part of a
// Table and safe for concurrent use.
type Scope struct {
	mu *sync.Mutex // the table's
	of *plan.Scope
}

// Admit decides whether a resource that is registered is in scope; see plan.Scope.Admits.
func (s *Scope) Admit(goal *state.Resource, known ...urn.URN) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.Admits(goal, known...)
}

// Skipped reports whether a resource is not created because it is out of scope, or keeps its former name for that.
func (s *Scope) Skipped(u urn.URN) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.Skipped(u)
}

// Missing returns the resources on which a goal depends and that are skipped, ascending (E4.102).
func (s *Scope) Missing(goal *state.Resource) []urn.URN {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.Missing(goal)
}

// WithoutSkipped takes out of a goal what is skipped; see plan.Scope.WithoutSkipped.
func (s *Scope) WithoutSkipped(goal *state.Resource, dryRun bool) (known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.WithoutSkipped(goal, dryRun)
}

// Refreshes returns a predicate for the resources, given in the order of the state, that a refresh reads; see
// plan.Scope.Refreshes. It must not be called while a program runs.
func (s *Scope) Refreshes(resources []*state.Resource) func(*state.Resource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of.Refreshes(resources)
}
