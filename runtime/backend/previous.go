package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Previous is a sound copy of a stack's state, for use when the state itself cannot be read: the newest one among the
// .bak, which is the state before its last write (F6.10), and the copies in the history and the backups (F6.11).
type Previous struct {
	Path      string
	Written   time.Time
	Resources int

	// Mended reports whether the copy is the state itself with a flipped bit corrected: nothing is missing in it.
	Mended bool

	packing  Compression
	data     []byte
	snapshot *state.Snapshot
}

// Previous finds the newest sound copy of a stack's state; nil when there is none. A copy in the history is the state
// at the end of an operation, and mostly the whole present state; .bak is the state before it was last written.
func (p Past) Previous() *Previous { return p.b.files.stateOf(p.r).previous() }

// Lost returns the error for a stack whose state has disappeared; nil if the stack exists, never existed, or was
// removed. Remove removes the history first, so a history without a state is not left by Remove.
func (p Past) Lost() *LostError { return p.b.files.stateOf(p.r).lost() }

// Restore replaces a state that is lost, damaged or unsound by its newest sound copy. It keeps the replaced file and
// returns its new path. A sound state that is as yamlhost wrote it gives an error. A remaining journal that begins from
// the copy fits again. The copy may lack later objects, which is recorded as a Loss.
func (b *Backend) Restore(ctx context.Context, r Ref) (aside string, err error) {
	if b.service != nil {
		return "", fmt.Errorf("%w: an older state is shown by `yamlhost stack export --version N`, and put back by "+
			"`yamlhost stack import`", errHosted)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	held, err := b.files.locksOf(r).lock(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(held.explain(err), held.release()) }()
	current := held.fenced().stateOf(r)
	file, err := current.current()
	if err != nil {
		if lost := current.lost(); lost != nil {
			if err := current.noteCopy(lost.Previous, &state.Snapshot{}); err != nil {
				return "", err
			}
			return "", current.putBack(held, lost.Previous, stored{})
		}
		return "", err
	}
	c, fault := file.decode(nil)
	was := &state.Snapshot{}
	if fault == nil {
		was = snapshotOf(c)
		fault = was.Verify()
	}
	if fault == nil && !file.altered() {
		return "", fmt.Errorf("the state %s is sound and is not replaced by an older one", file.path)
	}
	previous := current.mended(file.path, fault)
	if previous == nil {
		previous = current.previous()
	}
	if previous == nil {
		return "", &CorruptError{Path: file.path, Err: fmt.Errorf("%w; there is no sound copy of it", fault)}
	}
	aside = fmt.Sprintf("%s.%d.damaged", file.path, b.files.o.Now().UnixNano())
	if err := current.files.write("set the damaged state aside in", aside, file.raw); err != nil {
		return "", err
	}
	if err := current.noteCopy(previous, was, aside); err != nil {
		return "", err
	}
	return aside, current.putBack(held, previous, file)
}

// previous finds the newest sound copy; see Backend.Previous.
func (b stackState) previous() *Previous {
	if b.ref.check() != nil {
		return nil
	}
	var best *Previous
	consider := func(path string, c Compression) {
		p := &Previous{Path: path, packing: c}
		var err error
		if p.Written, err = b.files.disk.ModTime(path); err != nil || best != nil && p.Written.Before(best.Written) {
			return
		}
		if p.data, err = b.files.disk.ReadFile(path); err != nil {
			return
		}
		found, err := (stored{path: path, raw: p.data}).decode(nil)
		if err != nil || snapshotOf(found).Verify() != nil {
			return
		}
		p.snapshot = snapshotOf(found)
		p.Resources = len(p.snapshot.Resources)
		best = p
	}
	for _, c := range extensions {
		consider(b.file(c)+".bak", c)
	}
	// Of two copies with the same time the later one counts: an operation writes them in this order.
	for _, kept := range []struct{ folder, before, after string }{
		{"history", b.ref.Stack + "-", ".checkpoint.json"},
		{"backups", b.ref.Stack + ".", ".json"},
	} {
		for _, c := range b.files.historyOf(b.ref).copies(kept.folder, kept.before, kept.after) {
			before := best
			if consider(c.path, c.packing); best != before {
				break // the others of this folder are older
			}
		}
	}
	return best
}

// copyOf is a copy of a state in a stack's folder.
type copyOf struct {
	path    string
	packing Compression
	stamp   int64
}

// copies returns the copies in a stack's folder whose names have a stamp between before and after, newest first.
func (b stackHistory) copies(folder, before, after string) (found []copyOf) {
	names, _ := b.files.list(folder, b.ref.Project, b.ref.Stack) // what cannot be listed cannot be read either
	return b.copiesAmong(names, folder, before, after)
}

// copiesAmong is copies for a folder with these names.
func (b stackHistory) copiesAmong(names []string, folder, before, after string) (found []copyOf) {
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, before)
		if !ok {
			continue
		}
		for _, c := range extensions {
			digits, ok := strings.CutSuffix(rest, after+string(c))
			if stamp, err := strconv.ParseInt(digits, 10, 64); ok && err == nil {
				found = append(found, copyOf{b.files.path(folder, b.ref.Project, b.ref.Stack, name), c, stamp})
			}
		}
	}
	slices.SortStableFunc(found, func(x, y copyOf) int { return cmp.Compare(y.stamp, x.stamp) })
	return found
}

