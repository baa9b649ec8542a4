// Package statetest makes resources for tests of code that works on states.
package statetest

import (
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// URN returns the URN of a resource of type test:index:Res in the stack dev of the project p.
func URN(name string) urn.URN { return urn.New("dev", "p", "", "test:index:Res", name) }

// Resource returns a custom resource with its name as its ID, changed by edits.
func Resource(name string, edits ...func(*state.Resource)) *state.Resource {
	r := &state.Resource{URN: URN(name), Type: "test:index:Res", Custom: true, ID: name}
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// On returns an edit for Resource that adds dependencies.
func On(names ...string) func(*state.Resource) {
	return func(r *state.Resource) {
		for _, name := range names {
			r.Dependencies = append(r.Dependencies, URN(name))
		}
	}
}
