package resources

import (
	"sync"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/state"
)

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
