package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
)

// lockFile is the JSON of a lock (F6.9). Other tools ignore the member yamlhost.
type lockFile struct {
	PID       int          `json:"pid"`
	Username  string       `json:"username"`
	Hostname  string       `json:"hostname"`
	Timestamp time.Time    `json:"timestamp"`
	Yamlhost  *lockProcess `json:"yamlhost,omitempty"`
}

// lockProcess distinguishes a process from another one with the same number; see Process.
type lockProcess struct {
	Machine string `json:"machine,omitempty"`
	Boot    string `json:"boot,omitempty"`
	Started string `json:"started,omitempty"`
	Lease   int64  `json:"lease,omitempty"` // the generation of the lease that goes with it, in a store
}

// stackLocks takes, finds and gives back the locks of a stack: files in a folder, and in a store the lease with them.
type stackLocks stack

// lock takes the stack's lock by the protocol of F6.9: look, write, look again. The lock of a process of this machine
// that is gone is taken over (D9); any other lock gives a *LockedError.
func (b stackLocks) lock(ctx context.Context) (holder, error) {
	held, err := b.lockToRecover(ctx)
	if store, ok := held.(*storeLock); ok {
		if err = store.fenceOthers(); err != nil {
			return nil, errors.Join(store.explain(err), held.release())
		}
	}
	return held, err
}

// lockToRecover is lock for a caller that calls recover with the state before it does anything else.
func (b stackLocks) lockToRecover(ctx context.Context) (holder, error) {
	if b.files.objects != nil {
		return orNone(b.lockObjects(ctx))
	}
	return orNone(b.lockFolder())
}

// orNone returns a nil holder with an error.
func orNone[H holder](held H, err error) (holder, error) {
	if err != nil {
		return nil, err
	}
	return held, nil
}

// lockFolder takes the lock in a folder.
func (b stackLocks) lockFolder() (*folderLock, error) {
	if err := b.files.prepare(); err != nil {
		return nil, err
	}
	// a lock that a crash loses is in nobody's way
	if err := disk.MkdirAll(b.files.disk, b.folder(), false); err != nil {
		return nil, fileError("lock the stack in", b.folder(), err)
	}
	release, free := b.files.disk.Guard(b.folder())
	defer release()
	if err := b.others(""); err != nil {
		return nil, err
	}
	if !free {
		return nil, &HeldUpError{Ref: b.ref, Folder: b.folder(), PID: b.files.disk.Guarding(b.folder())}
	}
	text, err := json.Marshal(b.files.ownLock(0))
	if err != nil {
		return nil, fmt.Errorf("lock the stack: %w", err)
	}
	own := uuid.NewString() + ".json"
	path := filepath.Join(b.folder(), own)
	// Other tools take any file in the folder for a lock, so the temporary file is not there.
	if err := disk.WriteThrough(b.files.disk, disk.Temporary(b.files.path("lock")), path, text, true); err != nil {
		return nil, &FileError{Doing: "lock the stack with", Path: path, Err: err}
	}
	held := &folderLock{files: b.files, ref: b.ref, folder: b.folder(), path: path, text: text}
	held.fence(held.checkHeld)
	if err := b.others(own); err != nil {
		return nil, errors.Join(err, held.release())
	}
	return held, nil
}

// ownLock returns the content of a lock file of this process. lease is the generation of the lease that goes with it; 0
// in a folder.
func (b *files) ownLock(lease int64) lockFile {
	p := b.o.Process
	return lockFile{PID: p.PID, Username: p.User, Hostname: p.Host, Timestamp: b.o.Now().UTC(),
		Yamlhost: &lockProcess{p.Machine, p.Boot, p.Started, lease}}
}

// folder returns the folder with the lock files of the stack (F6.9).
func (b stackLocks) folder() string { return b.files.path("locks", filepath.FromSlash(b.name())) }

// name returns the name of the stack in locks, which has no organization.
func (b stackLocks) name() string {
	return Ref{Project: b.ref.Project, Stack: b.ref.Stack, legacy: b.ref.legacy}.QualifiedName()
}

// others gives a *LockedError if there are live locks other than own. It removes stale ones.
func (b stackLocks) others(own string) error {
	locks, stale, err := b.locks(own)
	if err != nil {
		return err
	}
	if len(locks) > 0 {
		return &LockedError{b.ref, locks}
	}
	for _, path := range stale {
		if err := b.files.remove("remove the lock of a process that is gone,", path); err != nil {
			return err
		}
	}
	return nil
}

// locks returns the live locks other than own, and the paths of locks whose processes are gone.
func (b stackLocks) locks(own string) (live []Lock, stale []string, err error) {
	found, err := b.lockFiles(own)
	for _, l := range found {
		if b.stale(l.file) {
			stale = append(stale, l.Path)
			continue
		}
		live = append(live, l)
	}
	return live, stale, err
}

