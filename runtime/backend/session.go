package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

const (
	defaultInterval = 30 * time.Second
	// defaultLeastJournal is what a journal may grow to before the state file is rewritten in between, however small that
	// is.
	defaultLeastJournal = 1 << 20
)

// BeginOptions say what an operation needs of a session.
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
}

// Session is one operation on a stack, from taking its lock to giving it back. It is the operation's journal.
//
// Rule for the state file: it is written by Commit, and in between when the journal has outgrown both it and a megabyte
// and at least Options.CheckpointInterval has passed since it was written last. What that costs in all is therefore
// linear in what was journaled. Steps go on meanwhile. A crash at any moment loses nothing that Append has
// acknowledged.
//
// Append is safe for concurrent use; Commit and Close are for the end, when no Append is under way.
type Session struct {
	b         *Backend
	ref       Ref
	held      *heldLock
	o         BeginOptions
	sealer    secrets.Manager // o.Secrets with a memory of ciphertexts
	base      *state.Snapshot
	recovered *Recovery
	moved     []urn.URN
	altered   bool

	mu         sync.Mutex // guards what follows
	checkpoint state.Checkpoint
	file       stored
	replayer   *journal.Replayer
	log        *journal.Log // nil before the first entry
	written    time.Time    // when the state file was written last
	closed     bool
	wrote      bool      // the state file, at the end
	covered    int64     // the size of the journal up to which the state file holds it
	writing    bool      // the state file is being written in between
	idle       sync.Cond // signalled when writing ends

	losses losses
}

var _ journal.Journal = (*Session)(nil)

// Begin takes a stack's lock, brings the state file up to what a crashed run has journaled, and reads it. The caller
// must end the session with Commit or Close. Errors, after which nothing is locked: *LockedError, *NotFoundError,
// *CorruptError,
// *FileError, *state.VersionError, *state.IntegrityError, and whatever opening a secret gives.
func (b *Backend) Begin(ctx context.Context, r Ref, o BeginOptions) (_ *Session, err error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := b.locate(r); err != nil { // before the lock, which would write
		return nil, err
	}
	held, err := b.locksOf(r).lock(ctx)
	if err != nil {
		return nil, err
	}
	s := &Session{b: held.fenced, ref: r, held: held, o: o, sealer: o.Secrets, written: b.o.Now()}
	s.idle.L = &s.mu
	if o.Secrets != nil {
		s.sealer = state.Remembering(o.Secrets)
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(held.explain(b.withPrevious(r, err)), held.release())
	}
	return s, nil
}

func (s *Session) load() error {
	if err := s.b.locksOf(s.ref).sweep(); err != nil { // before the state is read: see fencedDisk
		return err
	}
	file, err := s.b.current(s.ref)
	if err != nil {
		return err
	}
	if s.b.objects != nil {
		s.recovered, file, err = s.b.journalOf(s.ref).recoverObjects(s.held, file, s.o.Salvage)
	} else {
		s.recovered, file, err = s.b.journalOf(s.ref).recover(file, s.o.Salvage)
	}
	if err != nil {
		return err
	}
	c, err := file.decode(s.opener())
	if err != nil {
		return err
	}
	s.altered = file.altered()
	base := snapshotOf(c)
	s.checkpoint, s.file, s.base, s.replayer = *c, file, base, journal.NewReplayer(base)
	if s.o.SkipIntegrity {
		return nil
	}
	sound, moved, err := base.InOrder()
	if err != nil || sound == base {
		return err
	}
	// What is journaled goes by the places of resources in the file, so that the file comes first.
	if err := s.replace(sound); err != nil {
		return err
	}
	s.base, s.replayer, s.checkpoint.Snapshot, s.moved = sound, journal.NewReplayer(sound), sound, moved
	return nil
}

// Altered reports whether the state file was not what yamlhost wrote, nor what another program would have: somebody has
// edited it, or it is damaged in more than one bit.
func (s *Session) Altered() bool { return s.altered }

// Moved are the resources that came after what depends on them in the state file, and were moved to the front of it.
func (s *Session) Moved() []urn.URN { return s.moved }

