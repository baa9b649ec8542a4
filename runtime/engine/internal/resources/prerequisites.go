package resources

import (
	"container/heap"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Prerequisites is everything that a prior resource needs to stand before it in the state, so that it can stay as it is
// (E4.108). It is taken in the order of the state that the operation found, and anyone who waits does so for something
// in front of everything that it has not yet moved itself: so no two of them wait for each other.
//
// Next decides about the first one that is left:
//
//	for m := p.Next(); m != nil; m = p.Next() {
//		switch {
//		case m.Retain != nil:   // record it as it is and close its Done
//		case m.Wait != nil:     // wait; it comes again
//		case m.Entry != nil:    // commit that entry and call m.Moved, whether it worked or not
//		}
//	}
type Prerequisites struct {
	t    *Table
	seen map[*Prior]*prerequisite
	left prerequisites // a heap, those that are first in the state in front
}

// prerequisite is one prior resource that something needs.
type prerequisite struct {
	prior *Prior
	// own is the registration that was made for it here; nil for one that somebody else has taken, or that has to be
	// relocated because a step has touched it.
	own *Registration
	// named reports whether something names it by its ID too, as the provider that it is: a successor will not do.
	named bool
	moves bool // what it needs is on its way, and it is to be relocated
}

// Move is the action for one prerequisite; at most one field is set, and none if it is already in position.
type Move struct {
	Retain *Registration
	Wait   <-chan struct{}
	Entry  *journal.Entry
	About  *state.Resource // of Entry
	done   chan struct{}
}

// Moved releases those who wait for the new position, whether the entry was committed or failed.
func (m *Move) Moved() { close(m.done) }

// Prerequisites collects what an old state depends on. The table holds its prior resource.
func (t *Table) Prerequisites(old *state.Resource) *Prerequisites {
	return t.prerequisites(old, func(p *Prerequisites, e *Prior) { p.needs(old, e.index) })
}

// ProviderOf collects only the provider of an old state, if a replacement has left that behind: the resource goes on
// naming it, and it is kept until nothing does (E4.111 differs).
func (t *Table) ProviderOf(old *state.Resource) *Prerequisites {
	return t.prerequisites(old, func(p *Prerequisites, _ *Prior) { p.needsProvider(old) })
}

// prerequisites gathers what has to move with a prior resource, which fill adds. It holds the table's lock meanwhile,
// so that fill must not call methods that take it.
func (t *Table) prerequisites(old *state.Resource, fill func(*Prerequisites, *Prior)) *Prerequisites {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &Prerequisites{t: t, seen: map[*Prior]*prerequisite{}}
	if e := t.Prior.of[old]; e != nil {
		p.seen[e] = &prerequisite{prior: e}
		fill(p, e)
	}
	return p
}

// needs adds what r needs, which stands at an index of the state. The caller holds the table's lock.
func (p *Prerequisites) needs(r *state.Resource, index int) {
	p.needsProvider(r)
	r.AllDependencies(func(u urn.URN) {
		if e := p.t.Prior.before(u, index); e != nil {
			p.add(e)
		}
	})
}

// needsProvider adds the provider that r names, if a replacement has left that behind. The caller holds the table's
// lock.
func (p *Prerequisites) needsProvider(r *state.Resource) {
	provider := p.t.Prior.providers[r.Provider]
	if provider == nil {
		return
	}
	if e := p.t.Prior.of[provider]; e != nil && (e.pendingDelete || e.claimed) {
		p.add(e)
		if m := p.seen[e]; m != nil {
			m.named = true
		}
	}
}

// add makes a prior resource a prerequisite. The caller holds the table's lock.
func (p *Prerequisites) add(e *Prior) {
	if p.seen[e] != nil {
		return
	}
	m := &prerequisite{prior: e}
	p.seen[e] = m
	if !e.claimed {
		if e.pendingDelete || e.cascade != nil {
			m.moves = true
		} else {
			m.own = p.t.retain(e)
		}
		p.needs(e.resource, e.index)
	}
	heap.Push(&p.left, m)
}

// retain makes a registration of a prior resource that stays because something else needs it. Children may name it as
// their parent. The caller holds mu.
func (t *Table) retain(e *Prior) *Registration {
	r := e.resource
	e.claimed, e.decided = true, true
	reg := &Registration{URN: r.URN, Parent: r.Parent, Old: e, Done: make(chan struct{}), Result: monitor.Failed,
		outcome: outcome{retained: true}, t: t, Goal: BareGoal(r)}
	t.current.track(reg)
	return reg
}

// RetainAll makes registrations of all prior resources but those left to delete, in the order of the state (E7.46).
func (t *Table) RetainAll() []*Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*Registration
	for _, e := range t.Prior.list {
		if !e.resource.Delete {
			all = append(all, t.retain(e))
		}
	}
	return all
}

