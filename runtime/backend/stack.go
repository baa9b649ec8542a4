package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
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
		if projects, err = b.files.list("stacks"); err != nil {
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
		names, err := b.files.list("stacks", p)
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
	return b.files.stateOf(r).exists()
}

// found converts the error of a lookup: a *NotFoundError is false.
func found(err error) (bool, error) {
	if errors.As(err, new(*NotFoundError)) {
		return false, nil
	}
	return err == nil, err
}

// Loaded is the state of a stack that Load has read.
type Loaded struct {
	Snapshot  *state.Snapshot // never nil; empty for a new stack
	Recovered *Recovery       // the journal of a run that was interrupted or is under way; nil if there is none
	Altered   bool            // as Session.Altered
	// Held are the locks of runs that are under way, which Recovered and pending operations of the snapshot belong to.
	// Without one, the run that left them was interrupted. It is looked up, and then set, only if there are any.
	Held []Lock
}

// unfinished reports whether the state shows a run that is under way or was interrupted.
func (l *Loaded) unfinished() bool { return l.Recovered != nil || len(l.Snapshot.Pending) > 0 }

// sameRun reports whether two looks show the same unfinished run, which did nothing in between.
func (l *Loaded) sameRun(other *Loaded) bool {
	if len(l.Snapshot.Pending) != len(other.Snapshot.Pending) || (l.Recovered == nil) != (other.Recovered == nil) {
		return false
	}
	for i, op := range l.Snapshot.Pending {
		if next := other.Snapshot.Pending[i]; op.Kind != next.Kind || op.Resource.URN != next.Resource.URN {
			return false
		}
	}
	r, next := l.Recovered, other.Recovered
	return r == nil || r.Entries == next.Entries && r.Header.Started.Equal(next.Header.Started) &&
		r.Header.Command == next.Header.Command
}

// Load reads a stack without taking its lock, and writes nothing: it applies the journal of a crashed or running
// operation in memory. With a nil open, secrets stay sealed (F4.16). It fails with a *NotFoundError, a *CorruptError, a
// *state.VersionError or a *FileError.
//
// An unfinished run counts as interrupted only if there was a moment at which its journal or its pending operations
// were there and no lock was: a run takes its lock first and gives it back last. Load looks at the locks after it has
// seen the journal, and then looks whether the journal is still the same.
func (b *Backend) Load(ctx context.Context, r Ref, open state.Opener) (*Loaded, error) {
	r, err := b.named(ctx, r)
	if err != nil {
		return nil, err
	}
	const attempts = 5 // runs that begin and end meanwhile
	look := reader{b, r, open}
	loaded, err := look.once(ctx)
	for i := 1; err == nil && loaded.unfinished() && len(loaded.Held) == 0; i++ {
		if loaded.Held, err = look.holders(ctx); err != nil || len(loaded.Held) > 0 {
			break
		}
		again, failed := look.once(ctx)
		if failed != nil || loaded.sameRun(again) || i == attempts {
			break
		}
		loaded = again
	}
	return loaded, err
}

// reader reads a stack without taking its lock.
type reader struct {
	backend *Backend
	ref     Ref
	open    state.Opener
}

// holders returns the locks of runs that are under way, as far as a look without a change can tell.
func (l reader) holders(ctx context.Context) ([]Lock, error) {
	b, r := l.backend, l.ref
	if b.service != nil {
		found, err := b.service.Stack(ctx, r)
		if err != nil || found.Lock == nil {
			return nil, err
		}
		return []Lock{*found.Lock}, nil
	}
	return b.files.locksOf(r).holders()
}

// once reads the stack, without a look at its locks.
func (l reader) once(ctx context.Context) (*Loaded, error) {
	b, r, open := l.backend, l.ref, l.open
	if h, ok := b.hosted(); ok {
		return h.load(ctx, r, open)
	}
	const attempts = 5 // an operation that ends meanwhile replaces the file and drops the journal, once
	for i := 1; ; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// before the file: an operation writes the file, then drops the journal
		left, err := b.files.journalOf(r).data()
		if err != nil {
			return nil, err
		}
		file, err := b.files.stateOf(r).current()
		if err != nil {
			return nil, err
		}
		recovered, err := b.files.journalOf(r).replay(file, left, false)
		if err != nil {
			return nil, b.files.stateOf(r).withPrevious(err)
		}
		if recovered != nil && recovered.Foreign && i < attempts {
			continue
		}
		if recovered == nil || recovered.snapshot == nil {
			c, err := file.decode(open)
			if err != nil {
				return nil, b.files.stateOf(r).withPrevious(err)
			}
			return &Loaded{Snapshot: snapshotOf(c), Recovered: recovered.unlessEmpty(), Altered: file.altered()}, nil
		}
		s, err := reopen(recovered.snapshot, open)
		if err != nil {
			return nil, fmt.Errorf("read the state of %s: %w", r, err)
		}
		return &Loaded{Snapshot: s, Recovered: recovered, Altered: file.altered()}, nil
	}
}

