package backend

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/yamlhost/yamlhost/runtime/journal"
)

// A journal in a store is a chain of objects: one folder for each generation of the lease, in it one object for each
// write, numbered from 0. Every link is written under the condition that there is none of its number yet, and a writer
// never leaves a number out. A run that takes over from a writer puts a fence where the writer would write next: it
// finds the place taken, and has lost. Links are pieces of the journal (the last one that begins with a journal's
// signature begins it) or marks.
const (
	markClaim  = "yhclaim\n"   // a generation begins
	markGuard  = "yhguard\n"   // its writer is about to write something else under a condition, and still may
	markFence  = "yhfence\n"   // somebody took over; what its writer had left comes before
	markMerged = "yhsettled\n" // what it had left is in the state file, which was written anew since
)

// fenceAge is how long a fence stays: longer than any request can take.
const fenceAge = 30 * 24 * time.Hour

// generationOf returns the generation of a chain's folder; 0 if it is none.
func generationOf(folder string) int64 {
	n, err := strconv.ParseInt(path.Base(folder), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// linkKey returns the key of a link. Keys sort as numbers do, so that a list of them is in order.
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
	switch {
	case errors.As(err, new(*LockLostError)):
		c.lost = err
	case err != nil && !errors.As(err, new(*FileError)):
		err = &FileError{Doing: "write the journal", Path: c.folder, Err: err}
	}
	return err
}

// mark writes a link that is no piece of the journal. The UUID tells it from a mark of another run, also of the same
// kind.
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

// links are the pieces of a journal that were found.
type links struct {
	folder   string
	numbers  []int
	data     map[int][]byte
	modified time.Time // of the last
}

// isMark reports whether data is a mark and not a segment of a journal: no segment is long enough to begin like a mark.
func isMark(data []byte) bool {
	for _, kind := range [...]string{markClaim, markGuard, markFence, markMerged} {
		if bytes.HasPrefix(data, []byte(kind)) {
			return true
		}
	}
	return false
}

// journal returns what a chain holds of a journal; nil if nothing that counts. A link that is missing in between is
// damage: each is written after the one before was acknowledged, and links are removed from the beginning.
func (l *links) journal() (data []byte, err error) {
	start := -1
	for i, n := range l.numbers {
		if journal.Begins(l.data[n]) {
			start = i
		}
	}
	if start < 0 {
		return nil, nil
	}
	for i := start; i < len(l.numbers); i++ {
		n := l.numbers[i]
		if i > start && n != l.numbers[i-1]+1 {
			return nil, &CorruptError{Path: linkKey(l.folder, l.numbers[i-1]+1),
				Err: errors.New(
					"this piece of the journal is missing, and later pieces exist; restore it from a version or " +
						"a copy of the store")}
		}
		if l.data[n] == nil {
			break // it was removed since it was listed: the state holds all of it
		}
		if !isMark(l.data[n]) {
			data = append(data, l.data[n]...)
		}
	}
	return data, nil
}

// last returns the last link; nil if there is none.
func (l *links) last() []byte {
	if len(l.numbers) == 0 {
		return nil
	}
	return l.data[l.numbers[len(l.numbers)-1]]
}

// merged reports whether the state file has everything that the chain held.
func (l *links) merged() bool { return bytes.HasPrefix(l.last(), []byte(markMerged)) }

// next returns the number of the first link that is not there.
func (l *links) next() int {
	if len(l.numbers) == 0 {
		return 0
	}
	return l.numbers[len(l.numbers)-1] + 1
}
