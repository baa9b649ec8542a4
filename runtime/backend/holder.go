package backend

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// holder is the lock that this run holds on a stack, with the journal and the state that only its holder writes. Each
// kind of backend has its own: *folderLock, *storeLock and *serviceLock. It is safe for concurrent use, apart from
// recover and release.
type holder interface {
	// fenced returns the files of the backend for the holder: they change nothing once the lock is lost.
	fenced() *files
	// checkHeld checks that the lock is still held (D14). A *LockLostError is final: each later call returns it again.
	// Any other error means that it could not find out.
	checkHeld() error
	// check is checkHeld for the entries of a journal.
	check() error
	// hold is checkHeld right before a call of a provider. It asks only if the last answer is old: between the record
	// of a step's beginning and the call a hook may run, and the process may be stopped, for any time.
	hold(ctx context.Context) error
	// guard checks that the lock is held before something is written that no journal announces.
	guard() error
	// explain replaces an error that a lost lock has caused by the *LockLostError.
	explain(error) error
	// foreign explains an ErrChanged from writing the state: either the lock is lost, or a program that does not know
	// leases has written the state.
	foreign(error) error
	// release gives the lock back.
	release() error

	// journaling describes how the journal is written.
	journaling() journaling
	// recover applies the journals that earlier runs left to the state file.
	recover(file stored, salvage bool) (*Recovery, stored, error)
	// noteMerged records that nothing is needed any more of what earlier runs journaled.
	noteMerged() error
	// begin sets the snapshot that the journal refers to.
	begin(base *state.Snapshot)
	// create begins the journal.
	create(journal.Header, journal.LogOptions) (*journal.Log, error)
	// apply is called with each entry before it is put into the journal.
	apply(journal.Entry) error
	// beforeState is called before a state file is written, when the journal has noted that.
	beforeState(stateWrite) error
	// drop removes the journal: the state file holds all of it.
	drop(*journal.Log) error

	// retry is called before the final state is written. What failed because something could not be reached may work
	// now.
	retry()
	// complete records the operation, unless record is nil, and ends it with a status. end is nil if nothing was to be
	// written; else the lock must still be held.
	complete(record *Record, status string, end *ending) error
}

// ending is the state at the end of an operation.
type ending struct {
	file     stored
	snapshot *state.Snapshot // what file holds
	begun    stored          // the state file when the operation began; empty for a new stack
}

// journaling holds in what the journals of the kinds of backends differ.
type journaling struct {
	// inOrder reports whether writes become durable in order, so that the end of a step can wait for the next entry.
	inOrder bool
	// mustHoldLockAfterEnd reports whether the lock has to be held after the end of a step is durable, and not only
	// after its beginning. In a store a fence keeps out links that come too late, and with a service the next run finds
	// in the local copy what the service lacks.
	mustHoldLockAfterEnd bool
	// inBetween reports whether the state file is written in between. A service has the state in its journal.
	inBetween bool
	// proves reports whether only a successful write to the journal shows that the lock is held.
	proves bool
	// forwards reports whether entries go to a service from a local copy, so that a secret takes a request, and the
	// copy may have an entry that the service does not.
	forwards bool
}

// lostIn returns the *LockLostError in an error, or the error itself.
func lostIn(err error) error {
	if lost, ok := errors.AsType[*LockLostError](err); ok {
		return lost
	}
	return err
}

// folderLock is a lock in a folder: a lock file. Its journal is a file beside the state.
type folderLock struct {
	files  *files
	safe   *files // see holder.fenced
	ref    Ref
	folder string // of the lock file
	path   string
	text   []byte // the content of the lock file

	mu   sync.Mutex // guards the fields below
	lost error      // final
	seen disk.Stamp // of the lock file when it was last read and its content was text
}

var _ holder = (*folderLock)(nil)

// fence makes the files of the holder: they look at the lock before each change.
func (l *folderLock) fence(checkHeld func() error) {
	l.safe = l.files.on(fencedDisk{Disk: l.files.disk, folder: l.folder, checkHeld: checkHeld})
}

func (l *folderLock) fenced() *files          { return l.safe }
func (l *folderLock) explain(err error) error { return lostIn(err) }
func (l *folderLock) foreign(err error) error { return err }
func (l *folderLock) guard() error            { return l.checkHeld() }
func (l *folderLock) check() error            { return l.checkHeld() }