// reopen opens the sealed secrets of a snapshot.
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

// Create makes a stack without resources (F6.6). With nil secrets the stack cannot have secrets yet. A stack of that
// name gives an *ExistsError, one that has lost its state a *LostError.
func (b *Backend) Create(ctx context.Context, r Ref, secrets *state.SecretsProvider) (err error) {
	if r, err = b.named(ctx, r); err == nil {
		err = r.CheckNew()
	}
	if err != nil {
		return err
	}
	if b.service != nil {
		return b.service.Create(ctx, r)
	}
	held, err := b.files.locksOf(r).lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(held.explain(err), held.release()) }()
	b = under(held, b)
	if exists, err := b.Exists(r); err != nil {
		return err
	} else if exists {
		return &ExistsError{r}
	}
	if lost := b.files.stateOf(r).lost(); lost != nil {
		return lost
	}
	if err := stackName(b.files.stateOf(r)).mayBeNew(Ref{}); err != nil {
		return err
	}
	created := &state.Snapshot{Manifest: b.files.manifest(), SecretsProvider: secrets}
	text, err := state.EncodeCheckpoint(&state.Checkpoint{Stack: r.QualifiedName(), Snapshot: created}, nil)
	if err != nil {
		return err
	}
	file, err := b.files.stateOf(r).replace(held, text, stored{})
	if err != nil {
		return err
	}
	if err := b.files.stateOf(r).keepStub(file); err != nil {
		return err
	}
	file.written = created.Manifest.Time
	return held.complete(nil, "succeeded", &ending{file: file, snapshot: created})
}

// RemoveOptions are the options of Remove.
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
		if err := Removable(ctx, b, r, o); err != nil {
			return err
		}
		if err := b.service.Remove(ctx, r, o.Force); err != nil {
			return err
		}
		forget(h.mirror(r).files, r)
		return nil
	}
	held, err := b.files.locksOf(r).lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(held.explain(err), held.release()) }()
	b = under(held, b)
	if err := mayRemove(ctx, b, r, o); err != nil {
		return err
	}
	paths := b.files.historyOf(r).within("history") // before the state: a history without a state means that it was lost
	for _, c := range extensions {
		path := b.files.stateOf(r).file(c)
		if err := b.files.stateOf(r).keepAsBackup(path); err != nil { // the last content stays as .bak
			return err
		}
		if paths = append(paths, path); o.Backups {
			paths = append(paths, path+".bak")
		}
	}
	paths = append(paths, b.files.historyOf(r).tagsPath(), b.files.journalOf(r).journalFile(),
		b.files.stateOf(r).lossFile())
	if o.Backups {
		paths = append(paths, b.files.historyOf(r).within("backups")...)
	}
	if err := held.guard(); err != nil {
		return err
	}
	for _, path := range paths {
		if err := b.files.remove("remove", path); err != nil {
			return err
		}
	}
	return held.noteMerged()
}

// Removable returns the error that Remove would return, without taking the lock. A stack that a run holds gives a
// *LockedError, whatever else is wrong with it.
func Removable(ctx context.Context, b *Backend, r Ref, o RemoveOptions) (err error) {
	if r, err = b.named(ctx, r); err == nil {
		err = free(ctx, b, r)
	}
	if err != nil {
		return err
	}
	return mayRemove(ctx, b, r, o)
}

// free returns a *LockedError if a run holds the stack, as far as a look without a change can tell. It comes before
// every error that advises to force something, as that would be wrong beside a run.
func free(ctx context.Context, b *Backend, r Ref) error {
	held, err := reader{backend: b, ref: r}.holders(ctx)
	if err == nil && len(held) > 0 {
		err = &LockedError{Ref: r, Locks: held}
	}
	return err
}

