// Package resources keeps what an operation knows of resources: as the state had them, as they are now, and which of
// them have another name. It decides nothing and calls nobody.
package resources

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Table is what an operation knows of resources. It is safe for concurrent use.
type Table struct {
	stack, project string

	mu        sync.Mutex // guards everything below, and all that Prior and Registration say it does
	priors    *priors
	current   map[urn.URN]*Registration
	root      *Registration       // the stack
	renamed   map[urn.URN]urn.URN // URNs claimed through an alias, to the URN that claimed them
	keptNames map[urn.URN]urn.URN // the same where the resource keeps its name in this operation
	scope     *plan.Scope
	replaced  map[urn.URN]bool // what was replaced in this operation
	// deleting are the URNs whose present resource is deleted in this operation; what only an earlier replacement has left
	// behind is not meant, for nobody can tell what else goes with it (E4.80).
	deleting map[urn.URN]bool
}

// NewTable makes the table of an operation on a stack. The IDs of resources in the journal count from 1.
func NewTable(stack, project string, base []*state.Resource, scope *plan.Scope) *Table {
	ids := make([]journal.ID, len(base))
	for i := range ids {
		ids[i] = journal.ID(i + 1)
	}
	return &Table{
		stack: stack, project: project, priors: newPriors(base, ids), scope: scope,
		current: make(map[urn.URN]*Registration, len(base)), renamed: map[urn.URN]urn.URN{}, keptNames: map[urn.URN]urn.URN{},
		replaced: map[urn.URN]bool{}, deleting: map[urn.URN]bool{},
	}
}

// Conflict says why a resource cannot be registered under a name.
type Conflict struct {
	Code diag.Code
	Text string
}

func conflict(code diag.Code, format string, args ...any) (*Registration, *Conflict) {
	return nil, &Conflict{code, fmt.Sprintf(format, args...)}
}

// Claim names a resource and finds what it was before (E4.1–E4.4, E4.13–E4.20). The registration may be one that is
// retained already; see Registration.Retained.
func (t *Table) Claim(g *plan.Goal) (*Registration, *Conflict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := urn.New(t.stack, t.project, g.Parent, g.Type, g.Name)
	if known, problem := t.free(u, g.Parent); known != nil || problem != nil {
		return known, problem
	}
	if by, taken := t.renamed[u]; taken {
		return conflict(diag.DuplicateURN, "Duplicate resource alias '%s' applied to resource with URN '%s': "+
			"a resource with that name is registered as well; give one of them another name or remove the alias", u, by)
	}
	if by, taken := t.keptNames[u]; taken {
		return conflict(diag.DuplicateURN,
			"Duplicate resource URN '%s': the resource of that name becomes '%s', which the operation "+
				"leaves out; include that too", u, by)
	}
	reg := &Registration{URN: u, Goal: g, Parent: g.Parent, Done: make(chan struct{}), t: t}
	for _, candidate := range t.lineage().Candidates(u, g.Parent, g.Aliases) {
		old := t.priors.byURN[candidate]
		if old == nil {
			continue
		}
		if candidate != u { // E4.15, also when the one who was first is done already
			if other, taken := t.renamed[candidate]; taken {
				return conflict(diag.DuplicateURN, "Duplicate resource alias '%s' applied to resource with URN '%s' "+
					"conflicting with resource with URN '%s'; remove the alias from one of them", candidate, u, other)
			}
			if t.current[candidate] != nil {
				return conflict(diag.DuplicateURN, "Duplicate resource alias '%s' applied to resource with URN '%s': "+
					"that resource is registered as well; remove the alias or rename one of them", candidate, u)
			}
		}
		if old.now == nil {
			continue
		}
		if candidate != u {
			t.renamed[candidate] = u
		}
		old.claimed = true
		reg.Old = old
		break
	}
	t.track(reg)
	return reg, nil
}

// ClaimRead names a resource that is read; its old state is found under its own URN only (E4.94).
func (t *Table) ClaimRead(goal *state.Resource) (*Registration, *Conflict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, problem := t.free(goal.URN, goal.Parent); known != nil || problem != nil {
		return known, problem
	}
	reg := &Registration{URN: goal.URN, Parent: goal.Parent, read: true, Done: make(chan struct{}), t: t}
	if old := t.priors.byURN[goal.URN]; old != nil && old.now != nil {
		old.claimed = true
		reg.Old = old
	}
	t.track(reg)
	return reg, nil
}

// free finds out whether a URN can be registered below a parent; known is a registration that is retained under it. The
// caller holds mu.
func (t *Table) free(u, parent urn.URN) (known *Registration, problem *Conflict) {
	if parent != "" && t.current[parent] == nil {
		return conflict(diag.OperationFailed, "could not find parent resource %s", parent)
	}
	if r := t.current[u]; r != nil && r.retained {
		return r, nil
	}
	if t.current[u] != nil {
		return conflict(diag.DuplicateURN, "Duplicate resource URN '%s'; try giving it a unique name", u)
	}
	return nil, nil
}

