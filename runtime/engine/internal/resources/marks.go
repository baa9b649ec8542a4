package resources

import (
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
)

// Marks records the effects of decisions on other resources, for later decisions. It is part of a Table and safe for
// concurrent use.
type Marks struct {
	mu       *sync.Mutex // the table's
	prior    *Priors
	replaced map[urn.URN]bool // resources replaced in this operation
	// deleting are the URNs whose current resource is deleted in this operation. Owners pending delete do not count,
	// because the state does not record which resources belong to them (E4.80).
	deleting map[urn.URN]bool
}

// Replaced returns the members of urns that this operation has replaced.
func (m *Marks) Replaced(urns ...urn.URN) []urn.URN {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(urns), func(u urn.URN) bool { return !m.replaced[u] })
}

// Deleting reports whether the current resource of a URN is deleted or is going to be deleted in this operation.
func (m *Marks) Deleting(u urn.URN) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deleting[u]
}

// Mark records the effects of planned steps for later decisions. claimed is the prior resource of their registration,
// nil for a new one. The caller must exclude concurrent decisions.
func (m *Marks) Mark(claimed *Prior, steps []plan.Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if claimed != nil {
		claimed.decided = true
	}
	for i := range steps {
		switch step := &steps[i]; step.Op { // under both URNs: others may use the current or the former one
		case plan.OpReplace:
			m.replaced[step.URN] = true
			m.replaced[step.Old.URN] = true
		case plan.OpDelete, plan.OpDeleteReplaced:
			if !step.Old.Delete {
				m.deleting[step.URN] = true
				m.deleting[step.Old.URN] = true
			}
			if e := m.prior.of[step.Old]; e != nil && e != claimed {
				e.cascade = &Cascaded{Dependent: plan.Dependent{Resource: step.Old, Keys: step.Keys,
					Reason: step.Reason}, Done: make(chan struct{})}
				m.replaced[step.URN] = true
			}
		}
	}
}

// MarkDeleting records that the current resources of urns are deleted.
func (m *Marks) MarkDeleting(urns []urn.URN) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range urns {
		m.deleting[u] = true
	}
}

// EndCascades ends the waiting for the deletions among steps, whether these succeeded or not. Without it, dependent
// registrations would wait until the operation ends.
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
