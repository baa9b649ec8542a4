package resources

import (
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Prior is one resource of the prior state, or one that this operation imported, with its fate. The table's mutex
// guards the fields. A Prior identifies a resource throughout an operation, while its content, its URN and its journal
// position may change.
type Prior struct {
	t        *Table
	id       journal.ID
	index    int             // in the prior state, from 0; -1 for an imported resource
	resource *state.Resource // as found; planned steps refer to it by this pointer
	now      *state.Resource // its current content; nil if it is gone

	claimed bool // a registration has matched it
	decided bool // its registration has decided its steps
	// pendingDelete reports whether it is the old object of a replacement and still has to be deleted.
	pendingDelete bool
	// relocated is set if the resource moves in front of a retained dependant, and closed when the new position is
	// journaled.
	relocated chan struct{}
	// cascade is set if the resource is deleted because a dependency is replaced.
	cascade *Cascaded
}

// Cascaded is the deletion of a resource as a part of another one's replacement.
type Cascaded struct {
	plan.Dependent
	Done    chan struct{} // closed when the deletion has ended
	Deleted bool          // whether the deletion succeeded; set before Done is closed
}

// Priors holds the resources of the prior state in order. The table's mutex guards it.
type Priors struct {
	t         *Table
	list      []*Prior
	byURN     map[urn.URN]*Prior // without those pending delete (E4.95)
	of        map[*state.Resource]*Prior
	providers map[string]*state.Resource // by reference, including those pending delete
	left      map[urn.URN][]*Prior       // those pending delete since earlier operations
	views     map[urn.URN][]*Prior       // by the owner's URN, including new ones
}

// newPriors indexes the resources of a state; ids are their journal IDs.
func newPriors(t *Table, resources []*state.Resource, ids []journal.ID) *Priors {
	p := &Priors{
		t:         t,
		list:      make([]*Prior, len(resources)),
		byURN:     make(map[urn.URN]*Prior, len(resources)),
		of:        make(map[*state.Resource]*Prior, len(resources)),
		providers: map[string]*state.Resource{},
		left:      map[urn.URN][]*Prior{},
		views:     map[urn.URN][]*Prior{},
	}
	all := make([]Prior, len(resources))
	for i, r := range resources {
		e := &all[i]
		*e = Prior{t: t, id: ids[i], index: i, resource: r, now: r, pendingDelete: r.Delete}
		p.list[i], p.of[r] = e, e
		if r.Delete {
			p.left[r.URN] = append(p.left[r.URN], e)
		} else {
			p.byURN[r.URN] = e
		}
		if r.ViewOf != "" {
			p.views[r.ViewOf] = append(p.views[r.ViewOf], e)
		}
		if r.IsProvider() {
			p.providers[urn.Reference{URN: r.URN, ID: r.ID}.String()] = r
		}
	}
	return p
}

// before returns the last resource with a URN in front of an index, which is the one that the resource there refers to.
func (p *Priors) before(u urn.URN, index int) *Prior {
	if e := p.byURN[u]; e != nil && e.index < index {
		return e
	}
	for i := index - 1; i >= 0; i-- { // an older generation, whose dependants are also pending delete
		if p.list[i].resource.URN == u {
			return p.list[i]
		}
	}
	return nil
}

// made adds a resource that this operation has recorded as a prior resource, so that later steps find it.
func (p *Priors) made(r *state.Resource, id journal.ID) *Prior {
	e := &Prior{t: p.t, id: id, index: -1, resource: r, now: r, claimed: true}
	p.of[r] = e
	return e
}

// State is a copy of the base state of an operation: its resources in order, with their journal IDs.
type State struct {
	Resources []*state.Resource
	IDs       []journal.ID
}

// Base returns the base state of the operation, including the effects of Rebase.
func (p *Priors) Base() State {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	s := State{Resources: make([]*state.Resource, len(p.list)), IDs: make([]journal.ID, len(p.list))}
	for i, e := range p.list {
		s.Resources[i], s.IDs[i] = e.resource, e.id
	}
	return s
}

// Rebase replaces the base state by the result of a migration or a refresh. It must be called before the first
// registration.
func (p *Priors) Rebase(s State) {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	*p = *newPriors(p.t, s.Resources, s.IDs)
}

// Provider returns the provider with a reference in the prior state, or nil.
func (p *Priors) Provider(ref string) *state.Resource {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.providers[ref]
}

// Present reports whether the prior state has a resource with the URN, including those pending delete.
func (p *Priors) Present(u urn.URN) bool {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.byURN[u] != nil || len(p.left[u]) > 0
}

// Found returns the prior and the current state of a resource, nil if there is none. It ignores resources pending
// delete.
func (p *Priors) Found(u urn.URN) (before, now *state.Resource) {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	if e := p.byURN[u]; e != nil {
		return e.resource, e.now
	}
	return nil, nil
}

// Decided reports whether a prior resource has had a step in this operation.
func (p *Priors) Decided(r *state.Resource) bool {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.of[r].touched()
}

// touched reports whether the resource has had a step in this operation. The caller holds mu.
func (p *Prior) touched() bool { return p.decided || p.cascade != nil || p.now == nil }

// Resource returns the prior state, possibly updated by a refresh; nil for nil. Only the registration that has claimed
// the resource updates it.
func (p *Prior) Resource() *state.Resource {
	if p == nil {
		return nil
	}
	return p.resource
}

// ID returns the current journal ID of the resource.
func (p *Prior) ID() journal.ID {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.id
}

// Index returns the resource's index in the base state, -1 for an imported resource. It is immutable.
func (p *Prior) Index() int { return p.index }

// Cascade returns the deletion of the resource on behalf of another one, or nil.
func (p *Prior) Cascade() *Cascaded {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.cascade
}

// ForgetCascade records that the deletion on behalf of another resource failed.
func (p *Prior) ForgetCascade() {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	p.cascade = nil
}

// Behind returns the later resources of the prior state that had no step yet; none for an imported resource.
func (p *Prior) Behind() []*state.Resource {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	if p.index < 0 {
		return nil
	}
	var rest []*state.Resource
	for _, e := range p.t.Prior.list[p.index+1:] {
		if !e.touched() {
			rest = append(rest, e.resource)
		}
	}
	return rest
}

// Late returns a dependency of goal that is not recorded yet or is recorded behind p, if p was relocated; "" if there
// is none. position is the journal ID of p, 0 if it was not relocated.
func (p *Prior) Late(goal *state.Resource) (position journal.ID, late urn.URN) {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	if p.relocated == nil {
		return 0, ""
	}
	goal.AllDependencies(func(u urn.URN) {
		if reg := p.t.current.of[u]; reg == nil || reg.state == nil || reg.id > p.id {
			late = u
		}
	})
	return p.id, late
}