// opener lets what is read and what is written share a memory of ciphertexts when one manager does both.
func (s *Session) opener() state.Opener {
	if s.o.Open == nil {
		return nil
	}
	return func(p state.SecretsProvider) (secrets.Manager, error) {
		m, err := s.o.Open(p)
		if err != nil || s.sealer == nil {
			return m, err
		}
		if p.Type == s.sealer.Type() && string(p.State) == string(s.sealer.State()) {
			return s.sealer.(*state.Memory).Through(m), nil
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

// Base is the state at the beginning. The caller must not modify it.
func (s *Session) Base() *state.Snapshot { return s.base }

// Recovered tells what a crashed run had left; nil if nothing.
func (s *Session) Recovered() *Recovery { return s.recovered }

// Settle replaces the state that the session began with, durably and before anything is journaled: by what became of
// the operations that an earlier run left in flight.
func (s *Session) Settle(_ context.Context, base *state.Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.log != nil {
		return errors.New("the operation is under way; what came before it cannot be settled any more")
	}
	if err := s.replace(base); err != nil {
		return s.held.explain(err)
	}
	s.base, s.replayer, s.checkpoint.Snapshot = base, journal.NewReplayer(base), base
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
		s.losses.note(e, err)
		return s.losses.tell(s.held.explain(err))
	}
	if e.Begin == nil { // nothing comes between the last look at the lock and the call of a provider
		s.checkpointIfDue()
	}
	return sealing
}

// Defer takes an entry into account that is durable before any other that is appended later. In a store it is Append:
// there the order of what is on the way to be written is nobody's promise.
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
func (s *Session) looksAfter(e journal.Entry) bool { return e.Begin != nil || s.held.lease == nil }

// encode makes a record of an entry. sealing is why its secrets are not in it.
func (s *Session) encode(e journal.Entry) (record journal.Record, encoded journal.Entry, sealing, err error) {
	if record, sealing = journal.Encode(e, s.sealer); sealing == nil {
		return record, e, nil, nil
	}
	// What a provider has done must not be lost because a passphrase is missing: the entry goes in without its secrets.
	if e, err = withholdSecrets(e); err == nil {
		record, err = journal.Encode(e, s.sealer)
	}
	if err != nil {
		return nil, e, nil, errors.Join(sealing, err)
	}
	return record, e, sealing, nil
}

func (s *Session) put(e journal.Entry, put func(*journal.Log)) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the operation has ended; nothing can be journaled any more")
	}
	if s.log == nil {
		if s.log, err = s.newLog(); err != nil {
			return err
		}
	}
	if err := s.replayer.Apply(e); err != nil {
		return err
	}
	put(s.log)
	return nil
}

// newLog begins the journal. It is called with the lock held.
func (s *Session) newLog() (*journal.Log, error) {
	o := journal.LogOptions{Secrets: s.sealer, NoSync: s.o.NoSync, Check: s.held.look, Deferral: s.b.deferral}
	if s.held.chain != nil {
		s.held.chain.begin()
		log, err := journal.Create(s.held.chain, s.header(), o)
		return log, s.held.explain(err)
	}
	path := s.b.journalOf(s.ref).file()
	failed := func(err error) error { return &FileError{Doing: "begin the journal", Path: path, Err: err} }
	tmp := disk.Temporary(path)
	f, err := s.b.disk.Create(tmp)
	if err != nil {
		return nil, failed(err)
	}
	log, err := journal.Create(f, s.header(), o)
	if err == nil {
		err = s.b.disk.Rename(tmp, path)
	}
	if err == nil {
		err = s.b.disk.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		err = errors.Join(err, f.Close())
		_ = s.b.disk.Remove(tmp) // best effort: the fault that matters is err
		return nil, failed(err)
	}
	return log, nil
}

func (s *Session) header() journal.Header {
	return journal.Header{
		Stack: s.ref.QualifiedName(), Base: s.file.identity, Secrets: s.base.SecretsProvider,
		PID: s.b.o.Process.PID, Host: s.b.o.Process.Host, Started: s.b.o.Now().UTC(), Command: s.o.Command,
	}
}

