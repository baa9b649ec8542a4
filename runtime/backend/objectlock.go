package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"github.com/google/uuid"
)

// lockObjects takes a stack's lock in a store. The lease decides between runs of yamlhost; the lock file of F6.9 keeps
// the stock host out, which knows nothing of leases, and is honoured when it is the stock host's. The order matters:
//
//	lock files of others -> lease -> own lock file -> lock files of others -> own chain -> renewal -> fences
//
// The renewal proves that the lease was still held when the chain had begun, so that anyone who takes over later finds
// it.
func (b stackLocks) lockObjects(ctx context.Context) (_ *heldLock, err error) {
	if err := b.prepare(); err != nil {
		return nil, err
	}
	name := uuid.NewString() + ".json"
	if _, err := b.otherLocks(name); err != nil {
		return nil, err
	}
	l, err := b.leaseOf(b.ref).take(ctx, name)
	if err != nil {
		return nil, err
	}
	held, session, err := b.hold(l)
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	b.files = held
	h := &heldLock{files: held, session: session, ref: b.ref, folder: b.folder(), path: l.lock, lease: l,
		chain: &chain{lease: l, folder: b.chainsOf(b.ref).of(l.file.Generation)}}
	h.fenced = b.on(fencedDisk{b.disk, h})
	defer func() {
		if err != nil {
			err = errors.Join(err, h.release())
		}
	}()
	text, err := json.Marshal(b.ownLock(l.file.Generation))
	if err != nil {
		return nil, err
	}
	if _, err := b.objects.put(h.path, text, Condition{Absent: true}); err != nil {
		return nil, h.explain(&FileError{Doing: "lock the stack with", Path: h.path, Err: err})
	}
	left, err := b.otherLocks(name)
	if err != nil {
		return nil, err
	}
	for _, key := range left { // of runs that the lease was taken over from
		if err := b.objects.delete(key); err != nil {
			return nil, h.explain(&FileError{Doing: "remove the lock of a run that is gone,", Path: key, Err: err})
		}
	}
	if err := h.chain.mark(markClaim); err != nil {
		return nil, h.explain(err)
	}
	if err := b.probe(h); err != nil {
		return nil, err
	}
	if err := l.renew(); err != nil {
		return nil, h.explain(err)
	}
	l.keep()
	return h, b.chainsOf(b.ref).fence(h)
}

// otherLocks finds lock files other than own. The Pulumi CLI's give a *LockedError. It returns yamlhost's own: the
// lease reports whether they are live.
func (b stackLocks) otherLocks(own string) (ours []string, err error) {
	folder := keyOf(b.folder())
	locks, files, err := b.lockFiles(own)
	if err != nil {
		return nil, err
	}
	var others []Lock
	for i, l := range locks {
		if files[i].Yamlhost != nil && files[i].Yamlhost.Lease > 0 {
			ours = append(ours, path.Join(folder, path.Base(keyOf(l.Path))))
			continue
		}
		others = append(others, l)
	}
	if len(others) > 0 {
		return nil, &LockedError{b.ref, others}
	}
	return ours, nil
}

// probe makes sure that the store honours conditions: nothing else keeps two runs apart. Stores exist that ignore them.
func (b stackLocks) probe(h *heldLock) error {
	b.probed.mu.Lock()
	defer b.probed.mu.Unlock()
	if b.probed.done {
		return nil
	}
	taken := linkKey(h.chain.folder, 0)
	for _, c := range []Condition{{Absent: true}, {Version: "0"}} {
		_, err := b.objects.put(taken, []byte(markClaim+uuid.NewString()), c)
		switch {
		case errors.Is(err, ErrChanged):
		case err == nil:
			// Anyone who took over meanwhile has removed what this run had written.
			if err := h.lease.look(); err != nil {
				return h.explain(err)
			}
			return &UnfitStoreError{PublicURL(b.url)}
		default:
			return &FileError{Doing: "test conditional writes to", Path: taken, Err: err}
		}
	}
	b.probed.done = true
	return nil
}

// UnfitStoreError is returned when a store writes objects although the condition for it does not hold.
type UnfitStoreError struct{ URL string }

func (e *UnfitStoreError) Error() string {
	return fmt.Sprintf(
		"the store %s ignores conditional writes (If-None-Match and If-Match), so two runs at once could overwrite each "+
			"other's state. Keep state in a store that supports them, or in a folder. Nothing was done.",
		e.URL)
}

// explain replaces an error that a lost lock has caused by the error of the lost lock. A store that checks the lease
// with each write knows only that the lock was lost; look finds out to whom.
func (h *heldLock) explain(err error) error {
	var lost *LockLostError
	if errors.As(err, &lost) || h.lease != nil && errors.Is(err, ErrFenced) && errors.As(h.lease.look(), &lost) {
		return lost
	}
	return err
}

// foreign explains why the state in a store is not what was read although the lock was held: because it no longer is,
// or because the stock host has written it after the lock was cancelled.
func (h *heldLock) foreign(err error) error {
	if h.lease == nil || !errors.Is(err, ErrChanged) {
		return err
	}
	if lost := h.lease.renew(); lost != nil {
		return h.explain(lost)
	}
	return err
}

// releaseObjects gives everything back, the lease last: anyone who has it may rely on the rest being gone. A lease that
// was lost before is no error: the run was told of it where it mattered, and the next one cleans up.
func (h *heldLock) releaseObjects() error {
	h.lease.renewer.halt()
	err := h.chain.leave()
	if errors.Is(err, ErrFenced) {
		err = nil
	}
	if failed := h.files.objects.delete(h.path); failed != nil && !errors.Is(failed, ErrFenced) {
		err = errors.Join(err, &FileError{Doing: "remove the lock", Path: h.path, Err: failed})
	}
	if h.session != nil {
		h.session.Release()
	}
	return errors.Join(err, h.lease.release())
}
