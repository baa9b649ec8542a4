package apply

import (
	"context"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Writer records what happens to the state. It keeps every entry in memory, in the order of completion, from which the
// final snapshot is made; and it hands entries to the durable journal, all but one kind at once: a same without
// material difference is durable only from when something new is about to depend on it, so that a journal grows with
// what changes and not with the stack (E6.15, E6.21, decision D9). It is safe for concurrent use; in a preview it does
// nothing.
type Writer struct {
	journal journal.Journal // nil in a preview

	mu       sync.Mutex // guards the rest
	entries  []journal.Entry
	nextID   journal.ID
	nextStep int64
	late     map[urn.URN]*lateSame // by the resource's present URN
	lateByID map[journal.ID]*lateSame
	closed   bool // nothing is written any more (E5.51)
}

// lateSame is a same that is not journaled yet.
type lateSame struct {
	entry     journal.Entry
	claimed   bool          // somebody is journaling it
	journaled chan struct{} // closed when that is done
}

// NewWriter makes a writer over a base of n resources.
func NewWriter(j journal.Journal, n int) *Writer {
	return &Writer{journal: j, nextID: journal.ID(n) + 1, nextStep: 1,
		late: map[urn.URN]*lateSame{}, lateByID: map[journal.ID]*lateSame{}}
}

// NewID returns an ID for a resource that is about to be added.
func (w *Writer) NewID() journal.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.nextID
	w.nextID++
	return id
}

// Begin records that an operation is about to be attempted and numbers it.
func (w *Writer) Begin(ctx context.Context, op state.Operation) (int64, error) {
	if w.journal == nil {
		return 0, nil
	}
	w.mu.Lock()
	e := journal.Entry{Step: w.nextStep, Begin: &op}
	w.nextStep++
	closed := w.closed
	if !closed {
		w.entries = append(w.entries, e)
	}
	w.mu.Unlock()
	if closed {
		return e.Step, context.Canceled
	}
	return e.Step, w.journal.Append(ctx, e)
}

// Commit records an entry and returns once the entry has its position in the journal, behind everything that it
// depends on. A step that begins because of the entry is durable only together with it.
func (w *Writer) Commit(ctx context.Context, e journal.Entry) error {
	if w.journal == nil {
		return nil
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.entries = append(w.entries, e)
	e, claimed, wait := w.withLate(e)
	w.mu.Unlock()
	for _, s := range wait {
		select {
		case <-s.journaled:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := w.journal.Defer(ctx, e)
	for _, s := range claimed {
		close(s.journaled)
	}
	return err
}

// CommitLate records a same that need not be durable yet.
func (w *Writer) CommitLate(e journal.Entry) {
	if w.journal == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.entries = append(w.entries, e)
	s := &lateSame{entry: e, journaled: make(chan struct{})}
	w.late[e.Add[0].Resource.URN] = s
	w.lateByID[e.Add[0].ID] = s
}

// withLate extends an entry by the late sames on which it depends, in any way and over any number of steps,
// dependencies first. wait are those that others are journaling already. The caller holds the lock. Each late same is
// looked at once for every entry that names it, and gone through once.
func (w *Writer) withLate(e journal.Entry) (extended journal.Entry, claimed, wait []*lateSame) {
	if len(w.late) == 0 {
		return e, nil, nil
	}
	// The entry must not come before what it depends on. Late sames that nobody has begun to write are made a part of it,
	// so that one write makes all of them durable; for those that others write the caller waits.
	mine := map[*lateSame]bool{}
	amended := map[*lateSame]*state.Resource{}
	var visit func(u urn.URN)
	claim := func(s *lateSame) {
		if s.claimed {
			if !mine[s] && !resources.Closed(s.journaled) && !slices.Contains(wait, s) {
				wait = append(wait, s)
			}
			return
		}
		s.claimed, mine[s] = true, true
		s.entry.Add[0].Resource.AllDependencies(visit)
		claimed = append(claimed, s)
	}
	visit = func(u urn.URN) {
		if s := w.late[u]; s != nil {
			claim(s)
		}
	}
	extended = e
	extended.Amend = nil
	for _, a := range e.Amend {
		// A late same has to be in the journal before it can be amended. If this very entry adds it, the entry adds
		// the amended form.
		if s := w.lateByID[a.ID]; s != nil {
			claim(s)
			if mine[s] {
				amended[s] = a.Resource
				a.Resource.AllDependencies(visit)
				continue
			}
		}
		a.Resource.AllDependencies(visit)
		extended.Amend = append(extended.Amend, a)
	}
	for _, a := range e.Add {
		a.Resource.AllDependencies(visit)
	}
	for _, id := range e.Remove {
		if s := w.lateByID[id]; s != nil {
			claim(s)
		}
	}
	if len(claimed) == 0 {
		extended.Amend = e.Amend
		return extended, nil, wait
	}
	extended.Remove, extended.Add = withClaimed(e, claimed, amended)
	return extended, claimed, wait
}

// withClaimed returns the removals and additions of an entry together with the late sames that go into it; amended
// holds those late sames that the entry changes at once. It leaves out a resource that one entry would both add and
// remove.
func withClaimed(e journal.Entry, claimed []*lateSame, amended map[*lateSame]*state.Resource) (remove []journal.ID,
	add []journal.Amended) {
	remove = make([]journal.ID, 0, len(claimed)+len(e.Remove))
	add = make([]journal.Amended, 0, len(claimed)+len(e.Add))
	gone := map[journal.ID]bool{}
	for _, id := range e.Remove {
		gone[id] = true
	}
	for _, s := range claimed {
		remove = append(remove, s.entry.Remove...)
		a := s.entry.Add[0]
		if r := amended[s]; r != nil {
			a.Resource = r
		}
		if gone[a.ID] {
			delete(gone, a.ID)
			continue
		}
		add = append(add, a)
	}
	for _, id := range e.Remove {
		if gone[id] {
			remove = append(remove, id)
		}
	}
	return remove, append(add, e.Add...)
}

// Close ends all writing: what is recorded from now on is lost (E5.51).
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// Snapshot returns the base with everything that was recorded.
func (w *Writer) Snapshot(base *state.Snapshot) (*state.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.entries) == 0 && (base == nil || len(base.Pending) == 0) {
		return base, nil
	}
	return journal.Replay(base, w.entries)
}
