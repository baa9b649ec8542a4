package resources

import (
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Admit decides whether a resource that is registered is in scope; see plan.Scope.Admits.
func (t *Table) Admit(goal *state.Resource, known ...urn.URN) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.scope.Admits(goal, known...)
}

// Skipped reports whether a resource is not created because it is out of scope, or keeps its former name for that.
func (t *Table) Skipped(u urn.URN) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.scope.Skipped(u)
}

// Missing are the resources on which a goal depends and that are skipped, ascending (E4.102).
func (t *Table) Missing(goal *state.Resource) []urn.URN {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.scope.Missing(goal)
}

// WithoutSkipped takes out of a goal what is skipped; see plan.Scope.WithoutSkipped.
func (t *Table) WithoutSkipped(goal *state.Resource, dryRun bool) (known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.scope.WithoutSkipped(goal, dryRun)
}

// KeepName takes note that a registered resource goes on under the name that it had: nothing in scope can depend on it
// under its new one (E4.102).
func (t *Table) KeepName(reg *Registration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := reg.Old.resource.URN
	delete(t.renamed, was)
	t.keptNames[was] = reg.URN
	t.scope.Skip(reg.URN)
}

// Refreshes says which of the resources, given in the order of the state, a refresh reads; see plan.Scope.Refreshes. It
// must not be called while a program runs.
func (t *Table) Refreshes(resources []*state.Resource) func(*state.Resource) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.scope.Refreshes(resources)
}
