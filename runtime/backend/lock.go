package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
)

// lockFile is the JSON of a lock (F6.9). The member of ours is ignored by others, as theirs would be by us.
type lockFile struct {
	PID       int          `json:"pid"`
	Username  string       `json:"username"`
	Hostname  string       `json:"hostname"`
	Timestamp time.Time    `json:"timestamp"`
	Yamlhost  *lockProcess `json:"yamlhost,omitempty"`
}

// lockProcess distinguishes a process from another one with the same number; see Process.
type lockProcess struct {
	Machine string `json:"machine,omitempty"`
	Boot    string `json:"boot,omitempty"`
	Started string `json:"started,omitempty"`
	Lease   int64  `json:"lease,omitempty"` // the generation of the lease that goes with it, in a store
}

// heldLock is the lock of a stack in the hands of this run.
type heldLock struct {
	files  *files // in a store that can do so, they hold every write to the lease
	fenced *files // the same, which change nothing once the lock is lost
	ref    Ref
	folder string // of the lock
	path   string
	text   []byte // what is in the lock file, in a folder

	// Only in a folder:
	mu   sync.Mutex // guards what follows
	lost error      // final
	seen disk.Stamp // of the lock file when its content was last found to be text

	// In a store: the lease behind the lock, the chain of this run, and the chains that others have left.
	lease   *lease
	chain   *chain
	left    []*links
	session Held // nil unless the store can hold writes to the lease

	// Of a service: the operation whose copy is locked.
	remote *remote
}

// stackLocks takes, finds and gives back the locks of a stack: files in a folder, and in a store the lease with them.
type stackLocks struct{ stack }

// lock takes the stack's lock by the protocol of F6.9: look, write, look again. A lock that yamlhost left behind on
// this machine in a process that is gone is taken over (D9); anyone else's gives a *LockedError.
func (b stackLocks) lock(ctx context.Context) (*heldLock, error) {
	if b.objects != nil {
		return b.lockObjects(ctx)
	}
	if err := b.prepare(); err != nil {
		return nil, err
	}
	if err := disk.MkdirForCopies(b.disk, b.folder()); err != nil { // a lock that a crash loses is in nobody's way
		return nil, fileError("lock the stack in", b.folder(), err)
	}
	release, free := b.disk.Guard(b.folder())
	defer release()
	if err := b.others(""); err != nil {
		return nil, err
	}
	if !free {
		return nil, &HeldUpError{Ref: b.ref, Folder: b.folder(), PID: b.disk.Guarding(b.folder())}
	}
	text, err := json.Marshal(b.ownLock(0))
	if err != nil {
		return nil, fmt.Errorf("lock the stack: %w", err)
	}
	own := uuid.NewString() + ".json"
	path := filepath.Join(b.folder(), own)
	// Any file in the folder is a lock to others, so that the temporary one must not be there.
	if err := disk.WriteThrough(b.disk, disk.Temporary(b.path("lock")), path, text, true); err != nil {
		return nil, &FileError{Doing: "lock the stack with", Path: path, Err: err}
	}
	held := &heldLock{files: b.files, ref: b.ref, folder: b.folder(), path: path, text: text}
	held.fenced = b.on(fencedDisk{b.disk, held})
	if err := b.others(own); err != nil {
		return nil, errors.Join(err, held.release())
	}
	return held, nil
}

// ownLock returns the content of a lock file of this process. lease is the generation of the lease that goes with it; 0
// in a folder.
func (b *files) ownLock(lease int64) lockFile {
	p := b.o.Process
	return lockFile{PID: p.PID, Username: p.User, Hostname: p.Host, Timestamp: b.o.Now().UTC(),
		Yamlhost: &lockProcess{p.Machine, p.Boot, p.Started, lease}}
}

// release gives the lock back. It ends what goes on beside a session of a service, and removes the copy if the service
// has everything.
func (l *heldLock) release() error {
	if l.lease != nil {
		return l.releaseObjects()
	}
	if l.remote != nil {
		l.remote.renewer.halt()
		if l.remote.closed {
			forget(l.files, l.ref)
		}
	}
	return l.files.remove("remove the lock", l.path)
}

// folder returns the folder with the lock files of the stack (F6.9).
func (b stackLocks) folder() string { return b.path("locks", filepath.FromSlash(b.name())) }

// name returns the name of the stack in locks, which has no organization.
func (b stackLocks) name() string {
	return Ref{Project: b.ref.Project, Stack: b.ref.Stack, legacy: b.ref.legacy}.QualifiedName()
}