// BareGoal returns as much of a goal as others need to know of a resource that no program has registered.
func BareGoal(r *state.Resource) *plan.Goal {
	return &plan.Goal{Position: r.SourcePosition, RegisterRequest: monitor.RegisterRequest{Type: r.Type,
		Name: r.URN.Name(), Parent: r.Parent, Custom: r.Custom, Provider: r.Provider, Inputs: value.EmptyMap()}}
}

// Next returns the next move, or nil when everything is in position. newID returns a new ID for the journal.
func (p *Prerequisites) Next(newID func() journal.ID) *Move {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	for p.left.Len() > 0 {
		m := heap.Pop(&p.left).(*prerequisite)
		if m.own != nil {
			return &Move{Retain: m.own}
		}
		if move := p.move(m, newID); move != nil {
			return move
		}
	}
	return nil
}

// move decides about a prerequisite that another caller has claimed or that a step has touched. Everything that it
// needs is in position. It returns nil when there is nothing to do now.
func (p *Prerequisites) move(m *prerequisite, newID func() journal.ID) *Move {
	e := m.prior
	holder := p.t.current.holderOf(e, p.t.names.now(e.resource.URN))
	switch {
	case holder != nil && !holder.IsDone():
		heap.Push(&p.left, m)
		return &Move{Wait: holder.Done}
	case holder == nil && e.cascade != nil && !Closed(e.cascade.Done):
		heap.Push(&p.left, m)
		return &Move{Wait: e.cascade.Done}
	}
	// A resource whose step failed stays as it was; so does a replaced provider that another resource names.
	stays := !e.claimed || holder != nil && holder.state == nil && holder.Result != monitor.Succeeded || m.named &&
		e.pendingDelete
	switch {
	case stays && e.now != nil && !m.moves: // what it needs is first
		m.moves = true
		p.needs(e.resource, e.index)
		heap.Push(&p.left, m)
		return nil
	case !stays || e.now == nil:
		return nil
	case e.relocated != nil:
		return &Move{Wait: e.relocated}
	}
	was := e.id
	e.id, e.relocated = newID(), make(chan struct{})
	return &Move{About: e.resource, done: e.relocated,
		Entry: &journal.Entry{Remove: []journal.ID{was}, Add: []journal.Amended{{ID: e.id, Resource: e.now}}}}
}

// End releases moves that were not recorded, because something failed.
func (p *Prerequisites) End() {
	for _, m := range p.seen {
		if m.own != nil && !m.own.IsDone() {
			close(m.own.Done)
		}
	}
}

// prerequisites are a heap in the order of the state.
type prerequisites []*prerequisite

func (m prerequisites) Len() int           { return len(m) }
func (m prerequisites) Less(i, j int) bool { return m[i].prior.index < m[j].prior.index }
func (m prerequisites) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// Push adds one.
func (m *prerequisites) Push(x any) { *m = append(*m, x.(*prerequisite)) }

// Pop takes the last one off.
func (m *prerequisites) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