func (l *folderLock) hold(context.Context) error { return l.checkHeld() }

// checkHeld reads the lock file again only if its stamp has changed.
func (l *folderLock) checkHeld() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	text, now, err := l.files.disk.ReadUnless(l.path, l.seen)
	switch {
	case err == nil && now != (disk.Stamp{}) && now == l.seen:
		return nil // unchanged
	case errors.Is(err, fs.ErrNotExist):
		why := "its lock was removed, by cancel or by hand"
		if _, err := l.files.disk.ReadDir(l.files.root); errors.Is(err, fs.ErrNotExist) {
			why = "the folder " + l.files.root + " is gone; bring it back before the next run"
		}
		l.lost = &LockLostError{Ref: l.ref, Why: why, By: l.successor()}
	case err != nil:
		return &FileError{Doing: "look at the lock", Path: l.path, Err: err}
	case string(text) != string(l.text):
		l.lost = &LockLostError{Ref: l.ref, Why: "its lock was overwritten", By: l.successor()}
	default:
		l.seen = now
	}
	return l.lost
}

// successor returns the present holder of the stack's lock, as user@host; empty if there is none.
func (l *folderLock) successor() string {
	found, err := l.files.locksOf(l.ref).lockFiles("")
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0].User + "@" + found[0].Host
}

func (l *folderLock) release() error { return l.files.remove("remove the lock", l.path) }

func (l *folderLock) journaling() journaling {
	return journaling{inOrder: true, mustHoldLockAfterEnd: true, inBetween: true}
}

func (l *folderLock) recover(file stored, salvage bool) (*Recovery, stored, error) {
	return l.safe.journalOf(l.ref).recover(file, salvage)
}

func (l *folderLock) noteMerged() error            { return nil }
func (l *folderLock) begin(*state.Snapshot)        {}
func (l *folderLock) apply(journal.Entry) error    { return nil }
func (l *folderLock) beforeState(stateWrite) error { return nil } // fencedDisk looks
func (l *folderLock) retry()                       {}

// create begins the journal in a temporary file, which gets its name with the first entry.
func (l *folderLock) create(header journal.Header, o journal.LogOptions) (*journal.Log, error) {
	return l.createIn(header, o, func(f journal.File) journal.File { return f })
}

// createIn is create for a journal that goes through another file too.
func (l *folderLock) createIn(header journal.Header, o journal.LogOptions,
	through func(journal.File) journal.File) (*journal.Log, error) {
	path, d := l.safe.journalOf(l.ref).journalFile(), l.safe.disk
	tmp := disk.Temporary(path)
	f, err := d.Create(tmp)
	if err != nil {
		return nil, fileError("begin the journal", path, err)
	}
	name := tmp
	o.Place = func(f journal.File) (journal.File, error) {
		if err := f.Close(); err != nil {
			return nil, err
		}
		if err := d.Rename(tmp, path); err != nil {
			return nil, err
		}
		name = path
		if err := d.SyncDir(filepath.Dir(path)); err != nil {
			return nil, err
		}
		f, err := d.Append(path)
		if err != nil {
			return nil, err
		}
		return through(f), nil
	}
	log, err := journal.Create(through(f), header, o)
	if err != nil {
		// Best effort: the fault that matters is err. A journal without entries would not fit the next state.
		_ = d.Remove(name)
		return nil, fileError("begin the journal", path, err)
	}
	return log, nil
}

func (l *folderLock) drop(log *journal.Log) error {
	path := l.safe.journalOf(l.ref).journalFile()
	remove := disk.RemoveDurably
	if log.Err() == nil { // a crash may bring it back: its last note is that the state file holds all of it
		remove = disk.RemoveIfThere
	}
	closing := log.Close()
	err := remove(l.safe.disk, path)
	// try again if the disk failed once: a journal that remains does no harm, but puzzles people
	if err != nil && !errors.As(err, new(*LockLostError)) {
		err = remove(l.safe.disk, path)
	}
	return fileError("remove the journal", path, errors.Join(closing, err))
}