// mayRemove returns an error for a missing stack, and for one with resources unless the options allow that.
func mayRemove(ctx context.Context, b *Backend, r Ref, o RemoveOptions) error {
	if o.Force {
		if b.service != nil {
			return nil // the service checks by itself
		}
		_, err := b.files.stateOf(r).locate()
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

// Export writes a state in the form of stack export (F5.17): the present one for version 0, or an earlier version,
// which only a service has. With a nil open, secrets stay sealed as they are; else they are shown. A state that cannot
// be read gives an error before anything is written.
func (b *Backend) Export(ctx context.Context, r Ref, version int, open state.Opener, w io.Writer) error {
	var s *state.Snapshot
	h, ok := b.hosted()
	switch {
	case version == 0:
		loaded, err := b.Load(ctx, r, open)
		if err != nil {
			return err
		}
		s = loaded.Snapshot
	case !ok:
		return errors.New("only a service has earlier states by their numbers; those of this backend are in .pulumi/history")
	case version < 0:
		return errors.New("--version takes a number from 1")
	default:
		r, err := b.named(ctx, r)
		if err == nil {
			s, err = h.version(ctx, r, version, open)
		}
		if err != nil {
			return err
		}
	}
	form := state.Shown()
	if open == nil {
		form = state.Sealed(nil)
	}
	text, err := state.EncodeExport(s, form)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// Overview describes one stack in a list of stacks.
type Overview struct {
	Resources int       `json:"resources,omitempty"`
	Pending   int       `json:"pending,omitempty"`
	Updated   time.Time `json:"updated,omitzero"` // the end of the last operation, or the last write of the state; zero for a new stack
	Written   time.Time `json:"written,omitzero"` // the time in the state, also of a new stack; zero if it was not read
}

// overviewOf describes a state that has a time in it, apart from the records of operations.
func overviewOf(s *state.Snapshot, written time.Time) Overview {
	o := Overview{Resources: len(s.Resources), Pending: len(s.Pending), Written: written}
	if o.Resources+o.Pending > 0 {
		o.Updated = written
	}
	return o
}

// Overview describes a stack. Its errors are the errors of Load.
func (b *Backend) Overview(ctx context.Context, r Ref) (Overview, error) {
	if known, ok := b.listed[r]; ok {
		return Overview{Resources: known.Resources, Updated: known.Updated}, nil
	}
	if b.files.objects != nil {
		if known := b.files.leaseOf(r).glance(); known != nil {
			return *known, nil
		}
	}
	loaded, err := b.Load(ctx, r, nil)
	if err != nil {
		return Overview{}, err
	}
	o := overviewOf(loaded.Snapshot, loaded.Snapshot.Manifest.Time)
	o.Updated = b.LastUpdate(ctx, r, o.Updated)
	return o, nil
}

// LastUpdate returns the end of the last operation on a stack, or written, the time of its state, if that is later. An
// operation that changes nothing does not write the state.
func (b *Backend) LastUpdate(ctx context.Context, r Ref, written time.Time) time.Time {
	last, _ := b.History(ctx, r, 2) // without a history, the time of the state counts
	for _, record := range last {
		ended := time.Unix(record.EndTime, 0).UTC()
		if record.EndTime > 0 && ended.After(written) { // 0 of one that still runs
			return ended
		}
	}
	return written
}

// ForeignStackError is returned when a state to import has a resource of another stack (F5.17).
type ForeignStackError struct {
	Ref Ref
	URN urn.URN
}

func (e *ForeignStackError) Error() string {
	return fmt.Sprintf("the state to import has the resource %s, which belongs to the stack %q and not to %q",
		e.URN, e.URN.Stack(), e.Ref.Stack)
}

// Imported is the result of Import.
type Imported struct {
	Dropped  []state.Operation // pending operations, which are not imported
	Warnings []error           // errors that force has turned into warnings
}

// ImportOptions are the options of Import.
type ImportOptions struct {
	Begin BeginOptions
	Force bool // a *ForeignStackError or *state.IntegrityError is only a warning
}

// Import replaces a stack's state by an exported one (F5.17), under the stack's lock and without a record in the
// history. It seals secrets that are in the clear. If it fails, the state is unchanged.
func (b *Backend) Import(ctx context.Context, r Ref, data []byte, o ImportOptions) (_ *Imported, err error) {
	next, err := state.DecodeExport(data, nil)
	if err == nil && o.Begin.Open != nil && next.HasSealed() {
		next, err = state.DecodeExport(data, o.Begin.Open) // nothing else needs the key of the exported state
	}
	if err != nil {
		if _, ok := errors.AsType[*state.SyntaxError](err); ok {
			return nil, fmt.Errorf("the state to import cannot be read: %w", err)
		}
		return nil, err
	}
	if r, err = b.named(ctx, r); err == nil {
		err = free(ctx, b, r)
	}
	if err != nil {
		return nil, err
	}
	out := &Imported{Dropped: next.Pending}
	next.Pending = nil
	if err := out.check(r, next, o.Force); err != nil {
		return nil, err
	}
	if h, ok := b.hosted(); ok {
		return out, h.replace(ctx, r, next, o.Begin)
	}
	o.Begin.SkipIntegrity = true // the present state is about to be replaced
	s, err := b.Begin(ctx, r, o.Begin)
	if err != nil {
		return nil, err
	}
	err = s.Commit(ctx, next, nil)
	if _, ok := errors.AsType[*state.IntegrityError](err); ok && o.Force {
		err = nil // it is in Warnings
	}
	return out, err
}

// check looks for faults of a state to import. With force they become warnings.
func (i *Imported) check(r Ref, s *state.Snapshot, force bool) error {
	var faults []error
	for _, res := range s.Resources {
		if res.URN.Stack() != r.Stack {
			faults = append(faults, &ForeignStackError{r, res.URN})
			break
		}
	}
	if err := s.Verify(); err != nil {
		faults = append(faults, err)
	}
	if force {
		i.Warnings = faults
		return nil
	}
	return errors.Join(faults...)
}
