package backend

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// lockFile is the JSON of a lock (F6.9). The member of ours is ignored by others, as theirs would be by us.
type lockFile struct {
	PID       int          `json:"pid"`
	Username  string       `json:"username"`
	Hostname  string       `json:"hostname"`
	Timestamp time.Time    `json:"timestamp"`
	Yamlhost  *lockProcess `json:"yamlhost,omitempty"`
}

type lockProcess struct {
	Machine string `json:"machine,omitempty"`
	Boot    string `json:"boot,omitempty"`
	Started string `json:"started,omitempty"`
	Lease   int64  `json:"lease,omitempty"` // the generation of the lease that goes with it, in a store
}

type heldLock struct {
	b    *Backend
	path string

	// In a store: the lease behind the lock, the chain of this run, and the chains that others have left.
	lease *lease
	chain *chain
	left  []*links
}

// guard makes sure that the lock is still held.
func (l *heldLock) guard() error {
	if l.chain == nil {
		return nil
	}
	return l.explain(l.chain.guard())
}

// lock takes the stack's lock by the protocol of F6.9: look, write, look again. A lock that yamlhost left behind on this
// machine in a process that is gone is taken over (D9); anyone else's gives a *LockedError.
func (b *Backend) lock(ctx context.Context, r Ref) (*heldLock, error) {
	if b.objects != nil {
		return b.lockObjects(ctx, r)
	}
	if err := b.prepare(); err != nil {
		return nil, err
	}
	if err := mkdirAll(b.disk, b.lockFolder(r)); err != nil {
		return nil, &FileError{Doing: "lock the stack in", Path: b.lockFolder(r), Err: err}
	}
	defer b.disk.Guard(b.lockFolder(r))()
	if err := b.others(r, ""); err != nil {
		return nil, err
	}
	p := b.o.Process
	text, err := json.Marshal(lockFile{PID: p.PID, Username: p.User, Hostname: p.Host, Timestamp: b.o.Now().UTC(),
		Yamlhost: &lockProcess{Machine: p.Machine, Boot: p.Boot, Started: p.Started}})
	if err != nil {
		return nil, fmt.Errorf("lock the stack: %w", err)
	}
	own := newUUID() + ".json"
	path := filepath.Join(b.lockFolder(r), own)
	// Any file in the folder is a lock to others, so that the temporary one must not be there.
	if err := writeThrough(b.disk, temporary(b.path("lock")), path, text, true); err != nil {
		return nil, &FileError{Doing: "lock the stack with", Path: path, Err: err}
	}
	held := &heldLock{b: b, path: path}
	if err := b.others(r, own); err != nil {
		return nil, errors.Join(err, held.release())
	}
	return held, nil
}

func (l *heldLock) release() error {
	if l.lease != nil {
		return l.releaseObjects()
	}
	if err := removeDurably(l.b.disk, l.path); err != nil {
		return &FileError{Doing: "remove the lock", Path: l.path, Err: err}
	}
	return nil
}

func (b *Backend) lockFolder(r Ref) string { return b.path("locks", organization, r.Project, r.Stack) }

// others finds locks that are not own, clearing away stale ones of ours.
func (b *Backend) others(r Ref, own string) error {
	locks, stale, err := b.locks(r, own)
	if err != nil {
		return err
	}
	if len(locks) > 0 {
		return &LockedError{r, locks}
	}
	for _, path := range stale {
		if err := removeDurably(b.disk, path); err != nil {
			return &FileError{Doing: "remove the lock of a process that is gone,", Path: path, Err: err}
		}
	}
	return nil
}

func (b *Backend) locks(r Ref, own string) (live []Lock, stale []string, err error) {
	found, files, err := b.lockFiles(r, own)
	for i, l := range found {
		if b.stale(files[i]) {
			stale = append(stale, l.Path)
			continue
		}
		live = append(live, l)
	}
	return live, stale, err
}

// lockFiles are the lock files but own, and what is in them.
func (b *Backend) lockFiles(r Ref, own string) (found []Lock, files []lockFile, err error) {
	names, err := b.list("locks", organization, r.Project, r.Stack)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if name == own || !strings.HasSuffix(name, ".json") {
			continue
		}
		path := filepath.Join(b.lockFolder(r), name)
		text, err := b.disk.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // just released
		} else if err != nil {
			return nil, nil, &FileError{Doing: "read the lock", Path: path, Err: err}
		}
		var l lockFile
		_ = json.Unmarshal(text, &l) // a lock that cannot be read is a lock
		found = append(found, Lock{Path: path, PID: l.PID, User: l.Username, Host: l.Hostname, Timestamp: l.Timestamp})
		files = append(files, l)
	}
	return found, files, nil
}

// stale reports whether a lock is one of ours, of this machine, whose process is gone.
func (b *Backend) stale(l lockFile) bool {
	p := b.o.Process
	if l.Yamlhost == nil || l.Hostname != p.Host || l.Yamlhost.Machine != p.Machine || p.Alive == nil || l.PID <= 0 {
		return false
	}
	if l.Yamlhost.Boot != "" && p.Boot != "" && l.Yamlhost.Boot != p.Boot {
		return p.Machine != "" // the machine was restarted since
	}
	return !p.Alive(l.PID, l.Yamlhost.Started)
}

// Locks are the locks that keep a stack from being changed now.
func (b *Backend) Locks(r Ref) ([]Lock, error) {
	locks, _, err := b.locks(r, "")
	return locks, err
}

// Cancel removes all locks of a stack, whoever holds them, and returns those that it removed (F6.9).
func (b *Backend) Cancel(r Ref) ([]Lock, error) {
	locks, stale, err := b.locks(r, "")
	if err != nil {
		return nil, err
	}
	paths := slices.Clone(stale)
	for _, l := range locks {
		paths = append(paths, l.Path)
	}
	for _, path := range paths {
		if err := removeDurably(b.disk, path); err != nil {
			return nil, &FileError{Doing: "remove the lock", Path: path, Err: err}
		}
	}
	if b.objects != nil {
		return locks, b.freeLease(r)
	}
	return locks, nil
}

// newUUID is a random UUID, version 4.
func newUUID() string {
	var u [16]byte
	rand.Read(u[:])
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