func (l *folderLock) complete(record *Record, _ string, end *ending) error {
	switch {
	case end == nil:
		return nil
	case record == nil:
		return l.checkHeld()
	}
	_, err := l.safe.historyOf(l.ref).add(record, end, 0) // fencedDisk looks
	return err
}

// storeLock is a lock in a store: the lease, and a lock file for programs that do not know leases. Its journal is a
// chain of objects.
type storeLock struct {
	files *files // of a store that implements Fencing, those that check the lease with each write
	safe  *files // see holder.fenced
	ref   Ref
	path  string // of the lock file

	lease   *lease
	chain   *chain
	left    []*links // the chains that earlier runs have left
	session Held     // nil unless the store implements Fencing

	unfenced bool      // nobody has looked for chains of earlier runs yet
	fences   bool      // there are such chains, or at least their fences
	end      *leaseEnd // what to leave for the next holder; nil unless all is in order
}

var _ holder = (*storeLock)(nil)

func (l *storeLock) fenced() *files   { return l.safe }
func (l *storeLock) checkHeld() error { return l.lease.checkHeld() }

// check asks only when the lease was not renewed lately. An entry is a link of the chain. A run that takes over puts a
// fence at the next number before it reads the chain: it reads every entry that came before the fence, and no entry can
// come after it. Cancel puts a fence there as well, so that the cancelled run stops at its next entry.
func (l *storeLock) check() error { return l.lease.check() }

func (l *storeLock) hold(context.Context) error { return l.lease.hold() }

// guard leaves a mark in the chain, so that a run that takes over later knows that a write may be under way.
func (l *storeLock) guard() error {
	if err := l.checkHeld(); err != nil {
		return l.explain(err)
	}
	return l.explain(l.chain.mark(markGuard))
}

// explain also asks to whom the lease was lost: a store that checks the lease with each write reports only that it was.
func (l *storeLock) explain(err error) error {
	var lost *LockLostError
	if !errors.As(err, &lost) && errors.Is(err, ErrFenced) && errors.As(l.lease.checkHeld(), &lost) {
		return lost
	}
	return lostIn(err)
}

func (l *storeLock) foreign(err error) error {
	if !errors.Is(err, ErrChanged) {
		return err
	}
	if lost := l.lease.renew(); lost != nil {
		return l.explain(lost)
	}
	return err
}

// release releases everything, the lease last: its next holder may rely on the rest being gone. A lease that was lost
// before is no error here: an earlier call has returned it, and the next run cleans up.
func (l *storeLock) release() error {
	l.lease.renewer.halt()
	err := l.chain.leave()
	if errors.Is(err, ErrFenced) {
		err = nil
	}
	if failed := l.files.objects.delete(l.path); failed != nil && !errors.Is(failed, ErrFenced) {
		err = errors.Join(err, &FileError{Doing: "remove the lock", Path: l.path, Err: failed})
	}
	if l.session != nil {
		l.session.Release()
	}
	if err != nil || l.chain.holds {
		l.end = nil
	}
	return errors.Join(err, l.lease.release(l.end))
}

func (l *storeLock) journaling() journaling { return journaling{inBetween: true, proves: true} }

// recover looks for chains also if the state is not the one that the last holder left, whatever that says of chains:
// the store may be a copy that was made while runs went on.
func (l *storeLock) recover(file stored, salvage bool) (*Recovery, stored, error) {
	if l.unfenced && l.lease.before.State != file.version {
		if err := l.fenceOthers(); err != nil {
			return nil, file, l.explain(err)
		}
	}
	return l.safe.journalOf(l.ref).recoverObjects(l, file, salvage)
}

// fenceOthers fences off the chains of earlier runs, unless that was done.
func (l *storeLock) fenceOthers() error {
	if !l.unfenced {
		return nil
	}
	l.unfenced = false
	return l.files.chainsOf(l.ref).fence(l)
}

func (l *storeLock) noteMerged() error         { return l.safe.chainsOf(l.ref).noteAllMerged(l) }
func (l *storeLock) begin(*state.Snapshot)     {}
func (l *storeLock) apply(journal.Entry) error { return nil }
func (l *storeLock) retry()                    {}

func (l *storeLock) create(header journal.Header, o journal.LogOptions) (*journal.Log, error) {
	l.chain.begin()
	log, err := journal.Create(l.chain, header, o)
	return log, l.explain(err)
}

