package backend

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// defaultLeastJournal is the size of a journal below which the state file is not rewritten in between, however small
// that is.
const defaultLeastJournal = 1 << 20

// BeginOptions are the options of Begin.
type BeginOptions struct {
	Command string          // the command for the journal: update, destroy, …
	Secrets secrets.Manager // seals secrets on writing; nil if the stack can have no secrets
	Open    state.Opener    // opens secrets on reading; nil leaves them sealed, which is enough to edit other things
	// SkipIntegrity begins also on a state that is not sound (E6.50), to repair it.
	SkipIntegrity bool
	// Salvage continues with the readable parts of a damaged journal. Recovery.Missing describes the missing ones.
	Salvage bool
	NoSync  bool // see journal.LogOptions
	// Record has the parts of the history's record that are known when the operation begins; a service shows them. It
	// may be nil.
	Record *Record
}

// Session is one operation on a stack, from taking its lock to releasing it. It is the operation's journal.
//
// Rule for the state file: Commit writes it. In between it is written when the journal has outgrown both the file and
// a megabyte, and at least 30 seconds have passed since the last write. The total cost is therefore linear in the size
// of the journal. Steps continue during a write. A crash at any moment loses nothing that Append has acknowledged.
//
// Append is safe for concurrent use; Commit and Close are for the end, when no Append is under way.
type Session struct {
	tools sessionTools
	base  *state.Snapshot // the state at the beginning

	// Found when the state was read:
	recovered *Recovery
	moved     []urn.URN
	altered   bool

	mu       sync.Mutex // guards the fields below; taken before the mutex of file
	replayer *journal.Replayer
	log      *journal.Log // nil before the first entry
	closed   bool
	wrote    bool // the state file has the final state
	watched  *Watched

	file   *stateWriter
	losses losses
}

// sessionTools are shared by a session and its stateWriter. They never change.
type sessionTools struct {
	schedule schedule
	state    stackState // fenced: it changes nothing once the lock is lost
	ref      Ref
	held     holder
	o        BeginOptions
	sealer   secrets.Manager // o.Secrets with a memory of ciphertexts
}

// newTools returns the tools of a session under a lock. sealer is o.Secrets with a memory; see remembering.
func newTools(s schedule, st stackState, held holder, o BeginOptions, sealer secrets.Manager) sessionTools {
	return sessionTools{schedule: s, state: st, ref: st.ref, held: held, o: o, sealer: sealer}
}

// remembering returns a manager with a memory of ciphertexts, which reading and writing share; nil for nil.
func remembering(m secrets.Manager) secrets.Manager {
	if m == nil {
		return nil
	}
	return state.Remembering(m)
}

var _ journal.Journal = (*Session)(nil)

// Begin takes a stack's lock, applies the journal of a crashed run to the state file, and reads it. The caller must end
// the session with Commit or Close. Errors, after which nothing is locked: *LockedError, *NotFoundError, *CorruptError,
// *FileError, *state.VersionError, *state.IntegrityError, and the errors of opening secrets.
func (b *Backend) Begin(ctx context.Context, r Ref, o BeginOptions) (_ *Session, err error) {
	if r, err = b.named(ctx, r); err != nil {
		return nil, err
	}
	if h, ok := b.hosted(); ok {
		return h.begin(ctx, r, o)
	}
	if err := b.files.stateOf(r).missing(); err != nil { // before the lock, which would write
		return nil, err
	}
	held, err := b.files.locksOf(r).lockToRecover(ctx)
	if err != nil {
		return nil, err
	}
	s, err := newTools(b.schedule, held.fenced().stateOf(r), held, o, remembering(o.Secrets)).load()
	if err != nil {
		return nil, errors.Join(held.explain(b.files.stateOf(r).withPrevious(err)), held.release())
	}
	return s, nil
}

// load reads the state under the lock. It removes half-written files, applies the journal to the state file, and then
// reads that. If resources are out of order, it writes them in order before anything is journaled.
func (t sessionTools) load() (*Session, error) {
	if err := t.state.files.locksOf(t.ref).sweep(); err != nil { // before the state is read: see fencedDisk
		return nil, err
	}
	file, err := t.state.current()
	if err != nil {
		return nil, err
	}
	recovered, file, err := t.held.recover(file, t.o.Salvage)
	if err != nil {
		return nil, err
	}
	c, err := file.decode(t.opener())
	if err != nil {
		return nil, err
	}
	file.written = snapshotOf(c).Manifest.Time
	s := &Session{tools: t, recovered: recovered, altered: file.altered(), file: t.writer(file, c)}
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

// beginFrom sets the snapshot that the journal refers to.
func (s *Session) beginFrom(base *state.Snapshot) {
	s.base, s.replayer = base, journal.NewReplayer(base)
	s.tools.held.begin(base)
}

// Altered reports whether the checksum of the state file was wrong by more than one bit: somebody has edited the file,
// or it is damaged.
func (s *Session) Altered() bool { return s.altered }

// Moved returns the resources that came after their dependents in the state file, and were moved before them.
func (s *Session) Moved() []urn.URN { return s.moved }

// opener returns o.Open, but makes reading and writing share a memory of ciphertexts if they use the same manager.
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

// Written reports whether the state file has the state of Commit or Close, even if these returned an error.
func (s *Session) Written() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote
}

