package engine

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/slots"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// record is a registration on its way from its goal to its steps: plain data that the registrar, the examiner and the
// decider fill in one after the other. It belongs to the goroutine that handles the registration.
type record struct {
	reg    *resources.Registration
	wanted value.Value      // the program's inputs
	goal   *state.Resource  // the wanted state; the examiner puts the checked inputs there
	slot   *slots.Slot      // its share of --parallel
	old    *resources.Prior // what it was, or what was imported
	before *state.Resource  // instead of old, of one that was retained because something else needs it
	seed   []byte           // of its automatic names (E7.66)

	provider provider.Configured // nil for a component
	imported bool                // this operation has imported old
	deleted  *plan.Dependent     // set when another resource's replacement has deleted old
	diff     plan.Diff
	// recreated is the prior resource that was found to be gone, in whose position it is created anew.
	recreated *resources.Prior
}

// oldState returns the prior state, nil for a new resource.
func (s *record) oldState() *state.Resource {
	if s.before != nil {
		return s.before
	}
	return s.old.Resource()
}

// urns returns the names under which scopes may know the resource: its own, and the one that the state has.
func (s *record) urns() []urn.URN {
	known := []urn.URN{s.reg.URN}
	if old := s.oldState(); old != nil && old.URN != s.reg.URN {
		known = append(known, old.URN)
	}
	return known
}

// message puts the resource and its position into a message.
func (s *record) message(m Message) Message {
	m.URN, m.Position = s.reg.URN, s.reg.Goal.Position
	return m
}
