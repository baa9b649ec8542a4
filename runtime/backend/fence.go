package backend

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// LockLostError is returned when a run no longer holds the lock on its stack: it was cancelled, or it was stopped or
// cut off from the store for so long that another run took over. The run begins nothing more, and nothing that it
// writes afterwards goes into the state.
type LockLostError struct {
	Ref   Ref
	Lease bool   // the lock was a lease and not a lock file in a folder
	By    string // the present holder, as user@host; empty if there is none
	Why   string // the cause; may be empty
	// Unrecorded are the results that providers reported after the lock was lost. The next run may not know of them.
	Unrecorded []Unrecorded
}

// Unrecorded is an object that a provider made, and that the state may have only as a pending operation.
type Unrecorded struct {
	URN urn.URN
	ID  string
}

func (e *LockLostError) Error() string {
	var b strings.Builder
	b.WriteString(e.loss())
	b.WriteString(
		". Nothing more was written. Operations in flight are pending operations now, which the next run resolves.")
	for _, u := range e.Unrecorded {
		fmt.Fprintf(&b,
			"\n  The provider has made %s with the ID %q. If the next run asks for its outcome, answer with: "+
				"--settle-pending '%s=%s'",
			u.URN, u.ID, u.URN, u.ID)
	}
	return b.String()
}

// loss describes the lock, the cause and the present holder.
func (e *LockLostError) loss() string {
	what := "lock"
	if e.Lease {
		what = "lease"
	}
	text := fmt.Sprintf("the %s on the stack %q was lost", what, e.Ref.Stack)
	if e.Why != "" {
		text += " (" + e.Why + ")"
	}
	if e.By != "" {
		text += "; " + e.By + " holds it now"
	}
	return text
}

// refusedEntry is the *LockLostError of one entry. Its text is the loss alone: the error that ends the session has the
// consequences and all unrecorded objects.
type refusedEntry struct{ lost *LockLostError }

func (e refusedEntry) Error() string { return e.lost.loss() }
func (e refusedEntry) Unwrap() error { return e.lost }

// look checks that this run still holds its lock: the lock file in a folder, the lease in a store (D14). It reads a
// lock file again only if its stamp has changed. A *LockLostError is final: each later look returns it again. Any other
// error means that look could not find out.
func (l *heldLock) look() error {
	if l.lease != nil {
		return l.lease.look()
	}
	if l.remote != nil {
		if err := l.remote.look(); err != nil {
			return err
		}
	}
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
		l.lost = &LockLostError{Ref: l.ref, Why: "its lock was removed, by cancel or by hand", By: l.successor()}
	case err != nil:
		return &FileError{Doing: "look at the lock", Path: l.path, Err: err}
	case string(text) != string(l.text):
		l.lost = &LockLostError{Ref: l.ref, Why: "its lock was overwritten", By: l.successor()}
	default:
		l.seen = now
	}
	return l.lost
}

// check is look for the entries of a journal. In a store it asks only when the lease was not renewed lately: an entry
// is a link of the chain, whose number a fence takes as soon as somebody else may work on the stack. Whoever cancels a
// run and whoever takes over writes that fence before anything else, so an entry that was written comes before it, and
// the next run reads it.
func (l *heldLock) check() error {
	if l.lease != nil {
		return l.lease.check()
	}
	return l.look()
}

// successor returns the present holder of the stack's lock, as user@host; empty if there is none.
func (l *heldLock) successor() string {
	found, err := l.files.locksOf(l.ref).lockFiles("")
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0].User + "@" + found[0].Host
}

// guard checks that the lock is still held before something is written. In a store it also leaves a mark, so that a run
// that takes over later knows that a write may be under way.
func (l *heldLock) guard() error {
	if err := l.look(); err != nil {
		return l.explain(err)
	}
	if l.chain == nil {
		return nil
	}
	return l.explain(l.chain.mark(markGuard))
}

