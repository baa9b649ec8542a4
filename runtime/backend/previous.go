package backend

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/yamlhost/yamlhost/runtime/journal"
)

// Previous is the state that a stack had before it was written last, which stays as .bak (F6.10).
type Previous struct {
	Path      string
	Written   time.Time
	Resources int

	state string // the file that it is the previous content of
	data  []byte
}

// Previous finds the previous state of a stack; nil when there is none that is sound. The newest counts.
func (b *Backend) Previous(r Ref) *Previous {
	if r.check() != nil || b.objects != nil { // stores of objects keep versions of their own
		return nil
	}
	var best *Previous
	for _, c := range extensions {
		p := &Previous{state: b.stackPath(r, c)}
		p.Path = p.state + ".bak"
		var err error
		if p.Written, err = b.disk.ModTime(p.Path); err != nil || best != nil && !p.Written.After(best.Written) {
			continue
		}
		if p.data, err = b.disk.ReadFile(p.Path); err != nil {
			continue
		}
		c, err := (stored{path: p.Path, raw: p.data, identity: journal.IdentityOf(p.data)}).decode(nil)
		if err != nil || snapshotOf(c).Verify() != nil {
			continue
		}
		p.Resources = len(snapshotOf(c).Resources)
		best = p
	}
	return best
}

// withPrevious adds to the error of a damaged state file that there is a sound one before it.
func (b *Backend) withPrevious(r Ref, err error) error {
	var damaged *CorruptError
	if !errors.As(err, &damaged) || damaged.Previous != nil {
		return err
	}
	advised := *damaged
	if advised.Previous = b.Previous(r); advised.Previous == nil {
		return err
	}
	return &advised
}

// Restore puts the previous state of a stack in the place of one that is damaged, which it keeps aside. A state that can be
// read is refused.
func (b *Backend) Restore(ctx context.Context, r Ref) (aside string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	held, err := b.lock(ctx, r)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, held.release()) }()
	file, err := b.current(r)
	if err != nil {
		return "", err
	}
	if _, err := file.decode(nil); err == nil {
		return "", fmt.Errorf("the state %s can be read; it is not replaced by the one before it", file.path)
	}
	previous := b.Previous(r)
	if previous == nil {
		return "", &CorruptError{Path: file.path, Err: errors.New("and there is no sound state from before it")}
	}
	aside = fmt.Sprintf("%s.%d.damaged", file.path, b.o.Now().UnixNano())
	if err := writeDurably(b.disk, aside, file.raw); err != nil {
		return "", &FileError{Doing: "set the damaged state aside in", Path: aside, Err: err}
	}
	// Not as other states are written: what is there must not become the .bak.
	if err := writeDurably(b.disk, previous.state, previous.data); err != nil {
		return "", &FileError{Doing: "write the state", Path: previous.state, Err: err}
	}
	if file.path != previous.state {
		if err := removeDurably(b.disk, file.path); err != nil {
			return "", &FileError{Doing: "remove the damaged state", Path: filepath.Base(file.path), Err: err}
		}
	}
	return aside, nil
}
