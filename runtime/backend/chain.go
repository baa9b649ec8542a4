package backend

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// A journal in a store is a chain of objects, its links. Each generation of the lease has a folder with one object for
// each write, numbered from 0. A link is written under the condition that its number is free, and a writer leaves out
// no number. A run that takes over writes a fence under the next number: the former writer finds the number taken, and
// has lost. A link is a piece of the journal or a mark. The journal begins at the last piece with a journal's
// signature.
const (
	markClaim  = "yhclaim\n"   // the first link: a generation begins
	markGuard  = "yhguard\n"   // the writer still holds the lease, and is about to write another object
	markFence  = "yhfence\n"   // another run took over; the links of the writer come before
	markMerged = "yhsettled\n" // the chain's journal has been merged into the state file
)

// fenceAge is how long a fence is kept: longer than any request can take.
const fenceAge = 30 * 24 * time.Hour

// generationOf returns the generation of a chain's folder; 0 for any other folder.
func generationOf(folder string) int64 {
	n, err := strconv.ParseInt(path.Base(folder), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// linkKey returns the key of a link. Keys sort as numbers do, so that a list of them is in order.
func linkKey(folder string, n int) string { return fmt.Sprintf("%s/%08d", folder, n) }

// chain is the chain that this process writes. It is the journal's file. It is safe for concurrent use.
type chain struct {
	lease  *lease
	folder string

	mu    sync.Mutex // guards the fields below
	first int        // the first link that is still there
	next  int
	heads []int // the links from first on that begin a journal
	holds bool  // it holds a journal that is not wholly in the state file
	lost  error
}

var _ journal.File = (*chain)(nil)

// put writes the next link. When it returns nil, the link is there and the lease was held after it was written. The
// first one claims the chain.
func (c *chain) put(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.claimLocked(nil); err != nil {
		return err
	}
	return c.putLocked(data)
}

// claim begins the chain, unless it has begun. A run that writes neither the state nor the journal has no chain. test
// may be nil; it is called when the first link is there.
func (c *chain) claim(test func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.claimLocked(test)
}

// claimLocked is claim for a caller that holds mu. The renewal proves that the lease was still held when the chain had
// begun, so a run that takes over later finds the chain. If the lease was lost before, the link goes again: later runs
// may not look for it.
func (c *chain) claimLocked(test func() error) error {
	if c.next > 0 || c.lost != nil {
		return c.lost
	}
	err := c.putLocked([]byte(markClaim + uuid.NewString()))
	if err == nil && test != nil {
		err = test()
	}
	if err == nil {
		err = c.lease.renew()
	}
	if c.next > 0 && errors.As(err, new(*LockLostError)) {
		c.lost = err
		_ = c.lease.d.delete(linkKey(c.folder, 0)) // it holds nothing
	}
	return err
}

// putLocked is put for a caller that holds mu.
func (c *chain) putLocked(data []byte) error {
	if c.lost != nil {
		return c.lost
	}
	_, err := c.lease.d.put(linkKey(c.folder, c.next), data, Condition{Absent: true})
	if errors.Is(err, ErrChanged) {
		if err = c.lease.renew(); err == nil {
			err = &LockLostError{Ref: c.lease.ref, Lease: true, Why: "its journal was closed by another run"}
		}
	}
	if err == nil {
		if journal.Begins(data) {
			c.heads = append(c.heads, c.next)
		}
		c.next++
		err = c.lease.check()
	}
	switch {
	case errors.As(err, new(*LockLostError)):
		c.lost = err
	case err != nil && !errors.As(err, new(*FileError)):
		err = &FileError{Doing: "write the journal", Path: c.folder, Err: err}
	}
	return err
}

// mark writes a mark as the next link. The UUID distinguishes it from other runs' marks of the same kind.
func (c *chain) mark(kind string) error { return c.put([]byte(kind + uuid.NewString())) }

// Write stores a piece of the journal as the next link of the chain: a new object, which is never overwritten.
func (c *chain) Write(p []byte) (int, error) {
	if err := c.put(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Sync has nothing to do: links are durable once they are written.
func (c *chain) Sync() error { return nil }

// Close leaves the chain as it is.
func (c *chain) Close() error { return nil }

// begin records that a journal begins in the chain.
func (c *chain) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds = true
}

// dropAll removes all links. The state file holds the whole journal.
func (c *chain) dropAll() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds = false
	if c.lost != nil {
		return c.lost
	}
	return c.removeLocked()
}

// leave removes the links of this run at its end, unless they hold a journal. A fence that another run has added stays.
func (c *chain) leave() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds {
		return nil
	}
	return c.removeLocked()
}

// removeLocked removes the links of this run. The caller holds mu.
func (c *chain) removeLocked() error {
	if err := removeLinks(c.lease.d, c.folder, c.first, c.next, c.heads); err != nil {
		return &FileError{Doing: "remove the journal", Path: c.folder, Err: err}
	}
	c.first, c.heads = c.next, nil
	return nil
}

// removeLinks removes the links of a chain from first up to the one before end. heads are those that begin a journal.
//
// It may be interrupted anywhere. The heads go first, in order: whatever is left then has no beginning and is ignored,
// or is the last journal as a whole. The last link goes last, because a run that takes over writes its fence after it,
// under the number that the writer would take next.
func removeLinks(d *objectDisk, folder string, first, end int, heads []int) error {
	for _, n := range heads {
		if n == end-1 {
			break
		}
		if err := d.delete(linkKey(folder, n)); err != nil {
			return err
		}
	}
	var rest []string
	for n := first; n < end-1; n++ {
		if !slices.Contains(heads, n) {
			rest = append(rest, linkKey(folder, n))
		}
	}
	if err := d.deleteAll(rest); err != nil || first == end {
		return err
	}
	return d.delete(linkKey(folder, end-1))
}

// links are the links of a chain as they were read, in order.
type links struct {
	folder   string
	all      []link
	modified time.Time // of the last link
}

// link is an object of a chain. data is nil if it was removed after it was listed.
type link struct {
	number int
	data   []byte
}

// isMark reports whether data is a mark and not a segment of a journal: no segment is long enough to begin like a mark.
func isMark(data []byte) bool {
	marks := []string{markClaim, markGuard, markFence, markMerged}
	return slices.ContainsFunc(marks, func(mark string) bool { return bytes.HasPrefix(data, []byte(mark)) })
}

// journal returns the journal that a chain holds; nil if there is none. A missing link in the middle is damage: each is
// written after the one before was acknowledged, and links are removed from the beginning.
func (l *links) journal() (data []byte, err error) {
	start := len(l.all) - 1
	for start >= 0 && !journal.Begins(l.all[start].data) {
		start--
	}
	if start < 0 {
		return nil, nil
	}
	for i, k := range l.all[start:] {
		if next := l.all[start].number + i; k.number != next {
			return nil, &CorruptError{Path: linkKey(l.folder, next), Err: errors.New(
				"this piece of the journal is missing, and later pieces exist; restore it from a version or " +
					"a copy of the store")}
		}
		if k.data == nil {
			break // the state holds all of it
		}
		if !isMark(k.data) {
			data = append(data, k.data...)
		}
	}
	return data, nil
}

// last returns the last link; one before the first number if there is none.
func (l *links) last() link {
	if len(l.all) == 0 {
		return link{number: -1}
	}
	return l.all[len(l.all)-1]
}

// merged reports whether the state file has the chain's journal.
func (l *links) merged() bool { return bytes.HasPrefix(l.last().data, []byte(markMerged)) }

// next returns the number after the last link's.
func (l *links) next() int { return l.last().number + 1 }

// stackChains gives access to the chains of a stack in a store: the chain of the run that holds the lease, and the
// chains that earlier runs left behind.
type stackChains stack

// folder returns the folder that holds a folder for each chain.
func (b stackChains) folder() string { return path.Join(b.files.workFolder(b.ref), "journal") }

// of returns the folder of the chain of a generation of the lease.
func (b stackChains) of(generation int64) string {
	return path.Join(b.folder(), fmt.Sprintf("%012d", generation))
}

// list returns the folders of the chains of a stack, oldest first.
func (b stackChains) list() ([]string, error) {
	prefix := b.folder() + "/"
	found, err := b.files.objects.list(prefix)
	if err != nil {
		return nil, &FileError{Doing: "look for journals in", Path: b.folder(), Err: err}
	}
	var folders []string
	for _, f := range found {
		if folder, ok := strings.CutSuffix(f.Key, "/"); ok {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// readers is the number of links that are read concurrently.
const readers = 16

// read reads a chain. A link that is removed meanwhile has no data.
func (b stackChains) read(folder string) (*links, error) {
	failed := func(err error) error { return &FileError{Doing: "read the journal", Path: folder, Err: err} }
	found, err := b.files.objects.list(folder + "/")
	if err != nil {
		return nil, failed(err)
	}
	l := &links{folder: folder}
	for _, f := range found {
		if n, err := strconv.Atoi(path.Base(f.Key)); err == nil && linkKey(folder, n) == f.Key {
			l.all, l.modified = append(l.all, link{number: n}), f.Modified
		}
	}
	var group errgroup.Group
	group.SetLimit(readers)
	for i := range l.all {
		group.Go(func() error {
			o, err := b.files.objects.get(linkKey(folder, l.all[i].number))
			if l.all[i].data = o.Data; errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, failed(err)
	}
	return l, nil
}

// append writes a link at the end of another run's chain, and rereads the chain if that run has written to it. The
// caller holds the lease.
func (b stackChains) append(h *storeLock, l *links, data []byte) error {
	for {
		_, err := b.files.objects.put(linkKey(l.folder, l.next()), data, Condition{Absent: true})
		switch {
		case err == nil:
			l.all = append(l.all, link{l.next(), data})
			return h.lease.check()
		case !errors.Is(err, ErrChanged):
			return &FileError{Doing: "close the journal", Path: l.folder, Err: err}
		}
		if err := h.lease.renew(); err != nil {
			return err
		}
		again, err := b.read(l.folder)
		if err != nil {
			return err
		}
		*l = *again
	}
}

// fence appends a fence to the chains of all other runs, so that these can journal nothing more. Chains that may hold a
// journal go into h.left. It removes merged chains that are older than fenceAge.
func (b stackChains) fence(h *storeLock) error {
	folders, err := b.list()
	if err != nil {
		return err
	}
	merged := h.lease.mergedTo()
	for i, folder := range folders {
		h.fences = h.fences || folder != h.chain.folder
		// Of the merged chains, only the oldest is checked for removal by age.
		if folder == h.chain.folder || i > 0 && generationOf(folder) <= merged {
			continue
		}
		l, err := b.read(folder)
		if err != nil {
			return err
		}
		if len(l.all) == 0 {
			continue
		}
		if generationOf(folder) <= merged || l.merged() {
			old, err := b.outdated(l)
			if err != nil {
				return err
			}
			if old {
				b.dropLinks(l, l.next())
			}
			continue
		}
		if err := b.append(h, l, []byte(markFence+uuid.NewString())); err != nil {
			return err
		}
		h.left = append(h.left, l)
	}
	return nil
}

// outdated reports whether a chain is older than fenceAge. The clock of this machine may be wrong, so it decides only
// whether the store is asked for its time, which takes two requests.
func (b stackChains) outdated(l *links) (bool, error) {
	if b.files.o.Now().Sub(l.modified) <= fenceAge {
		return false, nil
	}
	folder := b.files.workFolder(b.ref)
	now, err := b.files.objects.now(folder)
	return now.Sub(l.modified) > fenceAge, fileError("ask for the time of the store in", folder, err)
}

// close fences off the chain of a run whose lease was taken away, so that it begins nothing more. Without it the run
// would notice when it next renews its lease. Chains of later generations are left alone.
func (b stackChains) close(generation int64) error {
	folders, err := b.list()
	if err != nil {
		return err
	}
	for len(folders) > 0 && generationOf(folders[len(folders)-1]) > generation {
		folders = folders[:len(folders)-1]
	}
	for len(folders) > 0 {
		l, err := b.read(folders[len(folders)-1])
		if err != nil || len(l.all) == 0 || l.merged() || bytes.HasPrefix(l.last().data, []byte(markFence)) {
			return err
		}
		_, err = b.files.objects.put(linkKey(l.folder, l.next()), []byte(markFence+uuid.NewString()),
			Condition{Absent: true})
		if !errors.Is(err, ErrChanged) {
			return fileError("close the journal", l.folder, err)
		}
	}
	return nil
}

// dropLinks removes the links before a number. Links that remain do no harm.
func (b stackChains) dropLinks(l *links, before int) {
	var heads []int
	for _, k := range l.all {
		if k.number < before && journal.Begins(k.data) {
			heads = append(heads, k.number)
		}
	}
	if len(l.all) > 0 {
		_ = removeLinks(b.files.objects, l.folder, l.all[0].number, before, heads)
	}
}

// noteMerged records that the journal of a chain has been merged into the state file. It removes the chain's links,
// except for the fence that keeps the chain's writer out.
func (b stackChains) noteMerged(h *storeLock, l *links) error {
	fence := l.last().number
	if i := slices.IndexFunc(l.all, func(k link) bool { return bytes.HasPrefix(k.data, []byte(markFence)) }); i >= 0 {
		fence = l.all[i].number
	}
	if err := b.append(h, l, []byte(markMerged+uuid.NewString())); err != nil {
		return err
	}
	b.dropLinks(l, fence)
	return nil
}

// journal returns the journal that is not in the state yet; nil if there is none. At most one chain holds it: the
// newest one that is not merged into the state.
func (b stackChains) journal() ([]byte, error) {
	folders, err := b.list()
	if err != nil || len(folders) == 0 {
		return nil, err
	}
	lease, _, err := b.files.leaseOf(b.ref).read()
	if err != nil && !errors.As(err, new(*CorruptError)) {
		return nil, err
	}
	for i := len(folders) - 1; i >= 0 && generationOf(folders[i]) > lease.Merged; i-- {
		l, err := b.read(folders[i])
		if err != nil {
			return nil, err
		}
		if l.merged() {
			continue
		}
		if data, err := l.journal(); err != nil || data != nil {
			return data, err
		}
	}
	return nil, nil
}

// noteAllMerged records that the state file has the content of other runs' journals.
func (b stackChains) noteAllMerged(h *storeLock) error {
	for _, l := range h.left {
		if err := b.noteMerged(h, l); err != nil {
			return h.explain(err)
		}
	}
	if len(h.left) == 0 {
		return nil
	}
	h.left = nil
	return h.explain(h.lease.noteMerged())
}

// recoverObjects replays the chains of earlier runs, which the lock has fenced off, into the state. It rewrites the
// state even if the chains are empty: an earlier run may have passed its last check and be about to replace the version
// of the state that it read, so that version must no longer be current.
func (b stackJournal) recoverObjects(h *storeLock, file stored, salvage bool) (*Recovery, stored, error) {
	if len(h.left) == 0 {
		return nil, file, nil
	}
	for {
		out, next, err := b.recoverOnto(h, file, salvage)
		if errors.Is(err, ErrChanged) { // that run has just replaced it
			if err := h.lease.renew(); err != nil {
				return nil, file, h.explain(err)
			}
			if file, err = stackState(b).current(); err != nil {
				return nil, file, err
			}
			continue
		}
		if err != nil {
			return nil, file, err
		}
		return out.unlessEmpty(), next, b.files.chainsOf(b.ref).noteAllMerged(h)
	}
}

// recoverOnto is one attempt of recoverObjects on the state as it was read. Its error wraps ErrChanged when another run
// has written the state in the meantime, which it can do once.
func (b stackJournal) recoverOnto(h *storeLock, file stored, salvage bool) (out *Recovery, _ stored, err error) {
	var unmerged []*links // their journals have to note the identity of the state that will hold them
	for _, l := range h.left {
		data, err := l.journal()
		if err != nil {
			return nil, file, err
		}
		found, err := b.replay(file, data, salvage)
		switch {
		case err != nil:
			return nil, file, err
		case found == nil:
			continue
		case found.Foreign:
			if err := b.putAside(found, "the journal", "foreign", data); err != nil {
				return nil, file, err
			}
		case out == nil || out.snapshot == nil:
			unmerged = append(unmerged, l)
		}
		if found.damaged() && !found.Foreign {
			if err := b.putAside(found, "the journal", "damaged", data); err != nil {
				return nil, file, err
			}
		}
		if err := stackState(b).noteLoss(found); err != nil {
			return nil, file, err
		}
		if out == nil || found.snapshot != nil {
			out = found
		}
	}
	var recovered *state.Snapshot
	if out != nil {
		recovered = out.snapshot
	}
	next, err := b.packRecovered(file, recovered)
	if err != nil {
		return nil, file, err
	}
	piece, err := journal.CoveredPiece(next.identity)
	if err != nil {
		return nil, file, err
	}
	for _, l := range unmerged {
		if err := b.files.chainsOf(b.ref).append(h, l, piece); err != nil {
			return nil, file, h.explain(err)
		}
	}
	if err := h.guard(); err != nil {
		return nil, file, err
	}
	next, err = stackState(b).put(next, file)
	return out, next, err
}
