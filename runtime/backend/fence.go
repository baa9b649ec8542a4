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
	checkHeld func() error // of the lock
	folder    string       // of the lock files
	store     bool         // a store has no folders, and keeps a created file in memory until it gets its name
}

// Mkdir makes a folder unless the lock is lost.
func (d fencedDisk) Mkdir(path string) error {
	if d.store {
		return nil
	}
	if err := d.checkHeld(); err != nil {
		return err
	}
	return d.Disk.Mkdir(path)
}

// Create makes a file unless the lock is lost.
func (d fencedDisk) Create(path string) (journal.File, error) {
	if !d.store {
		if err := d.checkHeld(); err != nil {
			return nil, err
		}
	}
	return d.Disk.Create(path)
}

// Append opens a file unless the lock is lost. It looks at the lock after it has opened the file: a run that takes
// the lock afterwards replaces the file, and does not write into this one.
func (d fencedDisk) Append(path string) (journal.File, error) {
	f, err := d.Disk.Append(path)
	if lost := d.checkHeld(); lost != nil {
		if err == nil {
			_ = f.Close() // nothing was written
		}
		return nil, lost
	}
	return f, err
}

// Link gives a file a temporary name unless the lock is lost.
func (d fencedDisk) Link(from, to string) error {
	if !d.store {
		if err := d.checkHeld(); err != nil {
			return err
		}
	}
	return d.Disk.Link(from, to)
}

// Rename gives a temporary file its name unless the lock is lost. A temporary file that is gone means that somebody has
// cancelled the run or come after it.
func (d fencedDisk) Rename(from, to string) error {
	if err := d.checkHeld(); err != nil {
		return err
	}
	err := d.Disk.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrFenced) {
		if lost := d.checkHeld(); lost != nil {
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
	release, _ := d.Disk.Guard(d.folder)
	defer release()
	if err := d.checkHeld(); err != nil {
		return err
	}
	err := d.Disk.Remove(path)
	if errors.Is(err, ErrFenced) {
		if lost := d.checkHeld(); lost != nil {
			return lost
		}
	}
	return err
}

// sweep removes half-written files of a stack. They come from runs that were killed, and from runs that were
// cancelled and may wake up in the middle of a write. It runs before the state is read. The caller holds the lock, or
// has just removed the locks of others.
func (b stackLocks) sweep() error {
	if b.files.objects != nil {
		return nil // a store has no half-written objects
	}
	for _, folder := range [][]string{{"stacks", b.ref.Project}, {"history", b.ref.Project, b.ref.Stack},
		{"backups", b.ref.Project, b.ref.Stack}} {
		names, err := b.files.list(folder...)
		if err != nil {
			return err
		}
		for _, name := range names {
			target, _, half := strings.Cut(name, disk.TemporarySuffix)
			if !half || folder[0] == "stacks" && !besideState(target, b.ref.Stack) {
				continue
			}
			path := b.files.path(append(folder, name)...)
			if err := b.files.disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
