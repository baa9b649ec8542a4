package resources

import (
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Prior is one resource of the state as the operation found it, or as it imported it, and what has become of it. Its
// table guards the fields. A Prior is the identity of a resource through an operation: its content, its name and its
// position in the journal may all change while steps are taken.
type Prior struct {
	t        *Table
	id       journal.ID
	index    int             // in the state, from 0; -1 for one that was imported in this operation
	resource *state.Resource // as found; planned steps name it by this pointer
	now      *state.Resource // its present content; nil when it is gone

	claimed bool // a registration has taken it as its old state
	decided bool // that registration has decided what becomes of it
	// pendingDelete reports whether a replacement has left it behind, to be deleted.
	pendingDelete bool
	// relocated is set for one that has another position in the state, before an unchanged resource that depends on
	// it, and closed when it is there.
	relocated chan struct{}
	// cascade is set while and after it is deleted because something that it depends on is replaced.
	cascade *Cascaded
}

// Cascaded is the deletion of a resource as a part of another one's replacement.
type Cascaded struct {
	plan.Dependent
	Done    chan struct{} // closed when it was tried
	Deleted bool          // whether that worked; set before Done is closed
}

// Priors are the resources of the state as the operation found them, in order. The table's mutex guards them.
type Priors struct {
	t         *Table
	list      []*Prior
	byURN     map[urn.URN]*Prior // those that are not left to delete (E4.95)
	of        map[*state.Resource]*Prior
	providers map[string]*state.Resource // by reference, those left to delete too
	left      map[urn.URN][]*Prior       // what earlier operations have replaced and left to delete
	views     map[urn.URN][]*Prior       // by their owner, those that the operation makes too
}

// newPriors indexes a state; ids are the journal IDs of its resources.
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

// before returns the resource with a URN that one at an index depends on: the last one in front of it.
func (p *Priors) before(u urn.URN, index int) *Prior {
	if e := p.byURN[u]; e != nil && e.index < index {
		return e
	}
	for i := index - 1; i >= 0; i-- { // an older generation, on which only others that are left behind depend
		if p.list[i].resource.URN == u {
			return p.list[i]
		}
	}
	return nil
}

// made makes something that this operation has put into the state a prior resource, so that later steps find it.
func (p *Priors) made(r *state.Resource, id journal.ID) *Prior {
	e := &Prior{t: p.t, id: id, index: -1, resource: r, now: r, claimed: true}
	p.of[r] = e
	return e
}

// resources returns the resources as they were found, in order.
func (p *Priors) resources() []*state.Resource {
	list := make([]*state.Resource, len(p.list))
	for i, e := range p.list {
		list[i] = e.resource
	}
	return list
}

// State is the base that an operation starts from: its resources in order, with their IDs in the journal. It is a copy.
type State struct {
	Resources []*state.Resource
	IDs       []journal.ID
}

// Base returns the state that the operation starts from, which Rebase may have changed since.
func (p *Priors) Base() State {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	s := State{Resources: p.resources(), IDs: make([]journal.ID, len(p.list))}
	for i, e := range p.list {
		s.IDs[i] = e.id
	}
	return s
}

// Rebase makes another state the one that the operation starts from: what a migration or a refresh has made of it. It
// must come before the first registration.
func (p *Priors) Rebase(s State) {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	*p = *newPriors(p.t, s.Resources, s.IDs)
}

// Provider returns the provider resource of a reference as the state has it, nil if it has none.
func (p *Priors) Provider(ref string) *state.Resource {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.providers[ref]
}

// Present reports whether the state had a resource of that URN, one left to delete included.
func (p *Priors) Present(u urn.URN) bool {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.byURN[u] != nil || len(p.left[u]) > 0
}

// Found returns a resource as the state had it, and as it is now; nil when the state had none or it is gone. One left
// to delete does not count.
func (p *Priors) Found(u urn.URN) (before, now *state.Resource) {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	if e := p.byURN[u]; e != nil {
		return e.resource, e.now
	}
	return nil, nil
}

// Decided reports whether a resource of the state had a step in this operation.
func (p *Priors) Decided(r *state.Resource) bool {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.of[r].touched()
}

// touched reports whether it had a step in this operation. The caller holds mu.
func (p *Prior) touched() bool { return p.decided || p.cascade != nil || p.now == nil }

// Resource returns a prior resource as it was found, or as a refresh has read it since; nil for nil. Only the
// registration that has claimed it changes that.
func (p *Prior) Resource() *state.Resource {
	if p == nil {
		return nil
	}
	return p.resource
}

// ID returns the ID that the resource has in the journal now.
func (p *Prior) ID() journal.ID {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.id
}

// Index returns the resource's index in the base, -1 for one that was imported in this operation. It never changes.
func (p *Prior) Index() int { return p.index }

// Cascade returns the deletion of the resource on behalf of another one, nil if there is none.
func (p *Prior) Cascade() *Cascaded {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	return p.cascade
}

// ForgetCascade takes note that a deletion on behalf of another resource did not work.
func (p *Prior) ForgetCascade() {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	p.cascade = nil
}

// Behind returns the resources after this one in the state that had no step yet; none for an imported one.
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

// Late returns a resource on which goal depends and that is not there yet, or stands behind this one, which was
// relocated; empty when there is none. position is this one's, 0 when it was not relocated.
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