// others finds locks that are not own, clearing away stale ones of ours.
func (b stackLocks) others(own string) error {
	locks, stale, err := b.locks(own)
	if err != nil {
		return err
	}
	if len(locks) > 0 {
		return &LockedError{b.ref, locks}
	}
	for _, path := range stale {
		if err := b.remove("remove the lock of a process that is gone,", path); err != nil {
			return err
		}
	}
	return nil
}

// locks returns the live locks other than own, and the paths of locks whose processes are gone.
func (b stackLocks) locks(own string) (live []Lock, stale []string, err error) {
	found, files, err := b.lockFiles(own)
	for i, l := range found {
		if b.stale(files[i]) {
			stale = append(stale, l.Path)
			continue
		}
		live = append(live, l)
	}
	return live, stale, err
}

// lock returns what a lock file tells.
func (l lockFile) lock(path string, p Process) Lock {
	return Lock{Path: path, PID: l.PID, User: l.Username, Host: l.Hostname, Timestamp: l.Timestamp, Owner: p.owner(l),
		Foreign: l.Yamlhost == nil}
}

// lockFiles returns the lock files but own, and what is in them.
func (b stackLocks) lockFiles(own string) (found []Lock, files []lockFile, err error) {
	names, err := b.list("locks", filepath.FromSlash(b.name()))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if name == own || !strings.HasSuffix(name, ".json") {
			continue
		}
		path := filepath.Join(b.folder(), name)
		text, err := b.disk.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // just released
		} else if err != nil {
			return nil, nil, fileError("read the lock", path, err)
		}
		var l lockFile
		_ = json.Unmarshal(text, &l) // a lock that cannot be read is a lock
		found = append(found, l.lock(path, b.o.Process))
		files = append(files, l)
	}
	return found, files, nil
}

// stale reports whether a lock belongs to a process of this machine that is gone. The Pulumi CLI's lock names only
// host, user and process. In a store, which machines share, a lock with this machine's name counts as this machine's
// unless other machines may have the same name. In a container they may: whoever starts the container chooses its
// name, and it has process numbers of its own.
func (b stackLocks) stale(l lockFile) bool {
	own := l.Yamlhost != nil || b.objects == nil || l.Username == b.o.Process.User && l.Hostname != "" &&
		!b.o.Process.Contained && !strings.HasPrefix(l.Hostname, "localhost")
	return own && b.o.Process.owner(l) == OwnerGone
}

// Locks returns the locks that keep a stack from being changed now.
func (b *Backend) Locks(r Ref) ([]Lock, error) {
	r, err := b.named(context.Background(), r)
	if err != nil {
		return nil, err
	}
	if b.service != nil {
		if _, listed := b.listed[r]; listed {
			return nil, nil // a list does not tell
		}
		found, err := b.service.Stack(context.Background(), r)
		if err != nil || found.Lock == nil {
			return nil, err
		}
		return []Lock{*found.Lock}, nil
	}
	locks, _, err := b.locksOf(r).locks("")
	return locks, err
}

// Cancelled describes what Cancel has done.
type Cancelled struct {
	Locks  []Lock // removed, including locks of processes that are gone
	HeldUp int    // the process that is stopped in the middle of removing a file; 0 if there is none
}

// Cancel removes all locks of a stack, no matter who holds them, and takes the lease away in a store (F6.9, D14). A run
// of yamlhost that held one begins nothing and writes nothing from then on, also one that is stopped now and wakes up
// later.
func (b *Backend) Cancel(r Ref) (*Cancelled, error) {
	r, err := b.named(context.Background(), r)
	if err != nil {
		return nil, err
	}
	if h, ok := b.hosted(); ok {
		return h.cancel(context.Background(), r)
	}
	release, free := b.disk.Guard(b.locksOf(r).folder())
	defer release()
	out := &Cancelled{}
	if !free {
		out.HeldUp = b.disk.Guarding(b.locksOf(r).folder())
	}
	found, _, err := b.locksOf(r).lockFiles("")
	if err != nil {
		return nil, err
	}
	out.Locks = found
	for _, l := range found {
		if err := b.remove("remove the lock", l.Path); err != nil {
			return nil, err
		}
	}
	if b.objects != nil {
		holder, err := b.leaseOf(r).free()
		if holder != nil && len(found) == 0 {
			out.Locks = append(out.Locks, *holder)
		}
		return out, err
	}
	return out, b.locksOf(r).sweep()
}
