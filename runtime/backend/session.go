package backend

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
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

// Append makes an entry durable and takes it into account. It ignores a cancelled ctx: an entry is a fact. An entry
// that does not fit the ones before it is refused and not written.
func (s *Session) Append(_ context.Context, e journal.Entry) error {
	record, e, sealing, err := s.encode(e)
	if err != nil {
		return err
	}
	if e.Begin != nil {
		// Once the lock is lost the end of a step is still worth a try, for anyone who comes next. A beginning is not.
		if err := s.held.look(); err != nil {
			return s.held.explain(err)
		}
	}
	var wait func() error
	err = s.put(e, func(log *journal.Log) { wait = log.Put(record, s.looksAfter(e)) })
	if err == nil {
		err = wait()
	}
	if err != nil {
		if e.Begin != nil && s.held.remote != nil {
			// The copy may have it, and nobody takes the step.
			_ = s.Defer(context.Background(), journal.Entry{Step: e.Step})
		}
		s.losses.note(e, err)
		return s.losses.tell(s.held.explain(err))
	}
	if e.Begin == nil { // nothing comes between the last look at the lock and the call of a provider
		s.checkpointIfDue()
	}
	return sealing
}

// Defer takes an entry into account that is durable before any other that is appended later. In a store it is Append:
// there the order of writes in flight is not guaranteed.
func (s *Session) Defer(ctx context.Context, e journal.Entry) error {
	if s.held.lease != nil || e.Begin != nil {
		return s.Append(ctx, e)
	}
	record, e, sealing, err := s.encode(e)
	if err != nil {
		return err
	}
	var write func() error
	err = s.put(e, func(log *journal.Log) {
		write = log.PutDeferred(record, s.looksAfter(e), func(err error) { s.losses.note(e, err) })
	})
	if err == nil {
		err = write()
	}
	if err != nil {
		return s.losses.tell(s.held.explain(err))
	}
	s.checkpointIfDue()
	return sealing
}

// looksAfter reports whether the lock has to be there after an entry is durable. Anyone who comes next reads the
// journal after the lock was lost. So if the lock is still there, they will find the entry. Links in a store need no
// such look unless something begins now: a fence keeps them out.
// What a service does not have is in the copy, for anyone who comes next.
func (t sessionTools) looksAfter(e journal.Entry) bool {
	return e.Begin != nil || t.held.lease == nil && t.held.remote == nil
}

// encode makes a record of an entry. sealing is why its secrets are not in it.
func (t sessionTools) encode(e journal.Entry) (record journal.Record, encoded journal.Entry, sealing, err error) {
	if memory, ok := t.sealer.(*state.Memory); ok && t.held.remote != nil { // whose secrets take a call each
		times := 1
		if e.Begin != nil {
			times = 2 // the provider's answer usually repeats the inputs, and then its entry takes no call
		}
		memory.Rehearse(times, func(m secrets.Manager) error {
			_, err := journal.Encode(e, m)
			return err
		})
	}
	if record, sealing = journal.Encode(e, t.sealer); sealing == nil {
		return record, e, nil, nil
	}
	// A missing passphrase must not lose the result of a provider call: write the entry without its secrets.
	if e, err = withholdSecrets(e); err == nil {
		record, err = journal.Encode(e, t.sealer)
	}
	if err != nil {
		return nil, e, nil, errors.Join(sealing, err)
	}
	return record, e, sealing, nil
}

// put applies an entry to the state in memory, and hands it to the log in the same order. So the log never has an entry
// that does not fit.
func (s *Session) put(e journal.Entry, put func(*journal.Log)) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the operation has ended; nothing more can be journaled")
	}
	if s.log == nil {
		if s.log, err = s.newLog(s.file.current().identity, s.base.SecretsProvider); err != nil {
			return err
		}
	}
	if err := s.replayer.Apply(e); err != nil {
		return err
	}
	if s.held.remote != nil {
		if err := s.held.remote.apply(e); err != nil {
			return err
		}
	}
	put(s.log)
	return nil
}

