package backend

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/bits"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// stackState is the state file of a stack. It is always replaced as a whole. Its name has the compression.
type stackState stack

// stored is a state file as it is on disk, or is to be written.
type stored struct {
	path     string
	raw      []byte // packed
	identity journal.Identity
	version  string    // of the object, in a store
	written  time.Time // the time in it; zero if it was not decoded
}

// unchanged returns the condition that a state in a store is still this one.
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
	damaged := &CorruptError{Path: s.path, Err: err}
	if errors.As(err, new(*state.SyntaxError)) || damaged.Unknown() {
		return nil, damaged
	}
	if s.altered() { // a secret that cannot be opened
		return nil, &CorruptError{Path: s.path, unsure: true,
			Err: fmt.Errorf("the file has changed since yamlhost wrote it, and %w", err)}
	}
	return nil, fmt.Errorf("read the state %s: %w", s.path, err)
}

// altered reports whether verifyChecksum finds a state file changed.
func (s stored) altered() bool {
	plain, err := unpack(s.raw)
	if err != nil {
		return false
	}
	changed, err := verifyChecksum(plain)
	return changed && err == nil
}

// readBack returns an error if the next run could not read a state file. It does not open secrets.
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

// file returns the path of the state file with a compression.
func (b stackState) file(c Compression) string {
	return b.files.path("stacks", b.ref.Project, b.ref.Stack+".json"+string(c))
}

// current reads the state file. In a store it does not list the variants if the one that it has found before is still
// there: who writes another one removes that.
func (b stackState) current() (stored, error) {
	if b.files.objects != nil {
		if known, ok := b.files.objects.states.Load(b.ref); ok {
			file, err := b.read(known.(seenState).path)
			if !errors.Is(err, fs.ErrNotExist) {
				return file, err
			}
		}
	}
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
	modified, err := b.variants()
	if err != nil {
		return "", err
	}
	for _, c := range extensions {
		candidate := b.file(c)
		t, err := modified(candidate)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", fileError("read the state", candidate, err)
		case path == "" || t.After(newest):
			path, newest = candidate, t
		}
	}
	if b.files.objects != nil {
		b.files.objects.states.Delete(b.ref)
	}
	if path == "" {
		return "", &NotFoundError{b.ref}
	}
	if err := stackName(b).mistaken(path); err != nil {
		return "", err
	}
	if b.files.objects != nil {
		_, err := modified(b.lossFile())
		b.files.objects.states.Store(b.ref, seenState{path, errors.Is(err, fs.ErrNotExist)})
	}
	return path, nil
}

// missing returns an error unless there is a state file. In a store it does not look for one that it has found before.
func (b stackState) missing() error {
	if b.files.objects != nil {
		if _, there := b.files.objects.states.Load(b.ref); there {
			return nil
		}
	}
	_, err := b.locate()
	return err
}

// seenState is what a list has shown of a state in a store.
type seenState struct {
	path     string
	lossless bool // there was no record of a loss, and nobody has asked for it since
}

// noLoss reports whether the list that found a state in a store has shown that there is no record of a loss. It does
// once for each list, since another process may write one.
func (b stackState) noLoss() bool {
	if b.files.objects == nil {
		return false
	}
	known, ok := b.files.objects.states.Load(b.ref)
	if !ok || !known.(seenState).lossless {
		return false
	}
	b.files.objects.states.Store(b.ref, seenState{path: known.(seenState).path})
	return true
}

// variants returns a function that gives the time of each variant of the state file. A store lists all files beside the
// state in one request.
func (b stackState) variants() (modified func(path string) (time.Time, error), err error) {
	if b.files.objects == nil {
		return b.files.disk.ModTime, nil
	}
	found, err := b.files.objects.list(strings.TrimSuffix(keyOf(b.file(Plain)), "json"))
	if err != nil {
		return nil, fileError("read the state", b.file(Plain), err)
	}
	return func(path string) (time.Time, error) {
		for _, l := range found {
			if l.Key == keyOf(path) {
				return l.Modified, nil
			}
		}
		return time.Time{}, fs.ErrNotExist
	}, nil
}

// exists reports whether there is a state file.
func (b stackState) exists() (bool, error) {
	_, err := b.locate()
	return found(err)
}

// read reads the state file at a path.
func (b stackState) read(path string) (stored, error) {
	s := stored{path: path}
	var err error
	if b.files.objects != nil {
		var o Object
		o, err = b.files.objects.get(keyOf(path))
		s.raw, s.version = o.Data, o.Version
	} else {
		s.raw, err = b.files.disk.ReadFile(path)
	}
	s.identity = journal.IdentityOf(s.raw)
	return s, fileError("read the state", path, err)
}

