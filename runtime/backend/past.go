package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Past is what a backend has kept of a stack: the records of its operations, and the states at their ends. It reads
// only. It is safe for concurrent use.
type Past struct {
	b *Backend
	r Ref
}

// PastOf returns the past of a stack.
func PastOf(b *Backend, r Ref) (Past, error) { return Past{b, r}, r.check() }

// Revision returns a text that is another one whenever the state, the journal, the locks or the history of a stack
// have changed. It reads no state.
func (p Past) Revision() (string, error) {
	b, r := p.b, p.r
	var text strings.Builder
	for _, path := range []string{b.stateOf(r).file(Plain), b.stateOf(r).file(Gzip), b.stateOf(r).file(Zstd),
		b.journalOf(r).journalFile()} {
		switch t, err := b.disk.ModTime(path); {
		case err == nil:
			fmt.Fprintln(&text, t.UnixNano())
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintln(&text, "-")
		default:
			return "", &FileError{Doing: "look at", Path: path, Err: err}
		}
	}
	records, err := b.list("history", r.Project, r.Stack)
	if err != nil {
		return "", err
	}
	locks, err := b.list("locks", organization, r.Project, r.Stack)
	if err != nil {
		return "", err
	}
	fmt.Fprintln(&text, len(records), locks)
	if b.objects == nil {
		return text.String(), nil
	}
	chains, err := b.chainsOf(r).list()
	if err != nil || len(chains) == 0 {
		return text.String(), err
	}
	last := chains[len(chains)-1]
	links, err := b.objects.list(last + "/")
	if err != nil {
		return "", &FileError{Doing: "look for the journal in", Path: last, Err: err}
	}
	fmt.Fprintln(&text, last, len(links))
	return text.String(), nil
}

// State returns the state at the end of the operation with that stamp, which Entries gives; nil if no copy of it was
// kept. Secrets stay sealed.
func (p Past) State(ctx context.Context, stamp int64) (*state.Snapshot, error) {
	path, text, err := p.text(ctx, stamp)
	if text == nil || err != nil {
		return nil, err
	}
	c, err := state.DecodeCheckpoint(text, nil)
	if err != nil {
		return nil, &CorruptError{Path: path, Err: err}
	}
	return snapshotOf(c), nil
}

// Resource returns one resource of the state that State returns, without decoding the others; nil if it has none of
// that name.
func (p Past) Resource(ctx context.Context, stamp int64, u urn.URN) (*state.Resource, error) {
	path, text, err := p.text(ctx, stamp)
	if text == nil || err != nil {
		return nil, err
	}
	found, err := state.FindResource(text, u)
	if err != nil {
		return nil, &CorruptError{Path: path, Err: err}
	}
	return found, nil
}

// text reads the copy of a state that the history has; nil if it has none.
func (p Past) text(ctx context.Context, stamp int64) (path string, text []byte, err error) {
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	b, r := p.b, p.r
	for _, c := range extensions {
		path = b.path("history", r.Project, r.Stack, fmt.Sprintf("%s-%d.checkpoint.json%s", r.Stack, stamp, c))
		raw, err := b.disk.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return path, nil, &FileError{Doing: "read the history", Path: path, Err: err}
		}
		if text, err = unpack(raw); err != nil {
			return path, nil, &CorruptError{Path: path, Err: err}
		}
		return path, text, nil
	}
	return "", nil, nil
}