// fencedDisk is the disk for the holder of a stack's lock. It looks at the lock before each change of a name, so that a
// run that has lost the lock changes nothing.
//
// A run may be stopped between the look and the change, and go on much later. Two rules cover that:
//
//   - A file gets its name by renaming a temporary file. Anyone who cancels a run, or comes after it, removes the
//     temporary files of the stack after the lock (see sweep). The temporary file is made before the look. So if the
//     look still finds the lock, the sweep comes later and removes the temporary file, unless the rename comes before
//     the sweep.
//   - A file is removed under the folder's guard. Nobody takes the lock while somebody holds the guard.
type fencedDisk struct {
	disk.Disk
	held *heldLock
}

// Mkdir makes a folder unless the lock is lost.
func (d fencedDisk) Mkdir(path string) error {
	if d.held.lease != nil {
		return nil // a store has no folders
	}
	if err := d.held.look(); err != nil {
		return err
	}
	return d.Disk.Mkdir(path)
}

// Create makes a file unless the lock is lost.
func (d fencedDisk) Create(path string) (journal.File, error) {
	if d.held.lease == nil { // in a store it is kept in memory until it gets its name
		if err := d.held.look(); err != nil {
			return nil, err
		}
	}
	return d.Disk.Create(path)
}

// Append opens a file unless the lock is lost. It looks at the lock after it has opened the file: a run that takes
// the lock afterwards replaces the file, and does not write into this one.
func (d fencedDisk) Append(path string) (journal.File, error) {
	f, err := d.Disk.Append(path)
	if lost := d.held.look(); lost != nil {
		if err == nil {
			_ = f.Close() // nothing was written
		}
		return nil, lost
	}
	return f, err
}

// Link gives a file a temporary name unless the lock is lost.
func (d fencedDisk) Link(from, to string) error {
	if err := d.held.look(); err != nil {
		return err
	}
	return d.Disk.Link(from, to)
}

// Rename gives a temporary file its name unless the lock is lost. A temporary file that is gone means that somebody has
// cancelled the run or come after it.
func (d fencedDisk) Rename(from, to string) error {
	if err := d.held.look(); err != nil {
		return err
	}
	err := d.Disk.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrFenced) {
		if lost := d.held.look(); lost != nil {
			return lost
		}
	}
	return err
}

// Remove removes a file unless the lock is lost. A temporary file has a name that nobody else uses.
func (d fencedDisk) Remove(path string) error {
	if strings.Contains(filepath.Base(path), disk.TemporarySuffix) {
		return d.Disk.Remove(path)
	}
	release, _ := d.Disk.Guard(d.held.folder)
	defer release()
	if err := d.held.look(); err != nil {
		return err
	}
	err := d.Disk.Remove(path)
	if errors.Is(err, ErrFenced) {
		if lost := d.held.look(); lost != nil {
			return lost
		}
	}
	return err
}

// sweep removes half-written files of a stack. They come from runs that were killed, and from runs that were
// cancelled and may wake up in the middle of a write. It runs before the state is read. The caller holds the lock, or
// has just removed the locks of others.
func (b stackLocks) sweep() error {
	if b.objects != nil {
		return nil // a store has no half-written objects
	}
	for _, folder := range [][]string{{"stacks", b.ref.Project}, {"history", b.ref.Project, b.ref.Stack},
		{"backups", b.ref.Project, b.ref.Stack}} {
		names, err := b.list(folder...)
		if err != nil {
			return err
		}
		for _, name := range names {
			target, _, half := strings.Cut(name, disk.TemporarySuffix)
			if !half || folder[0] == "stacks" && !besideState(target, b.ref.Stack) {
				continue
			}
			path := b.path(append(folder, name)...)
			if err := b.disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return &FileError{Doing: "remove the half-written files in", Path: path, Err: err}
			}
		}
	}
	return nil
}

// besideState reports whether a file in the folder of a project's states belongs to a stack, and not to another one
// with a name that begins the same: the stacks dev and dev.eu may exist side by side.
func besideState(name, stack string) bool {
	kind, found := strings.CutPrefix(name, stack)
	return found && stateKinds().MatchString(kind)
}

// stateKinds matches the endings of all files beside a state that are written under the stack's lock.
var stateKinds = lazyregexp.New(
	`^\.(json(\.gz|\.zst)?(\.bak|\.\d+(\.damaged)?)?|pulumi-tags|yamlhost-update|` +
		`yamlhost-journal(\.\d+\.(torn|foreign))?)$`)
