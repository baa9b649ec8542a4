package backend

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// defaultLease is how long a lease is valid after it was taken or renewed. It is renewed four times as often.
const defaultLease = 20 * time.Second

// leaseFile is the lease object of a stack. It is written only if it has not changed since it was read, and is never
// removed, so that no generation comes twice.
type leaseFile struct {
	Generation   int64        `json:"generation"` // one more with every holder
	Beat         int64        `json:"beat"`       // one more with every renewal
	Milliseconds int64        `json:"milliseconds,omitempty"`
	Holder       *leaseHolder `json:"holder,omitempty"` // nil if it is free
	// Merged is the last generation up to which all chains are merged into the state: only their fences remain.
	Merged int64 `json:"settled,omitempty"`
	// Probed is the digest of the store's URL at which a run has found that conditions are honoured.
	Probed string `json:"probed,omitempty"`
	// End is set by a holder that gives the lease back in order. Anyone else who writes the lease leaves it out, so
	// while it is there, no journal has to be merged and nobody but the Pulumi CLI has written since.
	End  *leaseEnd `json:"end,omitempty"`
	Mark string    `json:"mark"` // unique, so that two writers never write the same content
}

// leaseEnd is what a run knew when it gave the lease back. It spares others the requests that would find that out.
type leaseEnd struct {
	State  string `json:"state"`            // the version of the state object; the rest is about no other version
	Copy   int64  `json:"copy,omitempty"`   // the stamp of a copy of this state in the history; 0 if none is known
	Fences bool   `json:"fences,omitempty"` // fences of earlier runs are still there
	// Overview describes the stack, whose last record has that end; nil if the end is not known.
	Overview *Overview `json:"overview,omitempty"`
	Recorded time.Time `json:"recorded,omitzero"` // zero if there is no record
}

// leaseHolder describes the run that has the lease.
type leaseHolder struct {
	PID      int         `json:"pid"`
	Username string      `json:"username"`
	Hostname string      `json:"hostname"`
	Since    time.Time   `json:"since"`
	Process  lockProcess `json:"process"`
	Lock     string      `json:"lock"` // the name of its lock file, which the stock host looks for
}

// lease is a lease that this process has taken. Another process may take it over if it was not renewed for its length,
// by the clock of the store. The holder measures by its own clocks and renews it earlier.
type lease struct {
	d      *objectDisk
	ref    Ref
	key    string
	lock   string // key of the lock file
	length time.Duration
	clock  func() time.Time

	renewer renewer
	asked   atomic.Int64 // the number of calls of checkHeld

	before *leaseEnd // what the last holder left; nil if it did not end in order

	mu       sync.Mutex // guards the fields below, and serializes requests
	answered int64      // the number of calls of checkHeld that have an answer
	file     leaseFile
	version  string
	renewed  time.Time // when the last renewal was sent
	seen     time.Time // when the last renewal or the last look that found the lease held was sent
	lost     error
}

// lockFile returns the content of the holder's lock file, so that lease and lock file are treated alike.
func (h *leaseHolder) lockFile() lockFile {
	return lockFile{PID: h.PID, Username: h.Username, Hostname: h.Hostname, Timestamp: h.Since, Yamlhost: &h.Process}
}

// put writes l.file to the lease object.
func (l *lease) put(c Condition) error {
	sent := l.clock()
	text, err := json.Marshal(l.file)
	if err != nil {
		return err
	}
	if l.file.Holder != nil {
		c.Number = l.file.Generation
	}
	version, err := l.d.put(l.key, text, c)
	if err == nil {
		l.version, l.renewed, l.seen = version, sent, sent
	}
	return err
}

// renew writes the next beat. It fails with a *LockLostError if somebody else has written the lease, which is for good;
// another error means that the store could not be reached.
func (l *lease) renew() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renewLocked()
}

// renewLocked is renew for a caller that holds mu. It also checks the lock file, because the Pulumi CLI cancels a run
// by removing only that.
func (l *lease) renewLocked() error {
	if l.lost != nil {
		return l.lost
	}
	l.file.Beat++
	err := l.put(Condition{Version: l.version})
	if errors.Is(err, ErrChanged) {
		o, _ := l.d.get(l.key) // on failure, the new holder stays unknown
		l.lost = l.lostTo(o)
		return l.lost
	}
	if err != nil {
		return err
	}
	if _, err = l.d.get(l.lock); errors.Is(err, fs.ErrNotExist) { // the Pulumi CLI's `cancel` removes it
		err = l.give()
		l.lost = errors.Join(&LockLostError{Ref: l.ref, Lease: true, Why: "its lock was removed by cancel"}, err)
		return l.lost
	}
	return err
}

// lostTo returns the error for a lease when another writer has replaced its object by o.
func (l *lease) lostTo(o Object) error {
	lost := &LockLostError{Ref: l.ref, Lease: true}
	var now leaseFile
	switch err := json.Unmarshal(o.Data, &now); {
	case err != nil: // its content does not matter: the lease is lost
	case now.Holder == nil:
		lost.Why = "it was cancelled"
	default:
		lost.By = now.Holder.Username + "@" + now.Holder.Hostname
	}
	return lost
}