// Track adds a resource that no program registers.
func (t *Table) Track(goal *plan.Goal, u, parent urn.URN) *Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	reg := &Registration{URN: u, Parent: parent, Done: make(chan struct{}), Goal: goal, t: t}
	t.track(reg)
	return reg
}

// track adds a resource to those of this operation. The caller holds mu.
func (t *Table) track(reg *Registration) {
	t.current[reg.URN] = reg
	if p := t.current[reg.Parent]; p != nil {
		p.children = append(p.children, reg.URN)
	}
	if reg.Goal != nil && reg.Parent == "" && reg.Goal.Type == urn.RootStackType {
		t.root = reg
	}
}

func (t *Table) lineage() plan.Lineage {
	return plan.Lineage{Stack: t.stack, Project: t.project, Former: t.former}
}

// Aliases returns the URNs under which a resource may be known from before, without its own (E4.13).
func (t *Table) Aliases(own, parent urn.URN, aliases []monitor.Alias) []urn.URN {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lineage().Candidates(own, parent, aliases)[1:]
}

// former is the URN under which a resource of this operation was found, empty when that is its own.
func (t *Table) former(u urn.URN) urn.URN {
	if r := t.current[u]; r != nil && r.Old != nil && r.Old.resource.URN != u {
		return r.Old.resource.URN
	} else if r != nil {
		return r.former
	}
	return ""
}

// Former returns the URN under which a resource of this operation was found, empty when that is its own.
func (t *Table) Former(u urn.URN) urn.URN {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.former(u)
}

// nameOf is what a resource of the state is called now. The caller holds mu.
func (t *Table) nameOf(u urn.URN) urn.URN {
	if now, ok := t.renamed[u]; ok {
		return now
	}
	return u
}

// Renamed returns resources with every name as it is now; see plan.Renamed.
func (t *Table) Renamed(resources []*state.Resource) []*state.Resource {
	t.mu.Lock()
	names := maps.Clone(t.renamed)
	t.mu.Unlock()
	return plan.Renamed(resources, names)
}

// Get returns a resource of this operation, nil if there is none.
func (t *Table) Get(u urn.URN) *Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current[u]
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
	if r := t.current[u]; r != nil {
		return r.Old.Resource()
	}
	return nil
}

// Root returns the registration of the stack, nil if there is none.
func (t *Table) Root() *Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.root
}

// Transforms returns the transforms of a resource and its ancestors, from itself upwards (E2.18).
func (t *Table) Transforms(u urn.URN) []monitor.Transform {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []monitor.Transform
	for reg := t.current[u]; reg != nil; reg = t.current[reg.Parent] {
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
	return t.current[u] != nil || t.priors.byURN[u] != nil || t.renamed[u] != ""
}

// Replaced returns those of the URNs that name what was replaced in this operation.
func (t *Table) Replaced(urns ...urn.URN) []urn.URN {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(urns), func(u urn.URN) bool { return !t.replaced[u] })
}

// Deleting reports whether the present resource of a URN is deleted in this operation, and before its deletion is due.
func (t *Table) Deleting(u urn.URN) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deleting[u]
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
	left := func(e *Prior) bool { return e.now != nil }
	if t.nameOf(old.DeletedWith) != t.nameOf(goal.DeletedWith) || !slices.ContainsFunc(t.priors.left[old.DeletedWith],
		left) {
		return false
	}
	return plan.GoesWithEarlier(old, t.priors.byURN[old.DeletedWith].Resource())
}

// Mark notes what steps are going to do, so that later decisions take it into account. claimed is the prior resource of
// the registration that takes them, nil for a new one. Anyone who decides must not be interrupted by other decisions.
func (t *Table) Mark(claimed *Prior, steps []plan.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if claimed != nil {
		claimed.decided = true
	}
	for i := range steps {
		switch step := &steps[i]; step.Op {
		case plan.OpReplace:
			t.replaced[step.URN] = true
			t.replaced[step.Old.URN] = true
		case plan.OpDelete, plan.OpDeleteReplaced:
			if !step.Old.Delete {
				t.deleting[step.URN] = true
				t.deleting[step.Old.URN] = true
			}
			if e := t.priors.of[step.Old]; e != nil && e != claimed {
				e.cascade = &Cascaded{Dependent: plan.Dependent{Resource: step.Old, Keys: step.Keys, Reason: step.Reason},
					Done: make(chan struct{})}
				t.replaced[step.URN] = true
			}
		}
	}
}

// MarkDeleting notes that the present resources of URNs are deleted.
func (t *Table) MarkDeleting(urns []urn.URN) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range urns {
		t.deleting[u] = true
	}
}

// EndCascades tells those who wait for the deletions among some steps that they are over.
func (t *Table) EndCascades(steps []plan.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range steps {
		if steps[i].Old == nil || steps[i].New != nil {
			continue
		}
		if e := t.priors.of[steps[i].Old]; e != nil && e.cascade != nil && e.cascade.Resource == steps[i].Old {
			e.cascade.deleted = e.now == nil || e.now.PendingReplacement
			close(e.cascade.Done)
		}
	}
}
