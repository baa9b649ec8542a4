package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// extensions are what a state file's name may end in (F6.4).
var extensions = [...]Compression{Plain, Gzip, Zstd}

// stackOf is the stack whose state file has that name.
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
			if stack, ok := stackOf(name); ok && (Ref{p, stack}).check() == nil {
				refs = append(refs, Ref{p, stack})
			}
		}
	}
	slices.SortFunc(refs, func(x, y Ref) int {
		return strings.Compare(x.Project+"/"+x.Stack, y.Project+"/"+y.Stack)
	})
	return slices.Compact(refs), nil
}

// Exists reports whether there is such a stack.
func (b *Backend) Exists(r Ref) (bool, error) {
	if err := r.check(); err != nil {
		return false, err
	}
	_, err := b.locate(r)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return false, nil
	}
	return err == nil, err
}

// stored is a state file as it is on disk.
type stored struct {
	path     string
	raw      []byte // packed
	identity journal.Identity
	version  string // of the object, in a store
}

// decode reads a state file's content.
func (s stored) decode(open state.Opener) (*state.Checkpoint, error) {
	plain, err := unpack(s.raw)
	if err != nil {
		return nil, &CorruptError{Path: s.path, Err: err}
	}
	if _, err := checkSeal(plain); err != nil {
		return nil, &CorruptError{Path: s.path, Err: err}
	}
	c, err := state.DecodeCheckpoint(plain, open)
	if err == nil {
		if delete(c.Unknown, sealMember); len(c.Unknown) == 0 {
			c.Unknown = nil
		}
		return c, nil
	}
	var syntax *state.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &CorruptError{Path: s.path, Err: err}
	}
	return nil, fmt.Errorf("read the state %s: %w", s.path, err)
}

// altered reports whether a state file is not what was written, see checkSeal.
func (s stored) altered() bool {
	plain, err := unpack(s.raw)
	if err != nil {
		return false
	}
	changed, err := checkSeal(plain)
	return changed && err == nil
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
	const attempts = 5 // an operation that ends meanwhile replaces the file and drops the journal, once
	for i := 1; ; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left, err := b.journalOf(r).data() // before the file: an operation drops it after writing that
		if err != nil {
			return nil, err
		}
		file, err := b.current(r)
		if err != nil {
			return nil, err
		}
		recovered, err := b.journalOf(r).settle(file, left, false)
		if err != nil {
			return nil, b.withPrevious(r, err)
		}
		if recovered != nil && recovered.Foreign && i < attempts {
			continue
		}
		if recovered == nil || recovered.snapshot == nil {
			c, err := file.decode(open)
			if err != nil {
				return nil, b.withPrevious(r, err)
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

func snapshotOf(c *state.Checkpoint) *state.Snapshot {
	if c.Snapshot == nil {
		return &state.Snapshot{}
	}
	return c.Snapshot
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
	if err := r.check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	held, err := b.locksOf(r).lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(held.explain(err), held.release()) }()
	b = held.fenced
	if exists, err := b.Exists(r); err != nil {
		return err
	} else if exists {
		return &ExistsError{r}
	}
	if lost := b.Lost(r); lost != nil {
		return lost
	}
	stub, err := state.EncodeCheckpoint(&state.Checkpoint{Stack: r.QualifiedName()}, nil)
	if err != nil {
		return err
	}
	file, err := b.writeState(held, r, stub, stored{})
	if err != nil {
		return err
	}
	text, err := state.EncodeCheckpoint(&state.Checkpoint{Stack: r.QualifiedName(), Snapshot: &state.Snapshot{
		Manifest: b.manifest(), SecretsProvider: secrets,
	}}, nil)
	if err != nil {
		return err
	}
	_, err = b.writeState(held, r, text, file)
	return err
}

// RemoveOptions say how much Remove removes.
type RemoveOptions struct {
	Force   bool // also a stack that has resources; they are left behind in the cloud
	Backups bool // backups and the previous state file too (F6.14)
}

// Remove removes a stack with its history and tags (F6.14). A stack with resources gives a *NotEmptyError.
func (b *Backend) Remove(ctx context.Context, r Ref, o RemoveOptions) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	held, err := b.locksOf(r).lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(held.explain(err), held.release()) }()
	b = held.fenced
	if !o.Force {
		loaded, err := b.Load(ctx, r, nil)
		if err != nil {
			return err
		}
		if n := len(loaded.Snapshot.Resources); n > 0 {
			return &NotEmptyError{r, n}
		}
	} else if _, err := b.locate(r); err != nil {
		return err
	}
	paths := b.historyOf(r).within("history") // before the state: a history without one is a stack that has lost it
	for _, c := range extensions {
		path := b.stackPath(r, c)
		if err := b.keepAsBackup(path); err != nil { // the last content stays as .bak
			return err
		}
		if paths = append(paths, path); o.Backups {
			paths = append(paths, path+".bak")
		}
	}
	paths = append(paths, b.historyOf(r).tagsPath(), b.journalOf(r).file())
	if o.Backups {
		paths = append(paths, b.historyOf(r).within("backups")...)
	}
	if err := held.guard(); err != nil {
		return err
	}
	for _, path := range paths {
		if err := disk.RemoveDurably(b.disk, path); err != nil {
			return &FileError{Doing: "remove", Path: path, Err: err}
		}
	}
	return b.journalOf(r).settleAll(held)
}

// within are the files in a stack's folder in history or backups.
func (b stackHistory) within(folder string) []string {
	names, _ := b.list(folder, b.ref.Project, b.ref.Stack) // a folder that cannot be listed is left where it is
	var paths []string
	for _, name := range names {
		if !strings.HasSuffix(name, "/") {
			paths = append(paths, b.path(folder, b.ref.Project, b.ref.Stack, name))
		}
	}
	return paths
}

// packed is what a state file will be on disk.
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
	if _, err := checkSeal(plain); err != nil {
		return err
	}
	return state.Readable(plain)
}

// writeState replaces the state file durably (F6.10). The caller holds the lock.
func (b *Backend) writeState(held *heldLock, r Ref, text []byte, over stored) (stored, error) {
	p, err := b.pack(text, over)
	if err != nil {
		return stored{}, err
	}
	if err := held.guard(); err != nil {
		return stored{}, err
	}
	return b.putState(r, p, over)
}

func (b stackJournal) file() string {
	return filepath.Join(b.root, "stacks", b.ref.Project, b.ref.Stack+".yamlhost-journal")
}

// data is the content of a stack's journal file, nil when there is none.
func (b stackJournal) data() ([]byte, error) {
	if err := b.ref.check(); err != nil {
		return nil, err
	}
	if b.objects != nil {
		return b.journalInChains()
	}
	path := b.file()
	data, err := b.disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, &FileError{Doing: "read the journal", Path: path, Err: err}
	}
	return slices.Clip(data), nil
}