// checkHeld checks that the lease is held now by reading it. Concurrent calls share an answer: it counts for all calls
// that were made before the request was sent.
func (l *lease) checkHeld() error {
	mine := l.asked.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil || l.answered >= mine {
		return l.lost
	}
	sent := l.asked.Load()
	if err := l.checkLocked(); err != nil && err != l.lost {
		return err
	}
	l.answered = sent
	return l.lost
}

// checkLocked is checkHeld for a caller that holds mu.
func (l *lease) checkLocked() error {
	sent := l.clock()
	o, err := l.d.get(l.key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.lost = &LockLostError{Ref: l.ref, Lease: true, Why: "it was removed"}
	case err != nil:
		return err
	case o.Version != l.version:
		l.lost = l.lostTo(o)
	default:
		l.seen = sent
	}
	return l.lost
}

// give frees the lease. The caller holds mu.
func (l *lease) give() error {
	l.file.Holder, l.file.Milliseconds, l.file.Mark = nil, 0, uuid.NewString()
	err := l.put(Condition{Version: l.version})
	if errors.Is(err, ErrChanged) {
		return nil
	}
	return fileError("release the lease", l.key, err)
}

// urlDigest identifies the URL of a store in leaseFile.Probed.
func urlDigest(url string) string {
	sum := sha256.Sum256([]byte(PublicURL(url)))
	return hex.EncodeToString(sum[:8])
}

// probed reports whether an earlier run has found the store at a URL fit.
func (l *lease) probed(url string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Probed == urlDigest(url)
}

// noteProbed makes the next renewal record that the store at a URL is fit.
func (l *lease) noteProbed(url string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file.Probed = urlDigest(url)
}

// noteMerged records durably that the chains of all generations before this one are merged.
func (l *lease) noteMerged() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file.Merged = l.file.Generation - 1
	return l.renewLocked()
}

// mergedTo returns the last generation up to which all chains are merged.
func (l *lease) mergedTo() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Merged
}

// check makes sure that the lease is held: by the clock if it was renewed lately, else by renewing it. It is called
// after a write under the lease, before the write is acknowledged.
func (l *lease) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	if recent(l.renewed, l.clock(), l.length/2) {
		return nil
	}
	return l.renewLocked()
}

// hold makes sure that the lease is held right before a call of a provider. It asks the store if the last answer is
// older than sureFor: the lease may have been cancelled since, or taken over after it ended. If the store cannot be
// reached, the clock decides.
func (l *lease) hold() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	inTime := recent(l.renewed, now, l.length/2)
	if l.lost != nil || inTime && recent(l.seen, now, sureFor(l.length)) {
		return l.lost
	}
	if !inTime {
		return l.renewLocked()
	}
	if err := l.checkLocked(); err != nil && err == l.lost {
		return err
	}
	return nil
}

// sureFor returns how long an answer that a lease of some length is held counts.
func sureFor(length time.Duration) time.Duration { return min(length/8, 2500*time.Millisecond) }

// recent reports whether less than limit has passed since a time. Both clocks are needed: the monotonic one stops while
// a machine is asleep, and the wall clock may be set.
func recent(since, now time.Time, limit time.Duration) bool {
	elapsed, byWall := now.Sub(since), now.Round(0).Sub(since.Round(0))
	return elapsed >= 0 && elapsed < limit && byWall >= 0 && byWall < limit
}

// keep starts to renew the lease, until the renewer is halted or the lease is lost, which the next write reports. If
// the store cannot be reached, it goes on trying: the lease is held until another run takes over.
func (l *lease) keep() {
	l.renewer.start(l.length/4, func(context.Context) (time.Duration, bool) {
		return 0, !errors.As(l.renew(), new(*LockLostError))
	})
}

// renewer calls a function again and again in a goroutine of its own.
type renewer struct {
	end  context.CancelFunc
	done chan struct{} // nil until start
}

// start calls renew after a pause. It returns the next pause, 0 for the same one again, or false to end.
func (k *renewer) start(pause time.Duration, renew func(context.Context) (next time.Duration, goOn bool)) {
	ctx, end := context.WithCancel(context.Background())
	k.end, k.done = end, make(chan struct{})
	go k.run(ctx, pause, renew)
}

func (k *renewer) run(ctx context.Context, pause time.Duration, renew func(context.Context) (time.Duration, bool)) {
	defer close(k.done)
	for goOn := true; goOn; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			var next time.Duration
			next, goOn = renew(ctx)
			pause = cmp.Or(next, pause)
		}
	}
}

// halt ends the calls. It cancels one that is under way and waits for it.
func (k *renewer) halt() {
	if k.done != nil {
		k.end()
		<-k.done
	}
}

// release gives the lease back after the renewals have ended, unless it was lost. end is nil unless all is in order.
func (l *lease) release(end *leaseEnd) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return nil // an earlier call has returned the error
	}
	l.file.End = end
	err := l.give()
	l.lost = errors.New("the lease was released")
	return err
}

// stackLease takes, reads and frees the lease object of a stack.
type stackLease stack

