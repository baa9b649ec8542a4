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

// Prerequisites are the prior resources that must come before a retained resource in the new state (E4.108). They are
// handled in the order of the prior state, and a caller only waits for a resource in front of all those that it has not
// moved yet, so two callers never wait for each other.
//
// Next decides about the first of the remaining ones:
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
	left prerequisites // a heap in the order of the prior state
}

// prerequisite is one prior resource that a retained resource depends on.
type prerequisite struct {
	prior *Prior
	// own is the registration that was made for it here; nil if another registration has claimed it, or if it must be
	// relocated because a step has touched it.
	own *Registration
	// named reports whether a resource refers to it by its ID as its provider: a successor cannot take its place.
	named bool
	moves bool // its own prerequisites come first, then it is relocated
}

// Move is the action for one prerequisite; at most one field is set, none if it is in position already.
type Move struct {
	Retain *Registration
	Wait   <-chan struct{}
	Entry  *journal.Entry
	About  *state.Resource // of Entry
	done   chan struct{}
}

// Moved releases the waiting callers, whether the entry was committed or failed.
func (m *Move) Moved() { close(m.done) }

// Prerequisites returns the prerequisites of a prior state, whose prior resource is in the table.
func (t *Table) Prerequisites(old *state.Resource) *Prerequisites {
	return t.prerequisites(old, func(p *Prerequisites, e *Prior) { p.needs(old, e.index) })
}

// ProviderOf returns only the provider of a prior state, if it is pending delete: the resource keeps its reference, and
// the provider is kept until nothing refers to it (E4.111 differs).
func (t *Table) ProviderOf(old *state.Resource) *Prerequisites {
	return t.prerequisites(old, func(p *Prerequisites, _ *Prior) { p.needsProvider(old) })
}

// prerequisites returns the prerequisites that fill adds for a prior resource. It holds the table's mutex during fill.
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

// needs adds the dependencies of r, which has the given index in the prior state. The caller holds the table's mutex.
func (p *Prerequisites) needs(r *state.Resource, index int) {
	p.needsProvider(r)
	r.AllDependencies(func(u urn.URN) {
		if e := p.t.Prior.before(u, index); e != nil {
			p.add(e)
		}
	})
}

// needsProvider adds the provider of r if it is pending delete or claimed. The caller holds the table's mutex.
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

// add adds a prior resource. The caller holds the table's mutex.
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

// retain returns a new registration for a prior resource that stays for its dependants. Children may use it as their
// parent. The caller holds mu.
func (t *Table) retain(e *Prior) *Registration {
	r := e.resource
	e.claimed, e.decided = true, true
	reg := &Registration{URN: r.URN, Parent: r.Parent, Old: e, Done: make(chan struct{}), Result: monitor.Failed,
		outcome: outcome{retained: true}, t: t, Goal: BareGoal(r)}
	t.current.track(reg)
	return reg
}

// RetainAll registers all prior resources except those pending delete, in the order of the state (E7.46).
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

// BareGoal returns a minimal goal for a resource that no program has registered.
func BareGoal(r *state.Resource) *plan.Goal {
	return &plan.Goal{Position: r.SourcePosition, RegisterRequest: monitor.RegisterRequest{Type: r.Type,
		Name: r.URN.Name(), Parent: r.Parent, Custom: r.Custom, Plugin: monitor.Plugin{Provider: r.Provider},
		Inputs: value.EmptyMap()}}
}

// Next returns the next move, or nil if everything is in position. newID returns a new journal ID.
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

// move returns the move for a prerequisite that another registration has claimed or a step has touched, or nil if there
// is nothing to do now. All its own prerequisites are in position.
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
	// A resource whose step failed stays unchanged, as does a replaced provider that another resource refers to.
	stays := !e.claimed || holder != nil && holder.state == nil && holder.Result != monitor.Succeeded || m.named &&
		e.pendingDelete
	switch {
	case stays && e.now != nil && !m.moves: // its own prerequisites come first
		m.moves = true
		p.needs(e.resource, e.index)
		heap.Push(&p.left, m)
		return nil
	case !stays || e.now == nil:
		return nil
	case e.relocated != nil:
		return &Move{Wait: e.relocated}
	}
	former := e.id
	e.id, e.relocated = newID(), make(chan struct{})
	return &Move{About: e.resource, done: e.relocated,
		Entry: &journal.Entry{Remove: []journal.ID{former}, Add: []journal.Amended{{ID: e.id, Resource: e.now}}}}
}

// End releases the callers that wait for unrecorded moves, after a failure.
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

// Push implements heap.Interface.
func (m *prerequisites) Push(x any) { *m = append(*m, x.(*prerequisite)) }

// Pop implements heap.Interface.
func (m *prerequisites) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
