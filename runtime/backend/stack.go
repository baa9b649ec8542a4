package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// extensions are the possible endings of a state file's name (F6.4).
var extensions = [...]Compression{Plain, Gzip, Zstd}

// stackOf returns the stack whose state file has that name.
func stackOf(name string) (string, bool) {
	for _, c := range extensions {
		if stack, ok := strings.CutSuffix(name, ".json"+string(c)); ok && stack != "" {
			return stack, true
		}
	}
	return "", false
}

// Stacks lists stacks by project and name. An empty project means all.
func (b *Backend) Stacks(ctx context.Context, project string) ([]Ref, error) {
	if h, ok := b.hosted(); ok {
		return h.stacks(ctx, project)
	}
	projects := []string{project + "/"}
	if project == "" {
		var err error
		if projects, err = b.list("stacks"); err != nil {
			return nil, err
		}
	}
	var refs []Ref
	for _, p := range projects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, isFolder := strings.CutSuffix(p, "/")
		if !isFolder {
			continue
		}
		names, err := b.list("stacks", p)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if stack, ok := stackOf(name); ok && (Ref{Project: p, Stack: stack}).check() == nil {
				refs = append(refs, Ref{Project: p, Stack: stack})
			}
		}
	}
	slices.SortStableFunc(refs, func(x, y Ref) int {
		return strings.Compare(x.Project+"/"+x.Stack, y.Project+"/"+y.Stack)
	})
	return slices.Compact(refs), nil
}

// Exists reports whether there is such a stack.
func (b *Backend) Exists(r Ref) (bool, error) {
	r, err := b.named(context.Background(), r)
	switch {
	case err != nil:
		return false, err
	case b.service != nil:
		_, err = b.service.Stack(context.Background(), r)
		return found(err)
	}
	return b.stateOf(r).exists()
}

// found reports whether a stack was found, by the error of looking for it.
func found(err error) (bool, error) {
	if errors.As(err, new(*NotFoundError)) {
		return false, nil
	}
	return err == nil, err
}

// Loaded is a stack as it is known.
type Loaded struct {
	Snapshot *state.Snapshot // never nil; empty for a new stack
	// what a run that was cut off, or is still under way, has left beside the file; nil if nothing
	Recovered *Recovery
	// the file is not what yamlhost wrote, nor what another program would: somebody has edited it
	Altered bool
}

// Load reads a stack without taking its lock, and writes nothing: what a crashed or running operation has journaled is
// applied in memory. With a nil open, secrets stay sealed (F4.16). It fails with a *NotFoundError, a *CorruptError, a
// *state.VersionError or a *FileError.
func (b *Backend) Load(ctx context.Context, r Ref, open state.Opener) (*Loaded, error) {
	r, err := b.named(ctx, r)
	if err != nil {
		return nil, err
	}
	if h, ok := b.hosted(); ok {
		return h.load(ctx, r, open)
	}
	const attempts = 5 // an operation that ends meanwhile replaces the file and drops the journal, once
	for i := 1; ; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left, err := b.journalOf(r).data() // before the file: an operation drops it after writing that
		if err != nil {
			return nil, err
		}
		file, err := b.stateOf(r).current()
		if err != nil {
			return nil, err
		}
		recovered, err := b.journalOf(r).replay(file, left, false)
		if err != nil {
			return nil, b.stateOf(r).withPrevious(err)
		}
		if recovered != nil && recovered.Foreign && i < attempts {
			continue
		}
		if recovered == nil || recovered.snapshot == nil {
			c, err := file.decode(open)
			if err != nil {
				return nil, b.stateOf(r).withPrevious(err)
			}
			return &Loaded{snapshotOf(c), recovered.unlessEmpty(), file.altered()}, nil
		}
		s, err := reopen(recovered.snapshot, open)
		if err != nil {
			return nil, fmt.Errorf("read the state of %s: %w", r, err)
		}
		return &Loaded{s, recovered, file.altered()}, nil
	}
}