// key returns the key of the lease object.
func (b stackLease) key() string { return path.Join(b.files.workFolder(b.ref), "lease.json") }

// read reads the lease object; a generation of 0 means that there is none.
func (b stackLease) read() (file leaseFile, o Object, err error) {
	key := b.key()
	o, err = b.files.objects.get(key)
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

// glance returns the overview that the last run has left beside a state, after Prefetch; nil if there is none, or if
// the list of keys shows that the state has changed since. A store that implements Bulk reads many states at once
// instead.
func (b stackLease) glance() *Overview {
	ahead, ok := b.files.objects.objects.(*prefetched)
	if !ok || ahead.bulk != nil {
		return nil
	}
	lease, _, err := b.read()
	if err != nil || lease.Holder != nil || lease.End == nil || lease.End.State == "" {
		return nil
	}
	variants := 0
	for _, c := range extensions {
		if l := ahead.find(keyOf(b.files.stateOf(b.ref).file(c))); l != nil {
			if variants++; l.Version != lease.End.State {
				return nil
			}
		}
	}
	if variants != 1 {
		return nil
	}
	return lease.End.Overview
}

// take takes the lease if it is free, if its holder was a process of this machine that is gone, or if it was not
// renewed in time; else it gives a *LockedError. If a renewal is overdue, take waits until the lease expires or ctx is
// cancelled. Of two processes that take it at the same moment, exactly one gets it. It calls look before it writes the
// lease, unless the last holder has ended in order.
func (b stackLease) take(ctx context.Context, lockName string, look func() error) (*lease, error) {
	for {
		file, o, err := b.read()
		if err == nil && file.End == nil {
			err = look()
		}
		if err != nil {
			return nil, err
		}
		if file.Holder != nil && !b.files.locksOf(b.ref).stale(file.Holder.lockFile()) {
			wait, err := b.rest(file, o)
			if err != nil {
				return nil, err
			}
			if wait > 0 {
				if b.files.o.Note != nil {
					b.files.o.Note(fmt.Sprintf("waiting for the lease of %s@%s, which seems to have ended, to run out (%s)",
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
		own := b.files.ownLock(0)
		l := &lease{d: b.files.objects, ref: b.ref, key: b.key(),
			lock:   path.Join(keyOf(b.files.locksOf(b.ref).folder()), lockName),
			length: cmp.Or(b.files.o.Lease, defaultLease), clock: b.files.o.Now, before: file.End}
		l.file = leaseFile{Generation: file.Generation + 1, Merged: file.Merged, Probed: file.Probed,
			Milliseconds: l.length.Milliseconds(), Mark: uuid.NewString(),
			Holder: &leaseHolder{PID: own.PID, Username: own.Username,
				Hostname: own.Hostname,
				Since:    own.Timestamp, Process: *own.Yamlhost, Lock: lockName}}
		err = l.put(Condition{Absent: file.Generation == 0, Version: o.Version})
		if errors.Is(err, ErrChanged) {
			continue // another process was quicker
		}
		return l, fileError("take the lease", l.key, err)
	}
}

// rest returns how long to wait until a lease expires, by the store's clock. A lease that is renewed in time gives a
// *LockedError.
func (b stackLease) rest(file leaseFile, o Object) (time.Duration, error) {
	now, err := b.files.objects.now(b.files.workFolder(b.ref))
	if err != nil {
		return 0, fileError("ask for the time of the store in", b.files.workFolder(b.ref), err)
	}
	// Stores give times in whole seconds, rounded down: one second may be missing.
	length := time.Duration(file.Milliseconds) * time.Millisecond
	age := now.Sub(o.Modified)
	if age <= length/2 {
		held := file.Holder.lockFile().lock(b.key(), b.files.o.Process)
		held.Until = o.Modified.Add(length)
		return 0, &LockedError{b.ref, []Lock{held}}
	}
	return max(0, length+time.Second-age), nil
}

// free takes the lease away from its holder. It returns the holder, nil if there is none, and the last generation that
// had the lease.
func (b stackLease) free() (holder *Lock, generation int64, err error) {
	for {
		file, o, err := b.read()
		if err != nil && !errors.As(err, new(*CorruptError)) {
			return nil, 0, err
		}
		if err == nil && file.Holder == nil {
			return nil, file.Generation, nil
		}
		holder = nil
		if file.Holder != nil {
			holder = new(file.Holder.lockFile().lock(b.key(), b.files.o.Process))
		}
		if err != nil { // a malformed lease is replaced
			if o, err = b.files.objects.get(b.key()); err != nil {
				return nil, 0, fileError("read the lease", b.key(), err)
			}
			file.Generation = b.files.o.Now().Unix() // greater than any generation before
		}
		text, err := json.Marshal(leaseFile{Generation: file.Generation + 1, Merged: file.Merged, Probed: file.Probed,
			Mark: uuid.NewString()})
		if err != nil {
			return nil, 0, err
		}
		_, err = b.files.objects.put(b.key(), text, Condition{Version: o.Version})
		if errors.Is(err, ErrChanged) {
			continue
		}
		return holder, file.Generation, fileError("free the lease", b.key(), err)
	}
}
