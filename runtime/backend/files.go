package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// files reads and writes the files of a backend; errors of its methods are *FileErrors. The parts of a stack consist of
// it and of the stack's name:
//
//	stackState    the state file and its copies
//	stackJournal  the journal that is not in the state file yet
//	stackChains   the same in a store, where a journal is a chain of objects
//	stackLocks    lock files
//	stackLease    the lease behind a lock file, in a store
//	stackHistory  records, checkpoints, backups and tags
//
// It never changes; on returns a changed copy. The holder of a lock uses holder.fenced.
type files struct {
	url     string // as it was given
	root    string // the .pulumi folder
	o       Options
	disk    disk.Disk
	objects *objectDisk // the disk, if it is a store
	probed  *probed
}

// stack names the files of one stack. Each of its parts is a type of its own with these two fields and only its own
// methods, so that a part is converted to another one where it needs that.
type stack struct {
	files *files
	ref   Ref
}

// The parts of a stack. Each is made where it is needed; they keep nothing between calls.
func (b *files) stateOf(r Ref) stackState     { return stackState{b, r} }
func (b *files) journalOf(r Ref) stackJournal { return stackJournal{b, r} }
func (b *files) chainsOf(r Ref) stackChains   { return stackChains{b, r} }
func (b *files) locksOf(r Ref) stackLocks     { return stackLocks{b, r} }
func (b *files) leaseOf(r Ref) stackLease     { return stackLease{b, r} }
func (b *files) historyOf(r Ref) stackHistory { return stackHistory{b, r} }

// on returns the same files on another view of their disk.
func (b *files) on(d disk.Disk) *files {
	other := *b
	other.disk = d
	return &other
}

// over returns the same files in another view of their store.
func (b *files) over(store Objects) *files {
	d := newObjectDisk(store, b.objects.name)
	d.patience = b.objects.patience
	other := b.on(d)
	other.objects = d
	return other
}

// path returns a path below the .pulumi folder.
func (b *files) path(parts ...string) string {
	return filepath.Join(append([]string{b.root}, parts...)...)
}

// list returns the names in a folder of the backend, none if there is no such folder.
func (b *files) list(parts ...string) ([]string, error) {
	path := b.path(parts...)
	names, err := b.disk.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, fileError("list the folder", path, err)
}

// readIfThere returns the content of a file; nil if there is none.
func (b *files) readIfThere(doing, path string) ([]byte, error) {
	text, err := b.disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, fileError(doing, path, err)
}

// readJSON reads a small file into dst, and reports whether there is one. A file that is no JSON of this kind gives a
// *CorruptError.
func (b *files) readJSON(doing, path string, dst any) (found bool, err error) {
	text, err := b.disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fileError(doing, path, err)
	}
	if err := json.Unmarshal(text, dst); err != nil {
		return false, &CorruptError{Path: path, Err: plainJSON(err)}
	}
	return true, nil
}

// plainJSON returns the error of json.Unmarshal into an object, without types of Go.
func plainJSON(err error) error {
	if errors.As(err, new(*json.UnmarshalTypeError)) {
		return errors.New("it is not a JSON object of this kind")
	}
	return err
}

// write puts data in a file durably.
func (b *files) write(doing, path string, data []byte) error {
	return fileError(doing, path, disk.WriteDurably(b.disk, path, data))
}

// writeJSON writes a small file durably.
func (b *files) writeJSON(doing, path string, v any) error {
	text, err := compactJSON(v)
	if err != nil {
		return fileError(doing, path, err)
	}
	return b.write(doing, path, text)
}

// remove removes a file durably, if it is there.
func (b *files) remove(doing, path string) error {
	return fileError(doing, path, disk.RemoveDurably(b.disk, path))
}

// manifest returns the manifest of a state that is written now (F5.4).
func (b *files) manifest() state.Manifest { return state.NewManifest(b.o.Version, b.o.Now().UTC()) }

// workFolder returns the folder in a store with the lease and the journals of a stack. The stock host never looks
// there.
func (b *files) workFolder(r Ref) string {
	return path.Join(keyOf(b.root), "yamlhost", r.Project, r.Stack)
}

// layout checks meta.yaml (F6.3). fresh is true if there is none yet; prepare writes it with the first stack, so that
// reading an empty folder leaves it empty.
func (b *files) layout() (fresh bool, err error) {
	b.probed.mu.Lock()
	defer b.probed.mu.Unlock()
	if b.objects != nil && b.probed.layout {
		return false, nil
	}
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
			b.probed.layout = true
			return false, nil
		case "0":
			return false, legacyLayout(path)
		default:
			if n, err := strconv.Atoi(version); err == nil && n > 1 {
				return false, &LayoutError{Path: path, Problem: fmt.Sprintf("the folder has layout %d, and this build reads only "+
					"layout 1: use a newer version of yamlhost; if the file is damaged, write the line \"version: 1\" into it", n)}
			}
		}
	}
	return false, &LayoutError{Path: path, Problem: "the file should have the folder's layout; if it is damaged, write the " +
		"line \"version: 1\" into it"}
}

// refuseLegacy returns a *LayoutError if there are stacks of layout 0, which are directly in stacks/ (F6.5).
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

// legacyLayout returns the error for a folder that has to be upgraded to the present layout first (F6.5).
func legacyLayout(path string) error {
	return &LayoutError{Path: path, Legacy: true, Problem: "the folder is of the old layout without projects; " +
		"`yamlhost state upgrade` brings it to the present one"}
}

// usable returns an error if the layout is not the present one. With Options.Upgrading it may be the old one.
func (b *files) usable() error {
	_, err := b.layout()
	if old, ok := errors.AsType[*LayoutError](err); ok && old.Legacy && b.o.Upgrading {
		return nil
	}
	return err
}

// prepare writes the layout into a new folder. A folder of another layout is an error.
func (b *files) prepare() error {
	fresh, err := b.layout()
	if err != nil || !fresh {
		return err
	}
	return b.writeLayout()
}

// writeLayout makes the layout the present one.
func (b *files) writeLayout() error {
	return b.write("write", b.path("meta.yaml"), []byte("version: 1\n"))
}

// hold returns the files for the holder of a lease: a store that implements Fencing checks the lease with every write.
// Other stores give b itself and a nil Held.
func (b *files) hold(l *lease) (*files, Held, error) {
	store, ok := b.objects.objects.(Fencing)
	if !ok {
		return b, nil, nil
	}
	session, err := ask(b.objects, func(ctx context.Context) (Held, error) {
		return store.Hold(ctx, l.key, l.file.Generation)
	})
	if err != nil {
		return nil, nil, fileError("take the lock of a session beside", l.key, err)
	}
	held := b.over(session)
	l.d = held.objects
	return held, session, nil
}

// probed remembers what this process knows of a store for good.
type probed struct {
	mu     sync.Mutex
	done   bool // it has passed stackLocks.probe
	layout bool // it has the present layout
}
