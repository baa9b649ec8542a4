package resources

import (
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
)

// Marks are the effects of decisions of this operation on other resources: later decisions
// look here. They are a part of a Table and safe for concurrent use.
type Marks struct {
	mu       *sync.Mutex // the table's
	prior    *Priors
	replaced map[urn.URN]bool // what was replaced in this operation
	// deleting are the URNs whose present resource is deleted in this operation; what only an earlier replacement has
	// left behind is not meant, for nobody can tell what else goes with it (E4.80).
	deleting map[urn.URN]bool
}

// Replaced returns those of urns whose resources this operation has replaced.
func (m *Marks) Replaced(urns ...urn.URN) []urn.URN {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(urns), func(u urn.URN) bool { return !m.replaced[u] })
}

// Deleting reports whether the present resource of a URN is deleted in this operation, and before its deletion is due.
func (m *Marks) Deleting(u urn.URN) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deleting[u]
}

// Mark notes what steps are going to do, so that later decisions take it into account. claimed is the prior resource of
// the registration that takes them, nil for a new one. Anyone who decides must not be interrupted by other decisions.
func (m *Marks) Mark(claimed *Prior, steps []plan.Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if claimed != nil {
		claimed.decided = true
	}
	for i := range steps {
		switch step := &steps[i]; step.Op { // under both names: others may use the present or the former one
		case plan.OpReplace:
			m.replaced[step.URN] = true
			m.replaced[step.Old.URN] = true
		case plan.OpDelete, plan.OpDeleteReplaced:
			if !step.Old.Delete {
				m.deleting[step.URN] = true
				m.deleting[step.Old.URN] = true
			}
			if e := m.prior.of[step.Old]; e != nil && e != claimed {
				e.cascade = &Cascaded{Dependent: plan.Dependent{Resource: step.Old, Keys: step.Keys, Reason: step.Reason},
					Done: make(chan struct{})}
				m.replaced[step.URN] = true
			}
		}
	}
}

// MarkDeleting notes that the present resources of URNs are deleted.
func (m *Marks) MarkDeleting(urns []urn.URN) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range urns {
		m.deleting[u] = true
	}
}

// EndCascades releases those who wait for the deletions among steps, whether these succeeded or not.
// Without it, registrations that wait for them would do so until the operation ends.
func (m *Marks) EndCascades(steps []plan.Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range steps {
		if steps[i].Old == nil || steps[i].New != nil {
			continue
		}
		if e := m.prior.of[steps[i].Old]; e != nil && e.cascade != nil && e.cascade.Resource == steps[i].Old {
			e.cascade.Deleted = e.now == nil || e.now.PendingReplacement
			close(e.cascade.Done)
		}
	}
}
