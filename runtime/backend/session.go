package backend

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

const (
	defaultInterval = 30 * time.Second
	// defaultLeastJournal is the size of a journal below which the state file is not rewritten in between, however small
	// that is.
	defaultLeastJournal = 1 << 20
)

// BeginOptions control what an operation needs of a session.
type BeginOptions struct {
	Command string          // what is being done, for the journal: update, destroy, …
	Secrets secrets.Manager // seals what is written; nil when the stack can have no secrets
	Open    state.Opener    // opens what is read; nil leaves secrets sealed, which is enough to edit other things
	// SkipIntegrity begins also on a state that is not sound (E6.50), to repair it.
	SkipIntegrity bool
	// Salvage goes on with what can be read of a damaged journal although something is missing, which Recovery.Missing
	// tells.
	Salvage bool
	NoSync  bool // see journal.LogOptions
	// Record is what is known of the history's record when the operation begins; a service shows it meanwhile. It may be
	// nil.
	Record *Record
}

// Session is one operation on a stack, from taking its lock to giving it back. It is the operation's journal.
//
// Rule for the state file: Commit writes it. In between it is written when the journal has outgrown both the file and
// a megabyte, and at least Options.CheckpointInterval has passed since the last write. The total cost is therefore
// linear in the size of the journal. Steps go on meanwhile. A crash at any moment loses nothing that Append has
// acknowledged.
//
// Append is safe for concurrent use; Commit and Close are for the end, when no Append is under way.
type Session struct {
	sessionTools
	base *state.Snapshot // what it goes on from

	// What it came upon when it read the state:
	recovered *Recovery
	moved     []urn.URN
	altered   bool

	mu       sync.Mutex // guards the rest; held while file is asked, never the other way round
	replayer *journal.Replayer
	log      *journal.Log // nil before the first entry
	closed   bool
	wrote    bool // the state file, at the end
	watched  *Watched

	file   *stateWriter
	losses losses
}

// sessionTools are what a session and its stateWriter work with. None of them changes.
type sessionTools struct {
	schedule
	state  stackState // fenced: it changes nothing once the lock is lost
	ref    Ref
	held   *heldLock
	o      BeginOptions
	sealer secrets.Manager // o.Secrets with a memory of ciphertexts
}

// newTools returns the tools of a session under a lock. Secrets that are read and written share a memory.
func newTools(s schedule, st stackState, held *heldLock, o BeginOptions) sessionTools {
	t := sessionTools{schedule: s, state: st, ref: st.ref, held: held, o: o}
	if o.Secrets != nil {
		t.sealer = state.Remembering(o.Secrets)
	}
	return t
}

var _ journal.Journal = (*Session)(nil)

// Begin takes a stack's lock, brings the state file up to what a crashed run has journaled, and reads it. The caller
// must end the session with Commit or Close. Errors, after which nothing is locked: *LockedError, *NotFoundError,
// *CorruptError, *FileError, *state.VersionError, *state.IntegrityError, and whatever opening a secret gives.
func (b *Backend) Begin(ctx context.Context, r Ref, o BeginOptions) (_ *Session, err error) {
	if r, err = b.named(ctx, r); err != nil {
		return nil, err
	}
	if h, ok := b.hosted(); ok {
		return h.begin(ctx, r, o)
	}
	if _, err := b.stateOf(r).locate(); err != nil { // before the lock, which would write
		return nil, err
	}
	held, err := b.locksOf(r).lock(ctx)
	if err != nil {
		return nil, err
	}
	s, err := newTools(b.schedule, held.fenced.stateOf(r), held, o).load()
	if err != nil {
		return nil, errors.Join(held.explain(b.stateOf(r).withPrevious(err)), held.release())
	}
	return s, nil
}

// load reads the state under the lock: first what was left half written goes, then what was journaled is brought into
// the state file, then that is read. A state whose resources are out of order is put in order and written before
// anything is journaled.
func (t sessionTools) load() (*Session, error) {
	if err := t.state.locksOf(t.ref).sweep(); err != nil { // before the state is read: see fencedDisk
		return nil, err
	}
	file, err := t.state.current()
	if err != nil {
		return nil, err
	}
	var recovered *Recovery
	if t.state.objects != nil {
		recovered, file, err = t.state.journalOf(t.ref).recoverObjects(t.held, file, t.o.Salvage)
	} else {
		recovered, file, err = t.state.journalOf(t.ref).recover(file, t.o.Salvage)
	}
	if err != nil {
		return nil, err
	}
	c, err := file.decode(t.opener())
	if err != nil {
		return nil, err
	}
	s := &Session{sessionTools: t, recovered: recovered, altered: file.altered(), file: t.writer(file, c)}
	s.beginFrom(snapshotOf(c))
	if t.o.SkipIntegrity {
		return s, nil
	}
	sound, moved, err := s.base.InOrder()
	if err != nil || sound == s.base {
		return s, err
	}
	// The journal refers to resources by their positions in the file, so write the file first.
	if err := s.file.replace(stateWrite{snapshot: sound}); err != nil {
		return nil, err
	}
	s.beginFrom(sound)
	s.moved = moved
	return s, nil
}

// beginFrom makes a snapshot what the journal counts from.
func (s *Session) beginFrom(base *state.Snapshot) {
	s.base, s.replayer = base, journal.NewReplayer(base)
	if s.held.remote != nil {
		s.held.remote.begin(base)
	}
}

// Altered reports whether the state file was not what yamlhost wrote, nor what another program would have: somebody has
// edited it, or it is damaged in more than one bit.
func (s *Session) Altered() bool { return s.altered }

// Moved returns the resources that came after what depends on them in the state file, and were moved to the front of
// it.
func (s *Session) Moved() []urn.URN { return s.moved }

// opener lets what is read and what is written share a memory of ciphertexts when one manager does both.
func (t sessionTools) opener() state.Opener {
	if t.o.Open == nil {
		return nil
	}
	return func(p state.SecretsProvider) (secrets.Manager, error) {
		m, err := t.o.Open(p)
		if err != nil || t.sealer == nil {
			return m, err
		}
		if p.Type == t.sealer.Type() && secrets.SameState(p.State, t.sealer.State()) {
			return t.sealer.(*state.Memory).Through(m), nil
		}
		return m, nil
	}
}

// Written reports whether Commit or Close has written the state, whatever else went wrong.
func (s *Session) Written() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote
}

// Watched returns how a service shows the operation; nil where nobody does.
func (s *Session) Watched() *Watched { return s.watched }

// Base returns the state at the beginning. The caller must not modify it.
func (s *Session) Base() *state.Snapshot { return s.base }

// Recovered describes what a crashed run had left; nil if nothing.
func (s *Session) Recovered() *Recovery { return s.recovered }

// ResolvePending replaces the state that the session began with, durably and before anything is journaled: by what
// became of the operations that an earlier run left in flight.
func (s *Session) ResolvePending(_ context.Context, base *state.Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.log != nil {
		return errors.New("the operation is under way; pending operations of earlier runs can no longer be resolved")
	}
	if err := s.file.replace(stateWrite{snapshot: base}); err != nil {
		return s.held.explain(err)
	}
	s.beginFrom(base)
	return nil
}
