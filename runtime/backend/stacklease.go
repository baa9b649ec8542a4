package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/google/uuid"
)

// stackLease takes, reads and frees the lease object of a stack.
type stackLease struct{ stack }

// key returns the key of the lease object.
func (b stackLease) key() string { return path.Join(b.workFolder(b.ref), "lease.json") }

// read reads the lease object; a generation of 0 means that there is none.
func (b stackLease) read() (file leaseFile, o Object, err error) {
	key := b.key()
	o, err = b.objects.get(key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return leaseFile{}, Object{}, nil
	case err != nil:
		return leaseFile{}, Object{}, fileError("read the lease", key, err)
	}
	if err := json.Unmarshal(o.Data, &file); err != nil || file.Generation <= 0 {
		return leaseFile{}, Object{}, &CorruptError{Path: key, Err: errors.New("it is not a lease; cancel replaces it")}
	}
	return file, o, nil
}

// take takes the lease if it is free, if its holder was a process of this machine that is gone, or if it was not
// renewed in time; else it gives a *LockedError. A holder that is overdue is waited for. Of two that come at the same
// moment exactly one gets it. A cancelled ctx ends the waiting.
func (b stackLease) take(ctx context.Context, lockName string) (*lease, error) {
	for {
		file, o, err := b.read()
		if err != nil {
			return nil, err
		}
		if file.Holder != nil && !b.locksOf(b.ref).stale(file.Holder.lockFile()) {
			wait, err := b.rest(file, o)
			if err != nil {
				return nil, err
			}
			if wait > 0 {
				if b.o.Note != nil {
					b.o.Note(fmt.Sprintf("waiting for the lease of %s@%s, which seems to have ended, to run out (%s)",
						file.Holder.Username, file.Holder.Hostname, wait.Round(time.Second)))
				}
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(wait):
				}
				continue
			}
		}
		own := b.ownLock(0)
		l := &lease{d: b.objects, ref: b.ref, key: b.key(), lock: path.Join(keyOf(b.locksOf(b.ref).folder()), lockName),
			length: cmp.Or(b.o.Lease, defaultLease), clock: b.o.Now}
		l.file = leaseFile{Generation: file.Generation + 1, Merged: file.Merged, Milliseconds: l.length.Milliseconds(),
			Mark: uuid.NewString(), Holder: &leaseHolder{PID: own.PID, Username: own.Username, Hostname: own.Hostname,
				Since: own.Timestamp, Process: *own.Yamlhost, Lock: lockName}}
		err = l.put(Condition{Absent: file.Generation == 0, Version: o.Version})
		if errors.Is(err, ErrChanged) {
			continue // somebody was quicker; look who
		}
		return l, fileError("take the lease", l.key, err)
	}
}

// rest returns how long to wait until a lease has run out, by the store's clock. If its holder renews it as it should,
// the error is a *LockedError.
func (b stackLease) rest(file leaseFile, o Object) (time.Duration, error) {
	now, err := b.objects.now(b.workFolder(b.ref))
	if err != nil {
		return 0, fileError("ask for the time of the store in", b.workFolder(b.ref), err)
	}
	// Stores give times in whole seconds, rounded down: one second may be missing.
	length := time.Duration(file.Milliseconds) * time.Millisecond
	age := now.Sub(o.Modified)
	if age <= length/2 {
		held := file.Holder.lockFile().lock(b.key(), b.o.Process)
		held.Until = o.Modified.Add(length)
		return 0, &LockedError{b.ref, []Lock{held}}
	}
	return max(0, length+time.Second-age), nil
}

// free takes the lease from anyone who holds it, and returns who that was; nil if nobody. The holder finds out
// with its next look.
func (b stackLease) free() (*Lock, error) {
	for {
		file, o, err := b.read()
		if err != nil && !errors.As(err, new(*CorruptError)) {
			return nil, err
		}
		if err == nil && file.Holder == nil {
			return nil, nil
		}
		var holder *Lock
		if file.Holder != nil {
			l := file.Holder.lockFile().lock(b.key(), b.o.Process)
			holder = &l
		}
		if err != nil { // replaced whatever it is
			if o, err = b.objects.get(b.key()); err != nil {
				return nil, fileError("read the lease", b.key(), err)
			}
			file.Generation = b.o.Now().Unix() // beyond any that was counted
		}
		text, err := json.Marshal(leaseFile{Generation: file.Generation + 1, Merged: file.Merged, Mark: uuid.NewString()})
		if err != nil {
			return nil, err
		}
		_, err = b.objects.put(b.key(), text, Condition{Version: o.Version})
		if errors.Is(err, ErrChanged) {
			continue
		}
		return holder, fileError("free the lease", b.key(), err)
	}
}
