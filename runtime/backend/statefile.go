package backend

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// stackState is the state file of a stack: it is written whole, and its name says how it is packed.
type stackState struct{ stack }

// stored is a state file as it is on disk.
type stored struct {
	path     string
	raw      []byte // packed
	identity journal.Identity
	version  string // of the object, in a store
}

// unchanged is the condition that a state in a store is still this one.
func (s stored) unchanged() Condition { return Condition{Absent: s.path == "", Version: s.version} }

// decode reads a state file's content.
func (s stored) decode(open state.Opener) (*state.Checkpoint, error) {
	plain, err := unpack(s.raw)
	if err != nil {
		return nil, &CorruptError{Path: s.path, Err: err}
	}
	if _, err := verifyChecksum(plain); err != nil {
		return nil, &CorruptError{Path: s.path, Err: err}
	}
	c, err := state.DecodeCheckpoint(plain, open)
	if err == nil {
		if delete(c.Unknown, checksumMember); len(c.Unknown) == 0 {
			c.Unknown = nil
		}
		return c, nil
	}
	if _, ok := errors.AsType[*state.SyntaxError](err); ok {
		return nil, &CorruptError{Path: s.path, Err: err}
	}
	return nil, fmt.Errorf("read the state %s: %w", s.path, err)
}

// altered reports whether a state file is not what was written, see verifyChecksum.
func (s stored) altered() bool {
	plain, err := unpack(s.raw)
	if err != nil {
		return false
	}
	changed, err := verifyChecksum(plain)
	return changed && err == nil
}

// packed returns the bytes of a state file on disk.
type packed struct {
	data     []byte
	identity journal.Identity
}

// readBack reads a state file as the next run will, but for opening its secrets.
func readBack(data []byte) error {
	plain, err := unpack(data)
	if err != nil {
		return err
	}
	if _, err := verifyChecksum(plain); err != nil {
		return err
	}
	return state.Readable(plain)
}

// file returns the path of the state file, packed in one way.
func (b stackState) file(c Compression) string {
	return b.path("stacks", b.ref.Project, b.ref.Stack+".json"+string(c))
}

// current reads the state file.
func (b stackState) current() (stored, error) {
	path, err := b.locate()
	if err != nil {
		return stored{}, err
	}
	return b.read(path)
}

// locate finds the state file; of several variants the one written last (F6.8).
func (b stackState) locate() (path string, err error) {
	if err := b.ref.check(); err != nil {
		return "", err
	}
	var newest time.Time
	for _, c := range extensions {
		candidate := b.file(c)
		t, err := b.disk.ModTime(candidate)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", fileError("read the state", candidate, err)
		case path == "" || t.After(newest):
			path, newest = candidate, t
		}
	}
	if path == "" {
		return "", &NotFoundError{b.ref}
	}
	return path, nil
}

// exists reports whether there is a state file.
func (b stackState) exists() (bool, error) {
	_, err := b.locate()
	return found(err)
}

// read reads a state file that was located.
func (b stackState) read(path string) (stored, error) {
	s := stored{path: path}
	var err error
	if b.objects != nil {
		var o Object
		o, err = b.objects.get(keyOf(path))
		s.raw, s.version = o.Data, o.Version
	} else {
		s.raw, err = b.disk.ReadFile(path)
	}
	s.identity = journal.IdentityOf(s.raw)
	return s, fileError("read the state", path, err)
}

// keepAsBackup makes a state file its .bak (F6.10), which the next state file leaves alone because it takes over the
// name and not the file. It is not synced: it is a second chance, not a promise.
func (b stackState) keepAsBackup(path string) error {
	_, err := b.disk.ModTime(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = disk.SameAs(b.disk, path, path+".bak", nil)
	}
	return fileError("keep the previous state as", path+".bak", err)
}