// beforeState looks at the lease: the mark of guard is missing, because the journal has announced the state.
func (l *storeLock) beforeState(what stateWrite) error {
	if what.log == nil {
		return nil
	}
	return l.explain(l.checkHeld())
}

func (l *storeLock) drop(log *journal.Log) error {
	return l.explain(errors.Join(log.Close(), l.chain.dropAll()))
}

func (l *storeLock) complete(record *Record, _ string, end *ending) error {
	before := l.lease.before
	if end == nil {
		l.end = before // if the state was written nevertheless, it is about another version
		return nil
	}
	if before != nil && before.State != end.begun.version { // another program has written the state
		before = nil
	}
	next := &leaseEnd{State: end.file.version, Fences: l.fences}
	if before != nil && before.State == next.State {
		next.Copy = before.Copy
	}
	known := end.begun.path == "" // no stack, no record
	if before != nil && before.Overview != nil {
		known, next.Recorded = true, before.Recorded
	}
	var err error
	if record == nil {
		err = l.checkHeld()
	} else {
		next.Copy, err = l.safe.historyOf(l.ref).add(record, end, next.Copy) // fencedDisk looks
		next.Recorded, known = time.Unix(record.EndTime, 0).UTC(), record.EndTime > 0
	}
	if known {
		overview := overviewOf(end.snapshot, end.file.written)
		if next.Recorded.After(overview.Updated) {
			overview.Updated = next.Recorded
		}
		next.Overview = &overview
	}
	if err == nil {
		l.end = next
	}
	return err
}

// serviceLock is the lock of an operation in a service, and of the local copy of its stack. Its journal is that of the
// copy, from which the service gets each entry.
type serviceLock struct {
	copy   *folderLock
	remote *remote
}

var _ holder = (*serviceLock)(nil)

// newServiceLock joins the lock of a copy with the operation. From now on the copy changes only while both are held.
func newServiceLock(l *folderLock, r *remote) *serviceLock {
	s := &serviceLock{l, r}
	l.fence(s.checkHeld)
	return s
}

func (l *serviceLock) fenced() *files          { return l.copy.fenced() }
func (l *serviceLock) explain(err error) error { return lostIn(err) }
func (l *serviceLock) foreign(err error) error { return err }
func (l *serviceLock) guard() error            { return l.explain(l.checkHeld()) }
func (l *serviceLock) check() error            { return l.checkHeld() }

func (l *serviceLock) hold(ctx context.Context) error {
	if err := l.remote.hold(ctx); err != nil {
		return err
	}
	return l.copy.checkHeld()
}

func (l *serviceLock) checkHeld() error {
	if err := l.remote.checkHeld(); err != nil {
		return err
	}
	return l.copy.checkHeld()
}

// release ends the renewals, and removes the copy if the service has everything.
func (l *serviceLock) release() error {
	l.remote.renewer.halt()
	if l.remote.closed {
		forget(l.copy.files, l.copy.ref)
	}
	return l.copy.release()
}

func (l *serviceLock) journaling() journaling { return journaling{inOrder: true, forwards: true} }

func (l *serviceLock) recover(file stored, salvage bool) (*Recovery, stored, error) {
	return l.copy.recover(file, salvage)
}

func (l *serviceLock) noteMerged() error           { return nil }
func (l *serviceLock) begin(base *state.Snapshot)  { l.remote.begin(base) }
func (l *serviceLock) apply(e journal.Entry) error { return l.remote.apply(e) }
func (l *serviceLock) retry()                      { l.remote.retry() }

func (l *serviceLock) create(header journal.Header, o journal.LogOptions) (*journal.Log, error) {
	return l.copy.createIn(header, o, func(f journal.File) journal.File { return local{f, l.remote} })
}

func (l *serviceLock) beforeState(what stateWrite) error {
	return l.remote.write(what.snapshot, what.last)
}
func (l *serviceLock) drop(log *journal.Log) error { return l.copy.drop(log) }

// complete leaves the record to the service, which has got it at the beginning.
func (l *serviceLock) complete(_ *Record, status string, end *ending) error {
	if end != nil {
		if err := l.checkHeld(); err != nil {
			return err
		}
	}
	return l.remote.complete(status)
}