// keepAsBackup makes the .bak a hard link to a state file (F6.10). The next state file takes over the name and leaves
// the linked file as it is. The link is not synced: it is a second chance without a guarantee.
func (b stackState) keepAsBackup(path string) error {
	_, err := b.files.disk.ModTime(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = disk.SameAs(b.files.disk, path, path+".bak", nil)
	}
	return fileError("keep the previous state as", path+".bak", err)
}

// keepStub writes the backup of a stack's first state: a stub, which the Pulumi CLI writes as the state first (F6.6).
// It is written after the state, so that an interrupted Create leaves nothing behind.
func (b stackState) keepStub(file stored) error {
	text, err := state.EncodeCheckpoint(&state.Checkpoint{Stack: b.ref.QualifiedName()}, nil)
	if err != nil {
		return err
	}
	stub, err := b.pack(text, file)
	if err != nil {
		return err
	}
	return b.writeBackup(file.path, stub.raw)
}

// writeBackup makes data the .bak of a state file.
func (b stackState) writeBackup(path string, data []byte) error {
	return fileError("keep the previous state as", path+".bak", disk.WriteWhole(b.files.disk, path+".bak", data, false))
}

// pack packs a state file that replaces another one, which may be none. It reads the result back: a state that cannot
// be read gives an *UnreadableError, and so is never written.
func (b stackState) pack(text []byte, previous stored) (stored, error) {
	packing := b.packing(previous)
	data, err := packing.pack(withChecksum(text))
	if err != nil {
		return stored{}, err
	}
	if err := readBack(data); err != nil {
		return stored{}, &UnreadableError{Path: cmp.Or(previous.path, "of a new stack"), Err: err}
	}
	return stored{path: b.file(packing), raw: data, identity: journal.IdentityOf(data)}, nil
}