// newLog begins a journal that goes on from a state file with a provider of secrets.
func (t sessionTools) newLog(base journal.Identity, provider *state.SecretsProvider) (*journal.Log, error) {
	header := journal.Header{
		Stack: t.ref.QualifiedName(), Base: base, Secrets: provider,
		PID: t.state.o.Process.PID, Host: t.state.o.Process.Host, Started: t.state.o.Now().UTC(), Command: t.o.Command,
	}
	o := journal.LogOptions{Secrets: t.sealer, NoSync: t.o.NoSync, Check: t.held.look, Deferral: t.deferral}
	if t.held.chain != nil {
		t.held.chain.begin()
		log, err := journal.Create(t.held.chain, header, o)
		return log, t.held.explain(err)
	}
	path := t.state.journalOf(t.ref).journalFile()
	tmp := disk.Temporary(path)
	f, err := t.state.disk.Create(tmp)
	if err != nil {
		return nil, fileError("begin the journal", path, err)
	}
	if t.held.remote != nil {
		f = local{f, t.held.remote}
	}
	log, err := journal.Create(f, header, o)
	if err == nil {
		err = t.state.disk.Rename(tmp, path)
	}
	if err == nil {
		err = t.state.disk.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		err = errors.Join(err, f.Close())
		_ = t.state.disk.Remove(tmp) // best effort: the fault that matters is err
		return nil, fileError("begin the journal", path, err)
	}
	return log, nil
}

// errNotBegun is returned when a step was not begun because what it is about could not be recorded; nothing has
// happened.
var errNotBegun = errors.New("the step was not begun")

// withholdSecrets returns the end of a step without its secrets: each is null, and its resource has a note. The
// beginning of a step is refused: anyone who cannot record it must not take it.
func withholdSecrets(e journal.Entry) (journal.Entry, error) {
	if e.Begin != nil {
		return e, errNotBegun
	}
	e.Add, e.Amend = withoutSecrets(e.Add), withoutSecrets(e.Amend)
	return e, nil
}

// withoutSecrets returns resources with every secret left out.
func withoutSecrets(list []journal.Amended) []journal.Amended {
	kept := make([]journal.Amended, len(list))
	for i, a := range list {
		kept[i] = journal.Amended{ID: a.ID, Resource: a.Resource.WithoutSecrets()}
	}
	return kept
}

// losses are the results that providers reported and that the next run may not learn of, because the lock was lost
// before they were known to be journaled. The zero value has none. It is safe for concurrent use.
type losses struct {
	mu  sync.Mutex
	all []Unrecorded
}

// note takes what an entry tells if the lock was lost.
func (l *losses) note(e journal.Entry, err error) {
	if !errors.As(err, new(*LockLostError)) || e.Begin != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range e.Add {
		if a.Resource.Custom && a.Resource.ID != "" && !a.Resource.IsProvider() {
			l.all = append(l.all, Unrecorded{a.Resource.URN, a.Resource.ID})
		}
	}
}

// tell adds to a lost lock what the next run may not learn; other errors it leaves as they are.
func (l *losses) tell(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lost *LockLostError
	if !errors.As(err, &lost) || len(l.all) == 0 {
		return err
	}
	told := *lost
	told.Unrecorded = slices.Clone(l.all)
	return &told
}

// Commit ends the session. It writes final as the state unless the file has it already; a nil final stands for the
// state that the journal describes. It writes record into the history unless record is nil, drops the journal and
// releases the lock. It goes on when ctx is cancelled. A final snapshot that is not sound is written nevertheless,
// marked as such (E6.51), and gives a *state.IntegrityError. When the state cannot be written, the journal stays and
// the next command finds it.
func (s *Session) Commit(_ context.Context, final *state.Snapshot, record *Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the operation has ended already")
	}
	status := "succeeded"
	if record != nil {
		status = record.Result
	}
	return s.end(true, final, record, status)
}

// end gives everything back, after it has written the final state if write is set. The caller holds the session's
// mutex.
func (s *Session) end(write bool, final *state.Snapshot, record *Record, status string) error {
	s.closed = true
	s.file.end()
	if s.held.remote != nil {
		s.held.remote.retry()
	}
	var unsound, err error
	if write {
		unsound, err = s.finish(final)
	}
	if err == nil && record != nil {
		err = s.held.look()
	}
	s.watched.flush() // a service takes no events once the operation has ended
	switch {
	case err != nil:
	case s.held.remote != nil:
		err = s.held.remote.complete(status)
	case record != nil:
		err = s.state.historyOf(s.ref).add(record, s.file.current().raw)
	}
	return errors.Join(unsound, s.losses.tell(s.held.explain(err)), s.held.release())
}