// keepStub writes the backup of a stack's first state: a stub, which the Pulumi CLI writes as the state first (F6.6).
// It comes behind the state here, so that a stack which is only half made has no remains.
func (b stackState) keepStub(file stored) error {
	text, err := state.EncodeCheckpoint(&state.Checkpoint{Stack: b.ref.QualifiedName()}, nil)
	if err != nil {
		return err
	}
	stub, err := b.pack(text, file)
	if err != nil {
		return err
	}
	return b.writeBackup(file.path, stub.data)
}

// writeBackup makes data the .bak of a state file.
func (b stackState) writeBackup(path string, data []byte) error {
	return fileError("keep the previous state as", path+".bak", disk.WriteWhole(b.disk, path+".bak", data, false))
}

// pack makes a state file that takes the place of another one, which may be none. It is read back first: bytes that
// nobody can read never become the state. Such bytes give an *UnreadableError.
func (b stackState) pack(text []byte, previous stored) (packed, error) {
	data, err := b.packing(previous).pack(withChecksum(text))
	if err != nil {
		return packed{}, err
	}
	if err := readBack(data); err != nil {
		return packed{}, &UnreadableError{Path: cmp.Or(previous.path, "of a new stack"), Err: err}
	}
	return packed{data, journal.IdentityOf(data)}, nil
}

// packing returns the compression of a state file that takes the place of another one. In a store the object keeps its
// name, and with the name its compression: a run that has lost the lock finds the object changed, and cannot write.
func (b stackState) packing(previous stored) Compression {
	if b.objects != nil && previous.path != "" {
		return packingOf(previous.path)
	}
	return b.o.Compression
}

// packingOf returns the compression of a state file, by its name.
func packingOf(path string) Compression {
	for _, c := range extensions {
		if strings.HasSuffix(path, ".json"+string(c)) {
			return c
		}
	}
	return Plain
}

// put replaces the state file previous. In a store the caller has made sure that it holds the lock since it read that.
func (b stackState) put(p packed, previous stored) (stored, error) {
	next := stored{path: b.file(b.packing(previous)), raw: p.data, identity: p.identity}
	var err error
	if b.objects != nil {
		next.version, err = b.replaceObject(next, previous)
	} else {
		err = b.replaceFile(next)
	}
	if err == nil && b.o.RetainCheckpoints {
		kept := fmt.Sprintf("%s.%d", next.path, b.o.Now().UnixNano())
		err = fileError("keep a copy of the state as", kept, disk.WriteWhole(b.disk, kept, p.data, false))
	}
	return next, err
}

// replaceObject writes a state object if it is still what was read. The previous content becomes the backup afterwards:
// of a run that is too late, nothing is written.
func (b stackState) replaceObject(next, previous stored) (version string, err error) {
	version, err = b.objects.put(keyOf(next.path), next.raw, previous.unchanged())
	if err != nil {
		return "", fileError("write the state", next.path, err)
	}
	if previous.path != "" {
		err = b.writeBackup(next.path, previous.raw)
	}
	return version, err
}

// replaceFile writes a state file in a folder; what was there becomes the backup first.
func (b stackState) replaceFile(next stored) error {
	for _, c := range extensions {
		if err := b.keepAsBackup(b.file(c)); err != nil {
			return err
		}
	}
	err := b.write("write the state", next.path, next.raw)
	for _, c := range extensions {
		if other := b.file(c); other != next.path && err == nil {
			err = b.remove("remove the state in another compression,", other)
		}
	}
	return err
}

// replace replaces the state file durably (F6.10). The caller holds the lock.
func (b stackState) replace(held *heldLock, text []byte, previous stored) (stored, error) {
	p, err := b.pack(text, previous)
	if err != nil {
		return stored{}, err
	}
	if err := held.guard(); err != nil {
		return stored{}, err
	}
	return b.put(p, previous)
}

// snapshotOf returns the snapshot of a checkpoint, never nil: a stack that was just created has none.
func snapshotOf(c *state.Checkpoint) *state.Snapshot {
	if c.Snapshot == nil {
		return &state.Snapshot{}
	}
	return c.Snapshot
}
