package backend

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// shelf is where the files of stacks are, and how they are written: each state file whole, under the name that says how
// it is packed.
type shelf struct {
	root    string // the .pulumi folder
	o       Options
	disk    disk.Disk
	objects *objectDisk // the disk, if it is a store
}

func (b *shelf) path(parts ...string) string {
	return filepath.Join(append([]string{b.root}, parts...)...)
}

// list is the names in a folder of the backend, none if there is no such folder.
func (b *shelf) list(parts ...string) ([]string, error) {
	path := b.path(parts...)
	names, err := b.disk.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &FileError{Doing: "list the folder", Path: path, Err: err}
	}
	return names, nil
}

func (b *shelf) stackPath(r Ref, c Compression) string {
	return b.path("stacks", r.Project, r.Stack+".json"+string(c))
}

// current reads the state file.
func (b *shelf) current(r Ref) (stored, error) {
	path, err := b.locate(r)
	if err != nil {
		return stored{}, err
	}
	return b.readState(path)
}

// locate finds the state file; of several variants the one written last (F6.8).
func (b *shelf) locate(r Ref) (path string, err error) {
	if err := r.check(); err != nil {
		return "", err
	}
	var newest time.Time
	for _, c := range extensions {
		candidate := b.stackPath(r, c)
		at, err := b.disk.ModTime(candidate)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", &FileError{Doing: "read the state", Path: candidate, Err: err}
		case path == "" || at.After(newest):
			path, newest = candidate, at
		}
	}
	if path == "" {
		return "", &NotFoundError{r}
	}
	return path, nil
}

func (b *shelf) readState(path string) (stored, error) {
	s := stored{path: path}
	var err error
	if b.objects != nil {
		var o Object
		o, err = b.objects.get(keyOf(path))
		s.raw, s.version = o.Data, o.Version
	} else {
		s.raw, err = b.disk.ReadFile(path)
	}
	if err != nil {
		return stored{}, &FileError{Doing: "read the state", Path: path, Err: err}
	}
	s.identity = journal.IdentityOf(s.raw)
	return s, nil
}

func (b *shelf) manifest() state.Manifest { return state.NewManifest(b.o.Version, b.o.Now().UTC()) }

// keepAsBackup makes a state file its .bak (F6.10), which the next state file leaves alone because it takes over the
// name and not the file. It is not synced: it is a second chance, not a promise.
func (b *shelf) keepAsBackup(path string) error {
	old, err := b.disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = disk.SameAs(b.disk, path, path+".bak", old)
	}
	if err != nil {
		return &FileError{Doing: "keep the previous state as", Path: path + ".bak", Err: err}
	}
	return nil
}

// pack makes a state file that takes the place of another one, which may be none. It is read back first: bytes that
// nobody can read never become the state. Such bytes give an *UnreadableError.
func (b *shelf) pack(text []byte, over stored) (packed, error) {
	data, err := b.packing(over).pack(sealed(text))
	if err != nil {
		return packed{}, err
	}
	if err := readBack(data); err != nil {
		return packed{}, &UnreadableError{Path: b.pathOver(over), Err: err}
	}
	return packed{data, journal.IdentityOf(data)}, nil
}

// pathOver is the path of what pack is about to replace, for errors.
func (b *shelf) pathOver(over stored) string {
	if over.path == "" {
		return "of a new stack"
	}
	return over.path
}

// packing is how a state file will be packed that takes the place of another one. In a store it keeps its name, and so
// its packing: that it is still what it was is all that keeps a run out which has lost the lock.
func (b *shelf) packing(over stored) Compression {
	if b.objects != nil && over.path != "" {
		for _, c := range extensions {
			if strings.HasSuffix(over.path, ".json"+string(c)) {
				return c
			}
		}
	}
	return b.o.Compression
}

// putState replaces the state file over. In a store the caller has made sure that it holds the lock since it read that.
func (b *shelf) putState(r Ref, p packed, over stored) (stored, error) {
	next := stored{path: b.stackPath(r, b.packing(over)), raw: p.data, identity: p.identity}
	var err error
	if b.objects != nil {
		next.version, err = b.replaceObject(next, over)
	} else {
		err = b.replaceFile(r, next)
	}
	if err == nil && b.o.RetainCheckpoints {
		kept := fmt.Sprintf("%s.%d", next.path, b.o.Now().UnixNano())
		if err := disk.WriteWhole(b.disk, kept, p.data, false); err != nil {
			return stored{}, &FileError{Doing: "keep a copy of the state as", Path: kept, Err: err}
		}
	}
	return next, err
}

// replaceObject writes a state object if it is still what was read. The previous content becomes the backup afterwards:
// of a run that is too late, nothing is written.
func (b *shelf) replaceObject(next, over stored) (version string, err error) {
	condition := Condition{Version: over.version}
	if over.path == "" {
		condition = Condition{Absent: true}
	}
	version, err = b.objects.put(keyOf(next.path), next.raw, condition)
	if err != nil {
		return "", &FileError{Doing: "write the state", Path: next.path, Err: err}
	}
	if over.path != "" {
		if err := disk.WriteWhole(b.disk, next.path+".bak", over.raw, false); err != nil {
			return "", &FileError{Doing: "keep the previous state as", Path: next.path + ".bak", Err: err}
		}
	}
	return version, nil
}

func (b *shelf) replaceFile(r Ref, next stored) error {
	path := next.path
	for _, c := range extensions {
		if err := b.keepAsBackup(b.stackPath(r, c)); err != nil {
			return err
		}
	}
	if err := disk.WriteDurably(b.disk, path, next.raw); err != nil {
		return &FileError{Doing: "write the state", Path: path, Err: err}
	}
	for _, c := range extensions {
		if other := b.stackPath(r, c); other != path {
			if err := disk.RemoveDurably(b.disk, other); err != nil {
				return &FileError{Doing: "remove the state in another compression,", Path: other, Err: err}
			}
		}
	}
	return nil
}

// workFolder is where the lease and the journal of a stack are. The stock host never looks there.
func (b *shelf) workFolder(r Ref) string {
	return path.Join(keyOf(b.root), "yamlhost", r.Project, r.Stack)
}