// holders returns the locks of runs that are under way. In a store, the lease decides about yamlhost's own: one that
// was not renewed in time, by the clock of this machine, has none.
func (b stackLocks) holders() ([]Lock, error) {
	live, _, err := b.locks("")
	if err != nil || b.files.objects == nil {
		return live, err
	}
	live = slices.DeleteFunc(live, func(l Lock) bool { return !l.Foreign && l.file.Yamlhost.Lease > 0 })
	lease := b.files.leaseOf(b.ref)
	file, o, err := lease.read()
	if err != nil || file.Holder == nil || b.stale(file.Holder.lockFile()) {
		return live, err
	}
	until := o.Modified.Add(time.Duration(file.Milliseconds) * time.Millisecond)
	if b.files.o.Now().After(until.Add(time.Second)) { // stores give times in whole seconds, rounded down
		return live, nil
	}
	held := file.Holder.lockFile().lock(lease.key(), b.files.o.Process)
	held.Until = until
	return append(live, held), nil
}

// lock returns the lock that a lock file describes.
func (l lockFile) lock(path string, p Process) Lock {
	return Lock{Path: path, PID: l.PID, User: l.Username, Host: l.Hostname, Timestamp: l.Timestamp, Owner: p.owner(l),
		Foreign: l.Yamlhost == nil, file: l}
}

// lockFiles returns all locks but own.
func (b stackLocks) lockFiles(own string) (found []Lock, err error) {
	names, err := b.files.list("locks", filepath.FromSlash(b.name()))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name == own || !strings.HasSuffix(name, ".json") {
			continue
		}
		path := filepath.Join(b.folder(), name)
		text, err := b.files.disk.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // just released
		} else if err != nil {
			return nil, fileError("read the lock", path, err)
		}
		var l lockFile
		_ = json.Unmarshal(text, &l) // a malformed lock file is a lock too
		found = append(found, l.lock(path, b.files.o.Process))
	}
	return found, nil
}

// stale reports whether a lock belongs to a process of this machine that is gone. The Pulumi CLI's lock names only
// host, user and process. In a store, which machines share, a lock with this machine's name counts as this machine's
// unless other machines may have the same name. In a container they may: anyone who starts the container chooses its
// name, and it has process numbers of its own.
func (b stackLocks) stale(l lockFile) bool {
	own := l.Yamlhost != nil || b.files.objects == nil || l.Username == b.files.o.Process.User && l.Hostname != "" &&
		!b.files.o.Process.Contained && !strings.HasPrefix(l.Hostname, "localhost")
	return own && b.files.o.Process.owner(l) == OwnerGone
}

// Locks returns the locks that keep a stack from being changed now.
func (b *Backend) Locks(r Ref) ([]Lock, error) {
	r, err := b.named(context.Background(), r)
	if err != nil {
		return nil, err
	}
	if b.service != nil {
		if _, listed := b.listed[r]; listed {
			return nil, nil // a list has no locks
		}
		found, err := b.service.Stack(context.Background(), r)
		if err != nil || found.Lock == nil {
			return nil, err
		}
		return []Lock{*found.Lock}, nil
	}
	locks, _, err := b.files.locksOf(r).locks("")
	return locks, err
}

// Cancelled describes what Cancel has done.
type Cancelled struct {
	Locks  []Lock // removed, including locks of processes that are gone
	HeldUp int    // the process that holds the folder's guard and makes no progress; 0 if there is none
}

// Cancel removes all locks of a stack, no matter who holds them, and takes the lease away in a store (F6.9, D14). A run
// of yamlhost that held one begins nothing and writes nothing from then on, also one that is stopped now and wakes up
// later.
func (b *Backend) Cancel(r Ref) (*Cancelled, error) {
	r, err := b.named(context.Background(), r)
	if err != nil {
		return nil, err
	}
	if h, ok := b.hosted(); ok {
		return h.cancel(context.Background(), r)
	}
	release, free := b.files.disk.Guard(b.files.locksOf(r).folder())
	defer release()
	out := &Cancelled{}
	if !free {
		out.HeldUp = b.files.disk.Guarding(b.files.locksOf(r).folder())
	}
	found, err := b.files.locksOf(r).lockFiles("")
	if err != nil {
		return nil, err
	}
	out.Locks = found
	for _, l := range found {
		if err := b.files.remove("remove the lock", l.Path); err != nil {
			return nil, err
		}
	}
	if b.files.objects != nil {
		holder, generation, err := b.files.leaseOf(r).free()
		if holder != nil && len(found) == 0 {
			out.Locks = append(out.Locks, *holder)
		}
		if err == nil {
			err = b.files.chainsOf(r).close(generation)
		}
		return out, err
	}
	return out, b.files.locksOf(r).sweep()
}