// Watched returns the receiver of events that a service shows; nil without a service.
func (s *Session) Watched() *Watched { return s.watched }

// Base returns the state at the beginning. The caller must not modify it.
func (s *Session) Base() *state.Snapshot { return s.base }

// Recovered describes what a crashed run had left; nil if nothing.
func (s *Session) Recovered() *Recovery { return s.recovered }

// ResolvePending durably replaces the state that the session began with by one that resolves the pending operations of
// earlier runs. It fails once anything was journaled.
func (s *Session) ResolvePending(_ context.Context, base *state.Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.log != nil {
		return errors.New("the operation is under way; pending operations of earlier runs can no longer be resolved")
	}
	if err := s.file.replace(stateWrite{snapshot: base}); err != nil {
		return s.tools.held.explain(err)
	}
	s.beginFrom(base)
	return nil
}

// Append makes an entry durable and applies it to the state in memory. It ignores a cancelled ctx, because an entry
// records what has happened. An entry that does not fit the ones before it gives an error and is not written.
func (s *Session) Append(_ context.Context, e journal.Entry) error {
	record, e, sealing, err := s.tools.encode(e)
	if err != nil {
		return err
	}
	if e.Begin != nil {
		// Once the lock is lost, the end of a step may still reach the next run. The beginning of a step is refused.
		if err := s.tools.held.check(); err != nil {
			return s.tools.refusal(err)
		}
	}
	wait, err := s.put(e, func(log *journal.Log) func() error { return log.Put(record, s.tools.mustHoldLockAfter(e)) })
	if err == nil {
		err = wait()
	}
	if err != nil {
		if e.Begin != nil && s.tools.held.journaling().forwards {
			// The local copy may have the beginning of the step, which is not taken.
			_ = s.Defer(context.Background(), journal.Entry{Step: e.Step})
		}
		s.losses.note(e, err)
		return s.tools.refusal(err)
	}
	if e.Begin == nil { // no delay between the last look at the lock and the call of a provider
		s.checkpointIfDue()
	}
	return sealing
}

// Held returns an error unless this run still holds the stack.
func (s *Session) Held(ctx context.Context) error {
	if err := s.tools.held.hold(ctx); err != nil {
		return s.tools.refusal(err)
	}
	return nil
}

// Defer applies an entry that becomes durable only before the entries that are appended later. In a store it is Append,
// because the order of writes in flight is not guaranteed there.
func (s *Session) Defer(ctx context.Context, e journal.Entry) error {
	if !s.tools.held.journaling().inOrder || e.Begin != nil {
		return s.Append(ctx, e)
	}
	record, e, sealing, err := s.tools.encode(e)
	if err != nil {
		return err
	}
	wait, err := s.put(e, func(log *journal.Log) func() error {
		return log.PutDeferred(record, s.tools.mustHoldLockAfter(e), func(err error) { s.losses.note(e, err) })
	})
	if err == nil {
		err = wait()
	}
	if err != nil {
		return s.tools.refusal(err)
	}
	s.checkpointIfDue()
	return sealing
}

// refusal returns the error of an entry that could not be written, a refusedEntry if the lock was lost.
func (t sessionTools) refusal(err error) error {
	err = t.held.explain(err)
	if lost, ok := errors.AsType[*LockLostError](err); ok {
		return refusedEntry{lost}
	}
	return err
}

// mustHoldLockAfter reports whether the lock has to be held after an entry is durable. The next run reads the journal
// after the lock was lost, so if the lock is still held, it will find the entry.
func (t sessionTools) mustHoldLockAfter(e journal.Entry) bool {
	return e.Begin != nil || t.held.journaling().mustHoldLockAfterEnd
}

// encode returns the record of an entry. If its secrets cannot be sealed, sealing is the reason and the record of the
// end of a step lacks them.
func (t sessionTools) encode(e journal.Entry) (record journal.Record, encoded journal.Entry, sealing, err error) {
	if memory, ok := t.sealer.(*state.Memory); ok && t.held.journaling().forwards { // each secret takes a call
		times := 1
		if e.Begin != nil {
			times = 2 // the provider's answer usually repeats the inputs, and its entry then needs no call
		}
		memory.Rehearse(times, func(m secrets.Manager) error {
			_, err := journal.Encode(e, m)
			return err
		})
	}
	if record, sealing = journal.Encode(e, t.sealer); sealing == nil {
		return record, e, nil, nil
	}
	if e.Begin != nil { // a step that cannot be recorded must not be taken
		return nil, e, nil, errors.Join(sealing, errNotBegun)
	}
	// A missing passphrase must not lose the result of a provider call: write the entry without its secrets.
	e.Add, e.Amend = withoutSecrets(e.Add), withoutSecrets(e.Amend)
	if record, err = journal.Encode(e, t.sealer); err != nil {
		return nil, e, nil, errors.Join(sealing, err)
	}
	return record, e, sealing, nil
}

