package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// files is where the files of a backend are, and how they are reached. The parts of a stack are made of it and of the
// stack's name, and keep nothing else:
//
//	stackState    the state file and its copies
//	stackJournal  what runs have journaled that is not in the state file yet
//	stackChains   the same in a store, where a journal is a chain of objects
//	stackLocks    lock files
//	stackLease    the lease behind a lock file, in a store
//	stackHistory  records, checkpoints, backups and tags
//
// It never changes; on makes another one. Anyone who takes a lock goes on with the files that heldLock.fenced gives.
type files struct {
	url     string // as it was given
	root    string // the .pulumi folder
	o       Options
	disk    disk.Disk
	objects *objectDisk // the disk, if it is a store
	probed  *probed
}

// The parts of a stack. Each is made where it is needed; they keep nothing between calls.
func (b *files) stateOf(r Ref) stackState     { return stackState{b, r} }
func (b *files) journalOf(r Ref) stackJournal { return stackJournal{b.stateOf(r)} }
func (b *files) chainsOf(r Ref) stackChains   { return stackChains{b, r} }
func (b *files) locksOf(r Ref) stackLocks     { return stackLocks{b, r} }
func (b *files) leaseOf(r Ref) stackLease     { return stackLease{b, r} }
func (b *files) historyOf(r Ref) stackHistory { return stackHistory{b, r} }

// on returns the same files over another view of their disk.
func (b *files) on(d disk.Disk) *files {
	other := *b
	other.disk = d
	return &other
}

// path returns a path below the .pulumi folder.
func (b *files) path(parts ...string) string {
	return filepath.Join(append([]string{b.root}, parts...)...)
}

// list returns the names in a folder of the backend, none if there is no such folder.
func (b *files) list(parts ...string) ([]string, error) {
	path := b.path(parts...)
	names, err := b.disk.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &FileError{Doing: "list the folder", Path: path, Err: err}
	}
	return names, nil
}

// manifest returns the manifest of a state that is written now (F5.4).
func (b *files) manifest() state.Manifest { return state.NewManifest(b.o.Version, b.o.Now().UTC()) }

// workFolder returns where the lease and the journal of a stack are. The stock host never looks there.
func (b *files) workFolder(r Ref) string {
	return path.Join(keyOf(b.root), "yamlhost", r.Project, r.Stack)
}

// layout looks at meta.yaml (F6.3). fresh says that there is none yet; it is written with the first stack, not before,
// so that looking into an empty folder leaves it empty.
func (b *files) layout() (fresh bool, err error) {
	path := b.path("meta.yaml")
	text, err := b.disk.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, b.refuseLegacy()
	case err != nil:
		return false, &FileError{Doing: "read", Path: path, Err: err}
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		key, version, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(key) != "version" {
			continue
		}
		version, _, _ = strings.Cut(version, "#")
		switch version = strings.Trim(strings.TrimSpace(version), `"'`); version {
		case "1":
			return false, nil
		case "0":
			return false, legacyLayout(path)
		default:
			return false, &LayoutError{Path: path, Problem: fmt.Sprintf("the folder has layout %s; this build reads only "+
				"layout 1", version)}
		}
	}
	return false, &LayoutError{Path: path, Problem: "the file should have the folder's layout, as in \"version: 1\""}
}

// refuseLegacy finds stacks of layout 0, which lie directly in stacks/ (F6.5).
func (b *files) refuseLegacy() error {
	names, err := b.list("stacks")
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := stackOf(name); ok {
			return legacyLayout(b.path("stacks", name))
		}
	}
	return nil
}

// legacyLayout is the error of a folder that has to be brought to the present layout first (F6.5).
func legacyLayout(path string) error {
	return &LayoutError{Path: path, Legacy: true, Problem: "the folder is of the old layout without projects; " +
		"`yamlhost state upgrade` brings it to the present one"}
}

// usable returns an error if the layout is not the present one. A backend that is upgraded may have the old one.
func (b *files) usable() error {
	_, err := b.layout()
	if old, ok := errors.AsType[*LayoutError](err); ok && old.Legacy && b.o.Upgrading {
		return nil
	}
	return err
}

// prepare makes the folder ready to be written.
func (b *files) prepare() error {
	fresh, err := b.layout()
	if err != nil || !fresh {
		return err
	}
	path := b.path("meta.yaml")
	if err := disk.WriteDurably(b.disk, path, []byte("version: 1\n")); err != nil {
		return &FileError{Doing: "write", Path: path, Err: err}
	}
	return nil
}

// hold returns the files in a store that holds every write to a lease, if it can do that; else the same ones.
func (b *files) hold(l *lease) (*files, Held, error) {
	store, ok := b.objects.objects.(Fencing)
	if !ok {
		return b, nil, nil
	}
	var session Held
	err := b.objects.try(func(ctx context.Context) (err error) {
		session, err = store.Hold(ctx, l.key, l.file.Generation)
		return err
	})
	if err != nil {
		return nil, nil, &FileError{Doing: "take the lock of a session beside", Path: l.key, Err: err}
	}
	d := newObjectDisk(session, b.objects.name)
	d.patience = b.objects.patience
	l.d = d
	held := b.on(d)
	held.objects = d
	return held, session, nil
}

// probed remembers that a store has been found to keep its word.
type probed struct {
	mu   sync.Mutex
	done bool
}
