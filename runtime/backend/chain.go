package backend

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/runtime/journal"
)

// A journal in a store is a chain of objects: one folder for each generation of the lease, in it one object for each
// write, numbered from 0. Every link is written under the condition that there is none of its number yet, and a writer
// never leaves a number out. Anyone who takes over from a writer puts a fence where that would write next: it finds the
// place taken, and has lost. Links are pieces of the journal (the last one that begins with a journal's signature
// begins it) or marks.
const (
	markClaim   = "yhclaim\n"   // a generation begins
	markGuard   = "yhguard\n"   // its writer is about to write something else, and still may
	markFence   = "yhfence\n"   // somebody took over; what its writer had left comes before
	markSettled = "yhsettled\n" // what it had left is in the state file, which was written anew since
)

// fenceAge is how long a fence stays: longer than any request can be under way.
const fenceAge = 30 * 24 * time.Hour

func (b stackJournal) chainsFolder() string { return path.Join(b.workFolder(b.ref), "journal") }

func (b stackJournal) chainFolder(generation int64) string {
	return path.Join(b.chainsFolder(), fmt.Sprintf("%012d", generation))
}

// generationOf is the generation of a chain's folder; 0 if it is none.
func generationOf(folder string) int64 {
	n, err := strconv.ParseInt(path.Base(folder), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func linkKey(folder string, n int) string { return fmt.Sprintf("%s/%08d", folder, n) }

// chain is the chain of this process, which it alone writes. It is the journal's file. It is safe for concurrent use.
type chain struct {
	lease  *lease
	folder string

	mu    sync.Mutex // guards what follows
	first int        // the first link that is still there
	next  int
	holds bool // a journal that is not in the state file, or not all of it
	lost  error
}

var _ journal.File = (*chain)(nil)

// put writes the next link. When it returns nil, the link is there and the lease was held after it was written.
func (c *chain) put(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
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
		c.next++
		err = c.lease.check()
	}
	var lost *LockLostError
	switch {
	case errors.As(err, &lost):
		c.lost = err
	case err != nil && !errors.As(err, new(*FileError)):
		err = &FileError{Doing: "write the journal", Path: c.folder, Err: err}
	}
	return err
}

func (c *chain) mark(kind string) error { return c.put([]byte(kind + newUUID())) }

// guard makes sure that nobody has taken over; what is written next under a condition cannot undo what others have
// done.
func (c *chain) guard() error { return c.mark(markGuard) }

// Write makes a piece of the journal a link.
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

// begin is called before a journal is begun in the chain.
func (c *chain) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds = true
}

// dropAll removes all links, once the state file holds everything.
func (c *chain) dropAll() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds = false
	if c.lost != nil {
		return c.lost
	}
	return c.removeLocked(c.next)
}

// leave is called at the end. A journal stays; without one, what this run has written is of no use to anybody. A fence
// that others have put behind it stays in any case.
func (c *chain) leave() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds {
		return nil
	}
	return c.removeLocked(c.next)
}

// removeLocked removes the links before a number. From the first on: what is left of a journal without its beginning is
// nothing. The caller holds mu.
func (c *chain) removeLocked(before int) error {
	for ; c.first < before; c.first++ {
		if err := c.lease.d.delete(linkKey(c.folder, c.first)); err != nil {
			return &FileError{Doing: "remove the journal", Path: c.folder, Err: err}
		}
	}
	return nil
}

// links are what was found of a chain.
type links struct {
	folder   string
	numbers  []int
	data     map[int][]byte
	modified time.Time // of the last
}

// chains are the folders of the chains of a stack, oldest first.
func (b stackJournal) chains() ([]string, error) {
	prefix := b.chainsFolder() + "/"
	found, err := b.objects.list(prefix)
	if err != nil {
		return nil, &FileError{Doing: "look for journals in", Path: b.chainsFolder(), Err: err}
	}
	var folders []string
	for _, f := range found {
		if folder, ok := strings.CutSuffix(f.Key, "/"); ok {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// readers is how many links are read at the same time.
const readers = 16

// read reads a chain. Links that are removed meanwhile are not there.
func (b stackJournal) readChain(folder string) (*links, error) {
	failed := func(err error) error { return &FileError{Doing: "read the journal", Path: folder, Err: err} }
	found, err := b.objects.list(folder + "/")
	if err != nil {
		return nil, failed(err)
	}
	l := &links{folder: folder, data: map[int][]byte{}}
	var mu sync.Mutex // guards l.data and fault
	var fault error
	var group sync.WaitGroup
	slots := make(chan struct{}, readers)
	for _, f := range found {
		var n int
		if _, err := fmt.Sscanf(path.Base(f.Key), "%d", &n); err != nil || linkKey(folder, n) != f.Key {
			continue
		}
		l.numbers, l.modified = append(l.numbers, n), f.Modified
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			o, err := b.objects.get(f.Key)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				fault = err
			default:
				l.data[n] = o.Data
			}
		})
	}
	group.Wait()
	if fault != nil {
		return nil, failed(fault)
	}
	return l, nil
}