// checkpointIfDue begins to write the state file in between, by the rule of Session, and does not wait for it. When
// that fails the journal simply goes on: it holds everything, and Commit will say what is wrong.
func (s *Session) checkpointIfDue() {
	w, due := s.due()
	if !due {
		return
	}
	s.b.background(func() {
		file, err := s.write(w)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.writing = false; err == nil {
			s.file, s.covered = file, w.size
		}
		s.idle.Broadcast()
	})
}

// due is what has to be written in between, if anything. The caller writes it.
func (s *Session) due() (w stateWrite, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	interval := s.b.o.CheckpointInterval
	if interval == 0 {
		interval = defaultInterval
	}
	if s.closed || s.log == nil || s.writing || s.log.Size()-s.covered <= max(int64(len(s.file.raw)), s.b.leastJournal) {
		return w, false
	}
	now := s.b.o.Now()
	if now.Before(s.written) { // somebody has set the clock back
		s.written = now
	}
	if now.Sub(s.written) < interval {
		return w, false
	}
	s.written = now // also when it fails, so that it is not tried at every step
	snapshot, origin, err := s.replayer.Checkpoint()
	if err != nil {
		return w, false
	}
	s.writing = true
	return stateWrite{snapshot: snapshot, origin: origin, over: s.file, log: s.log, size: s.log.Size()}, true
}

// stateWrite is a snapshot that becomes the state file.
type stateWrite struct {
	snapshot *state.Snapshot
	over     stored       // what it takes the place of
	log      *journal.Log // nil without a journal
	// What the snapshot holds of the journal: everything up to a size of it, and how it continues its numbering.
	size   int64
	origin journal.Origin
	last   bool // nothing is journaled any more
}

// write makes a snapshot the state file. A journal, if there is one, says first what of it the file holds. It needs no
// lock of the session, but at most one is under way at a time.
func (s *Session) write(w stateWrite) (stored, error) {
	c := s.next(w.snapshot)
	text, err := state.EncodeCheckpoint(&c, s.sealer)
	if err != nil {
		return stored{}, err
	}
	p, err := s.b.pack(text, w.over)
	if err != nil {
		return stored{}, err
	}
	if w.log == nil {
		if err := s.held.guard(); err != nil {
			return stored{}, err
		}
	} else {
		if err := s.held.look(); err != nil {
			return stored{}, s.held.explain(err)
		}
		if err := w.log.Covered(p.identity, w.origin, w.size); err != nil {
			if !w.last || s.held.chain != nil { // in a store it is the journal that says whether the lock is still held
				return stored{}, s.held.explain(err)
			}
			// At the end the state file matters more than a journal that cannot be written any more. Another file in its place
			// can say what it could not; without that, should it stay, it would look like one that does not fit.
			_ = s.b.journalOf(s.ref).coverJournal(p.identity)
		}
	}
	if s.held.lease != nil && w.log != nil { // for a folder, fencedDisk looks
		if err := s.held.look(); err != nil {
			return stored{}, s.held.explain(err)
		}
	}
	file, err := s.b.putState(s.ref, p, w.over)
	if err != nil {
		return stored{}, s.held.foreign(err)
	}
	return file, nil
}

// same reports whether the state file is what would be written, but for the time and the order of resources: those that
// do not change come in the order in which they were registered, which differs from run to run. The caller holds the
// session's mutex.
func (s *Session) same(snapshot *state.Snapshot) bool {
	plain, err := unpack(s.file.raw)
	if err != nil || s.base == nil || s.file.path != s.b.stackPath(s.ref, s.b.packing(s.file)) {
		return false
	}
	next := s.next(snapshot)
	if next.Snapshot.Resources = inOrderOf(s.base.Resources, snapshot.Resources); next.Snapshot.Resources == nil {
		return false
	}
	next.Snapshot.Manifest.Time = s.base.Manifest.Time
	text, err := state.EncodeCheckpoint(&next, s.sealer)
	return err == nil && bytes.Equal(sealed(text), plain)
}