// reopen opens the secrets of a snapshot in which they are sealed.
func reopen(s *state.Snapshot, open state.Opener) (*state.Snapshot, error) {
	if open == nil {
		return s, nil
	}
	text, err := state.Encode(s, nil)
	if err != nil {
		return nil, err
	}
	return state.Decode(text, open)
}

// Create makes a stack without resources (F6.6). secrets may be nil: then the stack has no way to keep secrets yet. A
// stack of that name gives an *ExistsError, one that has lost its state a *LostError.
func (b *Backend) Create(ctx context.Context, r Ref, secrets *state.SecretsProvider) (err error) {
	if r, err = b.named(ctx, r); err != nil {
		return err
	}
	if b.service != nil {
		return b.service.Create(ctx, r)
	}
	held, err := b.locksOf(r).lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(held.explain(err), held.release()) }()
	b = b.under(held)
	if exists, err := b.Exists(r); err != nil {
		return err
	} else if exists {
		return &ExistsError{r}
	}
	if lost := b.Lost(r); lost != nil {
		return lost
	}
	text, err := state.EncodeCheckpoint(&state.Checkpoint{Stack: r.QualifiedName(), Snapshot: &state.Snapshot{
		Manifest: b.manifest(), SecretsProvider: secrets,
	}}, nil)
	if err != nil {
		return err
	}
	file, err := b.stateOf(r).replace(held, text, stored{})
	if err != nil {
		return err
	}
	return b.stateOf(r).keepStub(file)
}

// RemoveOptions control how much Remove removes.
type RemoveOptions struct {
	Force   bool // also a stack that has resources; they are left behind in the cloud
	Backups bool // backups and the previous state file too (F6.14)
}

// Remove removes a stack with its history and tags (F6.14). A stack with resources gives a *NotEmptyError.
func (b *Backend) Remove(ctx context.Context, r Ref, o RemoveOptions) (err error) {
	if r, err = b.named(ctx, r); err != nil {
		return err
	}
	if h, ok := b.hosted(); ok {
		if err := b.mayRemove(ctx, r, o); err != nil {
			return err
		}
		if err := b.service.Remove(ctx, r, o.Force); err != nil {
			return err
		}
		forget(h.mirror(r).files, r)
		return nil
	}
	held, err := b.locksOf(r).lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(held.explain(err), held.release()) }()
	b = b.under(held)
	if err := b.mayRemove(ctx, r, o); err != nil {
		return err
	}
	paths := b.historyOf(r).within("history") // before the state: a history without one is a stack that has lost it
	for _, c := range extensions {
		path := b.stateOf(r).file(c)
		if err := b.stateOf(r).keepAsBackup(path); err != nil { // the last content stays as .bak
			return err
		}
		if paths = append(paths, path); o.Backups {
			paths = append(paths, path+".bak")
		}
	}
	paths = append(paths, b.historyOf(r).tagsPath(), b.journalOf(r).journalFile(), b.stateOf(r).lossFile())
	if o.Backups {
		paths = append(paths, b.historyOf(r).within("backups")...)
	}
	if err := held.guard(); err != nil {
		return err
	}
	for _, path := range paths {
		if err := b.remove("remove", path); err != nil {
			return err
		}
	}
	return b.chainsOf(r).noteAllMerged(held)
}

// mayRemove returns an error for a stack that is not there, or that has resources unless the options allow that.
func (b *Backend) mayRemove(ctx context.Context, r Ref, o RemoveOptions) error {
	if o.Force {
		if b.service != nil {
			return nil // it looks itself
		}
		_, err := b.stateOf(r).locate()
		return err
	}
	loaded, err := b.Load(ctx, r, nil)
	if err != nil {
		return err
	}
	if n := len(loaded.Snapshot.Resources); n > 0 {
		return &NotEmptyError{r, n}
	}
	return nil
}