// isMark tells marks from pieces of a journal, which would have to be longer than they can be to begin alike.
func isMark(data []byte) bool {
	for _, kind := range [...]string{markClaim, markGuard, markFence, markSettled} {
		if bytes.HasPrefix(data, []byte(kind)) {
			return true
		}
	}
	return false
}

// journal is what a chain holds of a journal; nil if nothing that counts. pieces are its links. A link that is missing
// in between is damage: each is written after the one before was acknowledged, and links are removed from the
// beginning.
func (l *links) journal() (data []byte, pieces []int, err error) {
	start := -1
	for i, n := range l.numbers {
		if journal.Begins(l.data[n]) {
			start = i
		}
	}
	if start < 0 {
		return nil, nil, nil
	}
	for i := start; i < len(l.numbers); i++ {
		n := l.numbers[i]
		if i > start && n != l.numbers[i-1]+1 {
			return nil, nil, &CorruptError{Path: linkKey(l.folder, l.numbers[i-1]+1),
				Err: errors.New(
					"this piece of the journal is missing, and there are pieces behind it; put it back from a version or a copy of " +
						"the store")}
		}
		if l.data[n] == nil {
			break // it was removed since it was listed: the state holds all of it
		}
		if !isMark(l.data[n]) {
			data, pieces = append(data, l.data[n]...), append(pieces, n)
		}
	}
	return data, pieces, nil
}

// last is the last link; nil if there is none.
func (l *links) last() []byte {
	if len(l.numbers) == 0 {
		return nil
	}
	return l.data[l.numbers[len(l.numbers)-1]]
}

func (l *links) settled() bool { return bytes.HasPrefix(l.last(), []byte(markSettled)) }

func (l *links) next() int {
	if len(l.numbers) == 0 {
		return 0
	}
	return l.numbers[len(l.numbers)-1] + 1
}

// appendTo puts a link at the end of somebody else's chain, wherever that is by now. The caller holds the lease.
func (b stackJournal) appendTo(h *heldLock, l *links, data []byte) error {
	for {
		_, err := b.objects.put(linkKey(l.folder, l.next()), data, Condition{Absent: true})
		switch {
		case err == nil:
			l.data[l.next()] = data
			l.numbers = append(l.numbers, l.next())
			return h.lease.check()
		case !errors.Is(err, ErrChanged):
			return &FileError{Doing: "close the journal", Path: l.folder, Err: err}
		}
		if err := h.lease.renew(); err != nil {
			return err
		}
		again, err := b.readChain(l.folder)
		if err != nil {
			return err
		}
		*l = *again
	}
}

// fence closes the chains of all others, so that none of them can journal anything any more. Those that have left
// anything behind, or may have, are kept in h.
func (b stackJournal) fence(h *heldLock) error {
	folders, err := b.chains()
	if err != nil {
		return err
	}
	settled := h.lease.settledTo()
	for i, folder := range folders {
		// Of those that are settled only the oldest is looked at, to see whether it is old enough to go.
		if folder == h.chain.folder || i > 0 && generationOf(folder) <= settled {
			continue
		}
		l, err := b.readChain(folder)
		if err != nil {
			return err
		}
		if len(l.numbers) == 0 {
			continue
		}
		if generationOf(folder) <= settled || l.settled() {
			if b.o.Now().Sub(l.modified) > fenceAge {
				b.dropLinks(l, l.next())
			}
			continue
		}
		if err := b.appendTo(h, l, []byte(markFence+newUUID())); err != nil {
			return err
		}
		h.left = append(h.left, l)
	}
	return nil
}

// dropLinks removes links before a number, from the first on. What stays behind is only litter.
func (b stackJournal) dropLinks(l *links, before int) {
	for _, n := range l.numbers {
		if n >= before || b.objects.delete(linkKey(l.folder, n)) != nil {
			return
		}
	}
}

// settleChain notes that what a chain held is in the state file, and removes it but for the fence that keeps its writer
// out.
func (b stackJournal) settleChain(h *heldLock, l *links) error {
	fence := l.next() - 1
	for i, n := range l.numbers {
		if bytes.HasPrefix(l.data[n], []byte(markFence)) {
			fence = l.numbers[i]
			break
		}
	}
	if err := b.appendTo(h, l, []byte(markSettled+newUUID())); err != nil {
		return err
	}
	b.dropLinks(l, fence)
	return nil
}