// lockObjects takes a stack's lock in a store. The lease decides between runs of yamlhost. The lock file of F6.9 keeps
// out the stock host, which does not know leases; the stock host's lock files are honoured. The order matters:
//
//	lock files of others -> lease -> own lock file -> lock files of others -> fences
//
// The first look only spares everyone the writes of a run that will be refused; the second one decides. After a holder
// that ended in order the first look is left out. A run that is refused does not end in order, so while the Pulumi CLI
// is at work, later runs only look. If that holder left no chains, the fences wait until the state is known, and are
// left out if it is the one that the holder left.
//
// The own chain begins with the first write; see chain.claim.
func (b stackLocks) lockObjects(ctx context.Context) (_ *storeLock, err error) {
	if err := b.files.prepare(); err != nil {
		return nil, err
	}
	name := uuid.NewString() + ".json"
	l, err := b.files.leaseOf(b.ref).take(ctx, name, func() error {
		_, err := b.otherLocks(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	held, session, err := b.files.hold(l)
	if err != nil {
		return nil, errors.Join(err, l.release(nil))
	}
	b.files = held
	h := &storeLock{files: held, session: session, ref: b.ref, path: l.lock, lease: l,
		chain: &chain{lease: l, folder: b.files.chainsOf(b.ref).of(l.file.Generation)}}
	h.safe = held.on(fencedDisk{Disk: held.disk, folder: b.folder(), checkHeld: h.checkHeld, store: true})
	defer func() {
		if err != nil {
			err = errors.Join(err, h.release())
		}
	}()
	text, err := json.Marshal(b.files.ownLock(l.file.Generation))
	if err != nil {
		return nil, err
	}
	if _, err := b.files.objects.put(h.path, text, Condition{Absent: true}); err != nil {
		return nil, h.explain(&FileError{Doing: "lock the stack with", Path: h.path, Err: err})
	}
	left, err := b.otherLocks(name)
	if err != nil {
		return nil, err
	}
	for _, key := range left { // from runs that have lost the lease
		if err := b.files.objects.delete(key); err != nil {
			return nil, h.explain(&FileError{Doing: "remove the lock of a run that is gone,", Path: key, Err: err})
		}
	}
	if !b.fit(h) {
		if err := h.chain.claim(func() error { return b.probe(h) }); err != nil {
			return nil, h.explain(err)
		}
	}
	l.keep()
	if h.unfenced = true; l.before == nil || l.before.Fences {
		err = h.fenceOthers()
	}
	return h, err
}

// otherLocks returns the keys of yamlhost's lock files other than own: the lease decides whether these are live. Lock
// files of the Pulumi CLI give a *LockedError.
func (b stackLocks) otherLocks(own string) (ours []string, err error) {
	folder := keyOf(b.folder())
	locks, err := b.lockFiles(own)
	if err != nil {
		return nil, err
	}
	var others []Lock
	for _, l := range locks {
		if !l.Foreign && l.file.Yamlhost.Lease > 0 {
			ours = append(ours, path.Join(folder, path.Base(keyOf(l.Path))))
			continue
		}
		others = append(others, l)
	}
	if len(others) > 0 {
		return nil, &LockedError{b.ref, others}
	}
	return ours, nil
}

// fit reports whether a run has found that the store honours conditions. Once a run of the stack has found that, the
// lease says so for the URL, and later runs do not ask again.
func (b stackLocks) fit(h *storeLock) bool {
	b.files.probed.mu.Lock()
	defer b.files.probed.mu.Unlock()
	return b.files.probed.done || h.lease.probed(b.files.url)
}

// probe checks that the store honours conditions, which alone keep two runs apart: some stores ignore them. The caller
// renews the lease next.
func (b stackLocks) probe(h *storeLock) error {
	b.files.probed.mu.Lock()
	defer b.files.probed.mu.Unlock()
	if b.files.probed.done { // by another stack meanwhile
		return nil
	}
	taken := linkKey(h.chain.folder, 0)
	for _, c := range []Condition{{Absent: true}, {Version: "0"}} {
		err := b.files.objects.try(func(ctx context.Context) error {
			_, err := b.files.objects.objects.Put(ctx, taken, []byte(markClaim+uuid.NewString()), c)
			return err
		})
		switch {
		case errors.Is(err, ErrChanged):
		case err == nil:
			// A run that took over meanwhile has removed the links of this run.
			if err := h.lease.checkHeld(); err != nil {
				return h.explain(err)
			}
			return &UnfitStoreError{PublicURL(b.files.url)}
		default:
			return &FileError{Doing: "test conditional writes to", Path: taken, Err: err}
		}
	}
	h.lease.noteProbed(b.files.url)
	b.files.probed.done = true
	return nil
}

// UnfitStoreError is returned when a store ignores the conditions of writes.
type UnfitStoreError struct{ URL string }

func (e *UnfitStoreError) Error() string {
	return fmt.Sprintf(
		"the store %s ignores conditional writes (If-None-Match and If-Match), so two runs at once could overwrite each "+
			"other's state. Keep state in a store that supports them, or in a folder. Nothing was done.",
		e.URL)
}