// inOrderOf are resources in the order of others with the same names and IDs; nil if there are no such others for each
// of them.
func inOrderOf(others, resources []*state.Resource) []*state.Resource {
	type name struct {
		urn     urn.URN
		id      string
		deleted bool
	}
	nameOf := func(r *state.Resource) name { return name{r.URN, r.ID, r.Delete} }
	byName := make(map[name]*state.Resource, len(resources))
	for _, r := range resources {
		byName[nameOf(r)] = r
	}
	if len(byName) != len(others) || len(resources) != len(others) {
		return nil
	}
	ordered := make([]*state.Resource, len(others))
	for i, r := range others {
		if ordered[i] = byName[nameOf(r)]; ordered[i] == nil {
			return nil
		}
		delete(byName, nameOf(r))
	}
	return ordered
}

// next is a state file with a snapshot, as of now.
func (s *Session) next(snapshot *state.Snapshot) state.Checkpoint {
	latest, c := *snapshot, s.checkpoint
	latest.Manifest = s.b.manifest()
	latest.Manifest.Unknown = snapshot.Manifest.Unknown
	c.Stack, c.Snapshot = s.ref.QualifiedName(), &latest
	return c
}

// replace writes a snapshot as the state before anything is journaled, or at the end. The caller holds the session's
// mutex.
func (s *Session) replace(snapshot *state.Snapshot) error {
	w := stateWrite{snapshot: snapshot, over: s.file, log: s.log, last: s.closed}
	if s.log != nil {
		w.size = s.log.Size()
	}
	file, err := s.write(w)
	if err == nil {
		s.file = file
	}
	return err
}

// end marks the session as ended and waits for a state file that is being written. The caller holds the session's
// mutex.
func (s *Session) end() {
	s.closed = true
	for s.writing {
		s.idle.Wait()
	}
}

// Commit ends the session: it writes final as the state unless that is what the file has, or what the journal says if
// final is nil, and record into the history unless that is nil, drops the journal and gives the lock back. It goes on
// when ctx is cancelled. A final snapshot that is not sound is written nevertheless, marked as such (E6.51), and gives
// a *state.IntegrityError. When the state cannot be written, the journal stays and the next command finds it.
func (s *Session) Commit(_ context.Context, final *state.Snapshot, record *Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the operation has ended already")
	}
	s.end()
	unsound, err := s.finish(final)
	if err == nil && record != nil {
		err = s.held.look()
	}
	if err == nil && record != nil {
		err = s.b.historyOf(s.ref).add(record, s.file.raw)
	}
	return errors.Join(unsound, s.losses.tell(s.held.explain(err)), s.held.release())
}

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
	marked.Manifest = s.b.manifest() // the one that is written
	unsound = marked.Verify()
	if marked.Metadata, err = integrityNote(final.Metadata, unsound, s.b.o.Version, s.o.Command); err != nil {
		return unsound, err
	}
	if s.log == nil && s.same(&marked) {
		s.wrote = true
		return unsound, s.held.look()
	}
	if err := s.replace(&marked); err != nil {
		return unsound, err
	}
	s.wrote = true
	return unsound, s.dropLog()
}

// dropLog removes the journal once the state file holds it all.
func (s *Session) dropLog() error {
	if s.log == nil {
		return nil
	}
	if s.held.chain != nil {
		return s.held.explain(errors.Join(s.log.Close(), s.held.chain.dropAll()))
	}
	path := s.b.journalOf(s.ref).file()
	closing := s.log.Close()
	err := disk.RemoveDurably(s.b.disk, path)
	// a disk that failed once is asked again: what stays behind is in the way of nobody, but puzzles people
	if err != nil && !errors.As(err, new(*LockLostError)) {
		err = disk.RemoveDurably(s.b.disk, path)
	}
	if err = errors.Join(closing, err); err != nil {
		return &FileError{Doing: "remove the journal", Path: path, Err: err}
	}
	return nil
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

// Close ends a session that was not committed. Without entries it only gives the lock back; with some, it writes what
// they say, without a record in the history. After Commit it does nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.end()
	var unsound, err error
	if s.log != nil {
		unsound, err = s.finish(nil)
	}
	return errors.Join(unsound, s.losses.tell(s.held.explain(err)), s.held.release())
}