// put applies an entry to the state in memory, and passes it to the log in the same order, so that every entry in the
// log fits the ones before.
func (s *Session) put(e journal.Entry, put func(*journal.Log) (wait func() error)) (wait func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the operation has ended; nothing more can be journaled")
	}
	if s.log == nil {
		if s.log, err = s.tools.newLog(s.file.current().identity, s.base.SecretsProvider); err != nil {
			return nil, err
		}
	}
	if err := s.replayer.Apply(e); err != nil {
		return nil, err
	}
	if err := s.tools.held.apply(e); err != nil {
		return nil, err
	}
	return put(s.log), nil
}

// newLog begins a journal that refers to the state file base, with its secrets provider.
func (t sessionTools) newLog(base journal.Identity, provider *state.SecretsProvider) (*journal.Log, error) {
	own := t.state.files.o
	header := journal.Header{
		Stack: t.ref.QualifiedName(), Base: base, Secrets: provider,
		PID: own.Process.PID, Host: own.Process.Host, Started: own.Now().UTC(), Command: t.o.Command,
	}
	o := journal.LogOptions{Secrets: t.sealer, NoSync: t.o.NoSync, Check: t.held.check, Deferral: t.schedule.deferral}
	return t.held.create(header, o)
}

// errNotBegun is returned when a step was not begun because it could not be recorded; nothing has happened.
var errNotBegun = errors.New("the step was not begun")

// withoutSecrets returns resources with null for every secret, and a note of that.
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

// note adds the objects of an entry if err is a lost lock.
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

// tell adds the losses to a *LockLostError. It returns other errors unchanged.
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
// releases the lock. It ignores a cancelled ctx. A final snapshot that is not sound is written nevertheless,
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

// end releases everything, after it has written the final state if write is set. The caller holds the session's mutex.
func (s *Session) end(write bool, final *state.Snapshot, record *Record, status string) error {
	s.closed = true
	s.file.end()
	s.tools.held.retry()
	var unsound, err error
	var ending *ending
	if write {
		if final, unsound, err = s.finish(final); err == nil {
			ending = s.file.ending(final)
		}
	}
	s.watched.flush() // a service takes no events once the operation has ended
	if err == nil {
		err = s.tools.held.complete(record, status, ending)
	}
	return errors.Join(unsound, s.losses.tell(s.tools.held.explain(err)), s.tools.held.release())
}

// finish writes the final state, which it returns, and drops the journal; nil stands for the state that the journal
// describes. unsound is the fault of a state that is written although it is not sound. The caller holds the session's
// mutex.
func (s *Session) finish(final *state.Snapshot) (written *state.Snapshot, unsound, err error) {
	if final == nil {
		if final, err = s.replayer.Snapshot(); err != nil {
			return nil, nil, err
		}
	}
	if final, err = final.Normalize(); err != nil {
		return nil, nil, err
	}
	marked := *final
	marked.Manifest = s.tools.state.files.manifest() // as it will be written
	unsound = marked.Verify()
	version := s.tools.state.files.o.Version
	if marked.Metadata, err = integrityNote(final.Metadata, unsound, version, s.tools.o.Command); err != nil {
		return nil, unsound, err
	}
	if s.log == nil && s.file.same(&marked) {
		s.wrote = true
		return final, unsound, nil
	}
	w := stateWrite{snapshot: &marked, log: s.log, last: true}
	if s.log != nil {
		w.size = s.log.Size()
	}
	if err := s.file.replace(w); err != nil {
		return nil, unsound, err
	}
	s.wrote = true
	if s.log == nil {
		return final, unsound, nil
	}
	return final, unsound, s.tools.held.drop(s.log)
}

// Close ends a session that was not committed. Without entries it only releases the lock; with some, it writes the
// state that they describe, without a record in the history. After Commit it does nothing.
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

// Rescue returns a state that could not be written, in the form for stack import, with secrets sealed. complete reports
// whether the journal has everything as well, so that the next run recovers by itself.
func (s *Session) Rescue(final *state.Snapshot) (text []byte, complete bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if final == nil {
		if final, err = s.replayer.Snapshot(); err != nil {
			return nil, false, err
		}
	}
	text, err = s.tools.rescue(final)
	if err != nil { // a state that cannot be encoded cannot be rescued: the journal has almost the same
		known, failed := s.replayer.Snapshot()
		if failed == nil {
			text, failed = s.tools.rescue(known)
		}
		if failed != nil {
			return nil, false, errors.Join(err, failed)
		}
	}
	return text, s.log != nil && s.log.Err() == nil, nil
}

// rescue returns a snapshot in the form of stack export.
func (t sessionTools) rescue(final *state.Snapshot) ([]byte, error) {
	kept := *final
	kept.Manifest = t.state.files.manifest()
	if t.sealer != nil && t.sealer.Type() != "" {
		kept.SecretsProvider = &state.SecretsProvider{Type: t.sealer.Type(), State: t.sealer.State()}
	}
	return state.EncodeExport(&kept, state.Sealed(t.sealer))
}
