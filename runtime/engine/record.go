package engine

import (
	"cmp"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/slots"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// record is the working data of one registration between its goal and its steps. The registrar, the examiner and the
// decider fill it in, in this order. It belongs to the goroutine that handles the registration.
type record struct {
	reg     *resources.Registration
	inputs  value.Value      // the program's inputs
	desired *state.Resource  // the goal state; the examiner sets its checked inputs
	slot    *slots.Slot      // the right to call providers
	old     *resources.Prior // the prior or imported resource
	before  *state.Resource  // replaces old for a resource that was retained because another one needs it
	seed    []byte           // of its automatic names (E7.66)

	provider provider.Configured // nil for a component
	imported bool                // old was imported by this operation
	stepped  bool                // a step or a read of it has failed, which is reported
	deleted  *plan.Dependent     // set if old was deleted by the replacement of another resource
	diff     plan.Diff
	// recreated is the prior resource that a read found missing; the new resource takes its position in the state.
	recreated *resources.Prior
}

// oldState returns the prior state, or nil for a new resource.
func (r *record) oldState() *state.Resource {
	return cmp.Or(r.before, r.old.Resource())
}

// urns returns the URNs by which a scope may name the resource: the current one and the one in the prior state.
func (r *record) urns() []urn.URN {
	known := []urn.URN{r.reg.URN}
	if old := r.oldState(); old != nil && old.URN != r.reg.URN {
		known = append(known, old.URN)
	}
	return known
}

// message sets the URN and the position of m to those of the resource.
func (r *record) message(m Message) Message {
	m.URN, m.Position = r.reg.URN, r.reg.Goal.Position
	return m
}
