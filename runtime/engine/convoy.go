package engine

import (
	"container/heap"
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// convoy is everything that an old state needs to stand before it in the state, on its way there (E4.108). It is taken in the
// order of the state that the operation found, and whoever waits does so for something in front of everything that it has
// not yet put in place itself: so no two convoys wait for each other.
type convoy struct {
	d    *Deployment
	seen map[*entry]*member
	left members // a heap, those that are first in the state in front
}

// member is one entry of a convoy.
type member struct {
	entry *entry
	// own is the registration that the convoy has made for it; nil for an entry that somebody else has taken, or that has to be
	// moved because a step has touched it.
	own *registered
	// named says that something names it by its ID too, as the provider that it is: a successor will not do.
	named bool
	moves bool // what it needs is on its way, and it is to be moved
}

// carryNeeds carries over everything that an old state needs and that had no step yet, in the order of the state, so that
// it stands before what needs it; it waits for what is under way, and moves there what a step has touched that did not work,
// or that has deleted it on behalf of something else.
func (d *Deployment) carryNeeds(ctx context.Context, old *state.Resource, l *held) error {
	return d.convoy(ctx, l, func(c *convoy, at int) { c.needs(old, at) }, old)
}

// bringProvider puts the provider of a resource that is carried over before it in the state, if a replacement has left that
// provider behind: the resource goes on naming it, and it is kept until nothing does (E4.111 differs).
func (d *Deployment) bringProvider(ctx context.Context, r *state.Resource, l *held) error {
	return d.convoy(ctx, l, func(c *convoy, _ int) { c.needsProvider(r) }, r)
}

// convoy puts in place what fill, which is called under the mutex, adds for an old state.
func (d *Deployment) convoy(ctx context.Context, l *held, fill func(c *convoy, position int), old *state.Resource) error {
	c := &convoy{d: d, seen: map[*entry]*member{}}
	d.mu.Lock()
	if e := d.olds.of[old]; e != nil {
		c.seen[e] = &member{entry: e}
		fill(c, e.position)
	}
	d.mu.Unlock()
	defer c.end()
	for c.left.Len() > 0 {
		if err := c.place(ctx, heap.Pop(&c.left).(*member), l); err != nil {
			return err
		}
	}
	return nil
}

// needs adds what r needs, of which the entry has a position. The caller holds the mutex.
func (c *convoy) needs(r *state.Resource, position int) {
	c.needsProvider(r)
	r.AllDependencies(func(u urn.URN) {
		if e := c.d.olds.before(u, position); e != nil {
			c.add(e)
		}
	})
}

// needsProvider adds the provider that r names, if a replacement has left that behind. The caller holds the mutex.
func (c *convoy) needsProvider(r *state.Resource) {
	p := c.d.olds.providers[r.Provider]
	if p == nil {
		return
	}
	if e := c.d.olds.of[p]; e != nil && (e.doomed || e.claimed) {
		c.add(e)
		if m := c.seen[e]; m != nil {
			m.named = true
		}
	}
}

// add makes an entry a member. The caller holds the mutex.
func (c *convoy) add(e *entry) {
	if c.seen[e] != nil {
		return
	}
	m := &member{entry: e}
	c.seen[e] = m
	if !e.claimed {
		if e.doomed || e.cascade != nil {
			m.moves = true
		} else {
			e.claimed, e.settled = true, true
			m.own = carried(e)
			c.d.enlist(m.own)
		}
		c.needs(e.resource, e.position)
	}
	heap.Push(&c.left, m)
}

// place puts a member in place. All that it needs is.
func (c *convoy) place(ctx context.Context, m *member, l *held) error {
	d, e := c.d, m.entry
	if m.own != nil {
		return d.stay(m.own)
	}
	d.mu.Lock()
	holder, cascade := d.holderOf(e), e.cascade
	d.mu.Unlock()
	switch {
	case holder != nil && !isDone(holder.done):
		if err := l.waitFor(ctx, holder.done); err != nil {
			return err
		}
	case holder == nil && cascade != nil && !isDone(cascade.done):
		if err := l.waitFor(ctx, cascade.done); err != nil {
			return err
		}
	}
	d.mu.Lock()
	if holder = d.holderOf(e); holder != nil && !isDone(holder.done) { // taken in the meantime
		heap.Push(&c.left, m)
		d.mu.Unlock()
		return nil
	}
	// What failed stays as it was; so does a provider that was replaced and that something names.
	stays := !e.claimed || holder != nil && holder.state == nil && holder.result != monitor.Succeeded || m.named && e.doomed
	if stays && e.now != nil && !m.moves { // what it needs is first
		m.moves = true
		c.needs(e.resource, e.position)
		heap.Push(&c.left, m)
		d.mu.Unlock()
		return nil
	}
	if !stays || e.now == nil {
		d.mu.Unlock()
		return nil
	}
	if e.brought != nil {
		d.mu.Unlock()
		return l.waitFor(ctx, e.brought)
	}
	was := e.id
	e.id, e.brought = d.ledger.newID(), make(chan struct{})
	defer close(e.brought)
	entry := journal.Entry{Remove: []journal.ID{was}, Add: []journal.Amended{{ID: e.id, Resource: e.now}}}
	d.mu.Unlock()
	if err := d.ledger.commit(d.calls, entry); err != nil {
		step := plan.NewStep(OpSame, e.resource, e.resource)
		return d.journalFailed(&step, err)
	}
	return nil
}

// keepPlace has a resource that is made again, after it was deleted, written where a convoy has put what was left of it: what
// names it stands behind that. What it needs now has to be in front already.
func (d *Deployment) keepPlace(s *subject, chain []Step) error {
	e := s.recreated
	if e == nil && s.deleted != nil {
		e = s.old
	}
	if e == nil {
		return nil
	}
	d.mu.Lock()
	var late urn.URN
	moved := e.brought != nil
	s.goal.AllDependencies(func(u urn.URN) {
		if reg := d.resources[u]; moved && (reg == nil || reg.state == nil || reg.id > e.id) {
			late = u
		}
	})
	place := e.id
	d.mu.Unlock()
	if !moved {
		return nil
	}
	if late != "" {
		d.report.message(Message{URN: s.reg.urn, Severity: diag.Error, Code: diag.OperationFailed, Position: s.reg.goal.Position,
			Text: fmt.Sprintf("Resource '%s' cannot be created again: something outside of the operation's scope depends on it in the state, "+
				"and '%s', on which it depends now, came after that. Include them in the operation too, or run it without --target and "+
				"--exclude.", s.reg.urn, late)})
		return d.bail()
	}
	for i := range chain {
		switch chain[i].Op {
		case OpCreate, OpImport, OpCreateReplacement, OpImportReplacement:
			chain[i].Position = place
		}
	}
	return nil
}

// end lets go of what was not put in place, because something went wrong.
func (c *convoy) end() {
	for _, m := range c.seen {
		if m.own != nil && !isDone(m.own.done) {
			close(m.own.done)
		}
	}
}

// holderOf is the registration that has taken an entry, nil if there is none. The caller holds the mutex.
func (d *Deployment) holderOf(e *entry) *registered {
	u := e.resource.URN
	if !e.claimed {
		return nil
	}
	if now, ok := d.renamed[u]; ok {
		u = now
	}
	if holder := d.resources[u]; holder != nil && (holder.old == e || holder.old == nil) {
		return holder // with nothing that it was, when that was found to be gone
	}
	return nil
}

// members are a heap in the order of the state.
type members []*member

func (m members) Len() int           { return len(m) }
func (m members) Less(i, j int) bool { return m[i].entry.position < m[j].entry.position }
func (m members) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// Push adds a member.
func (m *members) Push(x any) { *m = append(*m, x.(*member)) }

// Pop takes the last one off.
func (m *members) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
