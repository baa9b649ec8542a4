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

// Writer records the changes of the state. It keeps all entries in memory in order of completion, for the final
// snapshot, and passes them to the durable journal at once, with one exception: a same step without a material
// difference is journaled only when a new entry depends on it, so that the journal grows with the changes and not with
// the stack (E6.15, E6.21, decision D9). It is safe for concurrent use; in a preview it does nothing.
type Writer struct {
	journal journal.Journal // nil in a preview

	mu       sync.Mutex // guards the rest
	entries  []journal.Entry
	nextID   journal.ID
	nextStep int64
	late     map[urn.URN]*lateSame // by the resource's current URN
	lateByID map[journal.ID]*lateSame
	closed   bool // nothing is written any more (E5.51)
}

// lateSame is the entry of a same step that is not journaled yet.
type lateSame struct {
	entry     journal.Entry
	claimed   bool          // a goroutine is journaling it
	journaled chan struct{} // nil until it is claimed; closed when it has been journaled
}

// NewWriter returns a writer over a base state of n resources.
func NewWriter(j journal.Journal, n int) *Writer {
	w := &Writer{journal: j, nextID: journal.ID(n) + 1, nextStep: 1,
		late: map[urn.URN]*lateSame{}, lateByID: map[journal.ID]*lateSame{}}
	if j != nil { // each resource has at least one entry
		w.entries = make([]journal.Entry, 0, n)
	}
	return w
}

// NewID returns a journal ID for a new resource.
func (w *Writer) NewID() journal.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.nextID
	w.nextID++
	return id
}

// Begin journals the start of an operation and returns its number.
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

// Held returns an error unless the run still holds the stack.
func (w *Writer) Held(ctx context.Context) error {
	if w.journal == nil {
		return nil
	}
	return w.journal.Held(ctx)
}

// Commit journals an entry behind everything that it depends on. It returns when the position of the entry is fixed; a
// later step that depends on it becomes durable only together with it.
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

// CommitLate records a same step that need not be durable yet.
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
	s := &lateSame{entry: e}
	w.late[e.Add[0].Resource.URN] = s
	w.lateByID[e.Add[0].ID] = s
}

// withLate extends an entry by the late sames that it depends on directly or indirectly, dependencies first. wait are
// those that other goroutines are journaling already. The caller holds mu. Each late same is traversed only once.
func (w *Writer) withLate(e journal.Entry) (extended journal.Entry, claimed, wait []*lateSame) {
	if len(w.late) == 0 {
		return e, nil, nil
	}
	// The entry must not come before its dependencies. Unclaimed late sames become a part of it, so that one write
	// makes all of them durable; the caller waits for the claimed ones.
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
		s.claimed, s.journaled, mine[s] = true, make(chan struct{}), true
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
		// A late same must be journaled before it can be amended. If this very entry adds it, the entry adds the
		// amended form.
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

// withClaimed returns the removals and additions of an entry together with those of its late sames; amended holds the
// late sames that the same entry amends. A resource that the entry would both add and remove is left out.
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

// Close ends all writing; later entries are dropped (E5.51).
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// Snapshot returns base with all recorded entries applied.
func (w *Writer) Snapshot(base *state.Snapshot) (*state.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.entries) == 0 && (base == nil || len(base.Pending) == 0) {
		return base, nil
	}
	return journal.Replay(base, w.entries)
}