// finish writes the final state and drops the journal; nil stands for the state that the journal describes. unsound
// is the fault of a state that is not sound; it is written nevertheless. The caller holds the session's mutex.
func (s *Session) finish(final *state.Snapshot) (unsound, err error) {
	if final == nil {
		if final, err = s.replayer.Snapshot(); err != nil {
			return nil, err
		}
	}
	if final, err = final.Normalize(); err != nil {
		return nil, err
	}
	marked := *final
	marked.Manifest = s.state.manifest() // the one that is written
	unsound = marked.Verify()
	if marked.Metadata, err = integrityNote(final.Metadata, unsound, s.state.o.Version, s.o.Command); err != nil {
		return unsound, err
	}
	if s.log == nil && s.file.same(&marked) {
		s.wrote = true
		return unsound, s.held.look()
	}
	w := stateWrite{snapshot: &marked, log: s.log, last: true}
	if s.log != nil {
		w.size = s.log.Size()
	}
	if err := s.file.replace(w); err != nil {
		return unsound, err
	}
	s.wrote = true
	return unsound, s.dropLog(s.log)
}

// dropLog removes the journal, if there is one, once the state file holds it all.
func (t sessionTools) dropLog(log *journal.Log) error {
	if log == nil {
		return nil
	}
	if t.held.chain != nil {
		return t.held.explain(errors.Join(log.Close(), t.held.chain.dropAll()))
	}
	path := t.state.journalOf(t.ref).journalFile()
	remove := disk.RemoveDurably
	if log.Err() == nil { // a crash may bring it back: its last note says that the state file holds it all
		remove = disk.RemoveIfThere
	}
	closing := log.Close()
	err := remove(t.state.disk, path)
	// a disk that failed once is asked again: what stays behind is in the way of nobody, but puzzles people
	if err != nil && !errors.As(err, new(*LockLostError)) {
		err = remove(t.state.disk, path)
	}
	return fileError("remove the journal", path, errors.Join(closing, err))
}

// Close ends a session that was not committed. Without entries it only gives the lock back; with some, it writes what
// they say, without a record in the history. After Commit it does nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	return s.end(s.log != nil, nil, nil, "failed")
}

// integrityNote sets or clears metadata.integrity_error (F5.6, E6.51).
func integrityNote(metadata json.RawMessage, fault error, version, command string) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if len(metadata) > 0 {
		if err := json.Unmarshal(metadata, &members); err != nil {
			return nil, err
		}
	}
	if _, noted := members["integrity_error"]; fault == nil && !noted {
		return metadata, nil
	}
	delete(members, "integrity_error")
	if fault != nil {
		note, err := compactJSON(struct {
			Version string `json:"version"`
			Command string `json:"command"`
			Error   string `json:"error"`
		}{version, command, fault.Error()})
		if err != nil {
			return nil, err
		}
		members["integrity_error"] = note
	}
	return compactJSON(members)
}

// Rescue returns a state that could not be written, as stack import takes it, with secrets sealed. complete says that
// the journal has everything as well, so that the next run needs no help.
func (s *Session) Rescue(final *state.Snapshot) (text []byte, complete bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if final == nil {
		if final, err = s.replayer.Snapshot(); err != nil {
			return nil, false, err
		}
	}
	text, err = s.rescue(final)
	if err != nil { // what cannot be written as a state cannot be rescued as one: the journal knows almost as much
		known, failed := s.replayer.Snapshot()
		if failed != nil {
			return nil, false, errors.Join(err, failed)
		}
		if text, failed = s.rescue(known); failed != nil {
			return nil, false, errors.Join(err, failed)
		}
		err = nil
	}
	return text, s.log != nil && s.log.Err() == nil, err
}

// rescue returns a snapshot as stack export prints it.
func (t sessionTools) rescue(final *state.Snapshot) ([]byte, error) {
	kept := *final
	kept.Manifest = t.state.manifest()
	if t.sealer != nil && t.sealer.Type() != "" {
		kept.SecretsProvider = &state.SecretsProvider{Type: t.sealer.Type(), State: t.sealer.State()}
	}
	return state.EncodeExport(&kept, state.Sealed(t.sealer))
}