// packing returns the compression of a state file that replaces another one. In a store the object keeps its key and so
// its compression: a run that has lost the lock then finds the object changed, and cannot write.
func (b stackState) packing(previous stored) Compression {
	if b.files.objects != nil && previous.path != "" {
		return packingOf(previous.path)
	}
	return b.files.o.Compression
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

// put replaces the state file previous by next, which pack has made. In a store the caller has checked that it has held
// the lock since it read that.
func (b stackState) put(next, previous stored) (_ stored, err error) {
	if b.files.objects != nil {
		next.version, err = b.replaceObject(next, previous)
	} else {
		err = b.replaceFile(next)
	}
	if err == nil && b.files.o.RetainCheckpoints {
		kept := fmt.Sprintf("%s.%d", next.path, b.files.o.Now().UnixNano())
		err = fileError("keep a copy of the state as", kept, disk.WriteWhole(b.files.disk, kept, next.raw, false))
	}
	return next, err
}

// replaceObject writes a state object if it has not changed since it was read. It writes the backup afterwards, so that
// a run that is too late writes nothing.
func (b stackState) replaceObject(next, previous stored) (version string, err error) {
	version, err = b.files.objects.put(keyOf(next.path), next.raw, previous.unchanged())
	if err != nil {
		return "", fileError("write the state", next.path, err)
	}
	if previous.path != "" {
		err = b.writeBackup(next.path, previous.raw)
	}
	return version, err
}

// replaceFile writes a state file in a folder, after it has made the previous one the backup.
func (b stackState) replaceFile(next stored) error {
	for _, c := range extensions {
		if err := b.keepAsBackup(b.file(c)); err != nil {
			return err
		}
	}
	err := b.files.write("write the state", next.path, next.raw)
	for _, c := range extensions {
		if other := b.file(c); other != next.path && err == nil {
			err = b.files.remove("remove the state in another compression,", other)
		}
	}
	return err
}

// replace replaces the state file durably (F6.10). The caller holds the lock.
func (b stackState) replace(held holder, text []byte, previous stored) (stored, error) {
	next, err := b.pack(text, previous)
	if err != nil {
		return stored{}, err
	}
	if err := held.guard(); err != nil {
		return stored{}, err
	}
	return b.put(next, previous)
}

// snapshotOf returns the snapshot of a checkpoint, never nil: a stack that was just created has none.
func snapshotOf(c *state.Checkpoint) *state.Snapshot {
	if c.Snapshot == nil {
		return &state.Snapshot{}
	}
	return c.Snapshot
}

// A state file ends with a member that other programs ignore and drop: the CRC-32C of everything before it. It detects
// and locates a flipped bit that would otherwise change the state unnoticed. A file that another program wrote has no
// such member and is accepted as it is.
const (
	checksumMember = "yamlhostChecksum"
	checksumBefore = `,"` + checksumMember + `":"crc32c:`
	checksumAfter  = `"}`
	checksumLength = len(checksumBefore) + 8 + len(checksumAfter)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumOf returns the end of a state file that begins with body.
func checksumOf(body []byte) []byte {
	return fmt.Appendf(nil, "%s%08x%s", checksumBefore, crc32.Checksum(body, castagnoli), checksumAfter)
}

// withChecksum returns the text of a state file with its checksum. It may overwrite the end of text, so that a large
// state is not copied for a few bytes.
func withChecksum(text []byte) []byte {
	body, ok := bytes.CutSuffix(text, []byte("}"))
	if !ok || len(bytes.TrimSpace(body)) <= 1 { // the checksum begins with a comma, which needs a member before it
		return text
	}
	return append(body, checksumOf(body)...)
}

// FlippedError is returned when one bit of a state file has flipped since the file was written.
type FlippedError struct {
	Offset int // 0-based, in bytes of the unpacked text
	mended []byte
}

func (e *FlippedError) Error() string {
	return fmt.Sprintf("one bit of it has flipped since it was written, in byte %d", e.Offset)
}

// verifyChecksum compares a state file's text with its checksum. changed reports whether they differ by more than one
// bit: somebody has edited the file, or it is damaged. A single flipped bit gives a *FlippedError.
func verifyChecksum(text []byte) (changed bool, err error) {
	text = bytes.TrimRight(text, " \t\r\n")
	n := len(text) - checksumLength
	if n < 2 {
		return false, nil
	}
	body, found := text[:n], text[n:]
	want := checksumOf(body)
	switch flipped, first := difference(found, want); {
	case flipped == 0:
		return false, nil
	case flipped == 1: // the bit is in the checksum; the state is as it was
		return false, &FlippedError{Offset: n + first, mended: append(body[:n:n], want...)}
	case !bytes.HasPrefix(found, []byte(checksumBefore)) || !bytes.HasSuffix(found, []byte(checksumAfter)):
		// Another program writes none, or has spaces in it; a damaged one has a part of it.
		return bytes.Contains(text, []byte(`:"crc32c:`)), nil
	}
	var stored [4]byte
	if _, err := hex.Decode(stored[:], found[len(checksumBefore):len(checksumBefore)+8]); err != nil {
		return true, nil
	}
	wrong := crc32.Checksum(body, castagnoli) ^ binary.BigEndian.Uint32(stored[:])
	if i, mask, found := journal.FlippedBit(n, wrong); found {
		mended := bytes.Clone(text)
		mended[i] ^= mask
		return false, &FlippedError{Offset: i, mended: mended}
	}
	return true, nil
}

// intact reports whether a state file's text ends with its checksum, so that every byte is as it was written.
func intact(text []byte) bool {
	n := len(text) - checksumLength
	return n > 1 && bytes.Equal(text[n:], checksumOf(text[:n]))
}

// difference returns the number of bits in which two texts of the same length differ, and the index of the first byte
// that does.
func difference(a, b []byte) (flipped, first int) {
	for i := range a {
		if flipped == 0 {
			first = i
		}
		flipped += bits.OnesCount8(a[i] ^ b[i])
	}
	return flipped, first
}

// Compression reduces a state to between a tenth and a thirtieth of its size. A file that unpacks to more than
// unpackedAtMost bytes, and to more than maxRatio times its size, is not a state but an attempt to use up the memory.
const (
	unpackedAtMost = 128 << 20
	maxRatio       = 100
)

// unpack decompresses gzip and zstd, which it recognizes by the first bytes (F6.8). It returns other data as it is.
func unpack(data []byte) ([]byte, error) {
	limit := max(unpackedAtMost, maxRatio*len(data))
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b, 0x08}):
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("unpack it with gzip: %w", err)
		}
		return unpacked(r, limit, "gzip")
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderMaxMemory(uint64(limit)))
		if err != nil {
			return nil, fmt.Errorf("unpack it with zstd: %w", err)
		}
		defer r.Close()
		return unpacked(r, limit, "zstd")
	}
	return data, nil
}

// unpacked reads all of r. More than limit bytes are an error.
func unpacked(r io.Reader, limit int, how string) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpack it with %s: %w", how, err)
	case len(plain) > limit:
		return nil, fmt.Errorf("it unpacks to more than %d MiB, over %d times its size: no state does", limit>>20, maxRatio)
	}
	return plain, nil
}

// pack compresses data; Plain leaves it as it is.
func (c Compression) pack(data []byte) ([]byte, error) {
	var out bytes.Buffer
	switch c {
	case Gzip:
		w := gzip.NewWriter(&out)
		w.Write(data) // writing to memory: a fault would show in Close
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("pack with gzip: %w", err)
		}
		return out.Bytes(), nil
	case Zstd:
		w, err := zstd.NewWriter(nil)
		if err != nil {
			return nil, fmt.Errorf("pack with zstd: %w", err)
		}
		defer w.Close()
		return w.EncodeAll(data, nil), nil
	}
	return data, nil
}