// withPrevious adds the sound copy, if there is one, to the error of a damaged state file.
func (b stackState) withPrevious(err error) error {
	var damaged *CorruptError
	if !errors.As(err, &damaged) || damaged.Previous != nil {
		return err
	}
	advised := *damaged
	if advised.Previous = b.mended(damaged.Path, damaged.Err); advised.Previous == nil {
		advised.Previous = b.previous()
	}
	if advised.Previous == nil {
		return err
	}
	return &advised
}

// mended returns a state file with a flipped bit corrected, if that is its only fault and the result is sound; else
// nil.
func (b stackState) mended(path string, fault error) *Previous {
	var flipped *FlippedError
	if !errors.As(fault, &flipped) {
		return nil
	}
	packing := packingOf(path)
	data, err := packing.pack(flipped.mended)
	if err != nil {
		return nil
	}
	c, err := (stored{path: path, raw: data}).decode(nil)
	if err != nil {
		return nil
	}
	t, _ := b.files.disk.ModTime(path)
	return &Previous{Path: path, Written: t, Resources: len(snapshotOf(c).Resources), Mended: true, packing: packing,
		data: data}
}

// lost returns the error for a state that has disappeared; see Backend.Lost.
func (b stackState) lost() *LostError {
	if exists, err := b.exists(); err != nil || exists || len(b.files.historyOf(b.ref).within("history")) == 0 {
		return nil
	}
	p := b.previous()
	if p == nil || p.Resources == 0 {
		return nil
	}
	return &LostError{Ref: b.ref, History: b.files.path("history", b.ref.Project, b.ref.Stack), Previous: p}
}

// putBack writes a copy as the state. Unlike put, it does not make the former file the .bak, because that is damaged.
func (b stackState) putBack(held holder, previous *Previous, old stored) error {
	data, packing := previous.data, previous.packing
	if b.files.objects != nil && packing != b.packing(old) { // in a store the state keeps its key
		plain, err := unpack(data)
		if err != nil {
			return err
		}
		packing = b.packing(old)
		if data, err = packing.pack(plain); err != nil {
			return err
		}
	}
	path := b.file(packing)
	if err := held.guard(); err != nil {
		return err
	}
	var err error
	if b.files.objects != nil {
		_, err = b.files.objects.put(keyOf(path), data, old.unchanged())
	} else {
		err = disk.WriteDurably(b.files.disk, path, data)
	}
	if err != nil {
		return held.foreign(fileError("write the state", path, err))
	}
	if old.path == path || old.path == "" {
		return nil
	}
	return b.files.remove("remove the damaged state", old.path)
}
