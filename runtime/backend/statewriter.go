package backend

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// stateWriter owns the state file of a session: it writes the file in between and at the end, one write at a time. It
// is safe for concurrent use.
type stateWriter struct {
	tools  sessionTools
	around state.Checkpoint // the file as it was read; all of it but the snapshot is kept
	begun  stored           // the file as it was read

	mu      sync.Mutex // guards the fields below
	idle    sync.Cond  // signalled when writing ends
	file    stored
	read    *state.Snapshot // the snapshot that was read from file; nil if it had none, or was written since
	written time.Time       // when file was written last
	covered int64           // file holds the journal up to this size in bytes
	writing bool            // the file is being written in between
	ended   bool            // nothing is journaled any more
}

// writer returns the stateWriter of a state file that was just read as c.
func (t sessionTools) writer(file stored, c *state.Checkpoint) *stateWriter {
	w := &stateWriter{tools: t, around: *c, begun: file, file: file, read: c.Snapshot, written: t.state.files.o.Now()}
	w.idle.L = &w.mu
	return w
}

// current returns the state file as it was last written or read.
func (w *stateWriter) current() stored {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.file
}

// ending returns the end of the operation, whose state file holds a snapshot.
func (w *stateWriter) ending(snapshot *state.Snapshot) *ending {
	return &ending{file: w.current(), snapshot: snapshot, begun: w.begun}
}

// checkpointIfDue begins to write the state file in between, by the rule of Session, and does not wait for it. A
// failure is ignored: the journal holds everything, and Commit writes the state again.
func (s *Session) checkpointIfDue() {
	what, due := s.due()
	if !due {
		return
	}
	previous := s.file.current()
	s.tools.schedule.background(func() {
		file, err := s.file.write(what, previous)
		s.file.release(file, what.size, err)
	})
}

// due returns the state to write in between, if any. The caller writes it.
func (s *Session) due() (what stateWrite, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.log == nil || !s.file.claim(s.log.Size()) {
		return what, false
	}
	snapshot, origin, err := s.replayer.Checkpoint()
	if err != nil {
		s.file.release(stored{}, 0, err)
		return what, false
	}
	return stateWrite{snapshot: snapshot, origin: origin, log: s.log, size: s.log.Size()}, true
}

// claim reports whether the state file is to be written now, by the size of the journal. If so, the caller writes it
// and calls release.
func (w *stateWriter) claim(size int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || w.writing || !w.tools.held.journaling().inBetween ||
		size-w.covered <= max(int64(len(w.file.raw)), w.tools.schedule.leastJournal) {
		return false
	}
	now := w.tools.state.files.o.Now()
	if now.Before(w.written) { // somebody has set the clock back
		w.written = now
	}
	if now.Sub(w.written) < w.tools.schedule.interval {
		return false
	}
	w.written = now // also when it fails, so that it is not tried at every step
	w.writing = true
	return true
}

// release ends the write that claim began. Unless err is set, file is the new state file, which holds the journal up to
// size.
func (w *stateWriter) release(file stored, size int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writing = false; err == nil {
		w.file, w.covered = file, size
	}
	w.idle.Broadcast()
}

// end waits for a write under way, and prevents later ones in between.
func (w *stateWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	for w.writing {
		w.idle.Wait()
	}
}

// stateWrite is a snapshot that becomes the state file.
type stateWrite struct {
	snapshot *state.Snapshot
	log      *journal.Log // nil without a journal
	// The part of the journal that the snapshot holds: everything up to size, and the origin that continues its
	// numbering.
	size   int64
	origin journal.Origin
	last   bool // nothing is journaled any more
}

// write writes a snapshot as the state file that replaces previous. If there is a journal, it first notes there which
// part of it the file holds. It needs no mutex, but at most one write is under way at a time.
func (w *stateWriter) write(what stateWrite, previous stored) (stored, error) {
	c := w.next(what.snapshot)
	text, err := state.EncodeCheckpoint(&c, w.tools.sealer)
	if err != nil {
		return stored{}, err
	}
	next, err := w.tools.state.pack(text, previous)
	if err != nil {
		return stored{}, err
	}
	next.written = c.Snapshot.Manifest.Time
	if what.log == nil {
		if err := w.tools.held.guard(); err != nil {
			return stored{}, err
		}
	} else {
		if !w.tools.held.journaling().proves {
			if err := w.tools.held.checkHeld(); err != nil {
				return stored{}, w.tools.held.explain(err)
			}
		}
		if err := what.log.Covered(next.identity, what.origin, what.size); err != nil {
			if !what.last || w.tools.held.journaling().proves {
				return stored{}, w.tools.held.explain(err)
			}
			// At the end the state file matters more than a journal that cannot be written. A new journal file takes
			// the note: without it, a journal that remains would count as foreign. An open file cannot be replaced.
			_ = what.log.Close()
			_ = w.tools.state.files.journalOf(w.tools.ref).coverJournal(next.identity)
		}
	}
	if err := w.tools.held.beforeState(what); err != nil {
		return stored{}, err
	}
	file, err := w.tools.state.put(next, previous)
	return file, w.tools.held.foreign(err)
}

// next returns a state file with a snapshot, as of now.
func (w *stateWriter) next(snapshot *state.Snapshot) state.Checkpoint {
	latest, c := *snapshot, w.around
	latest.Manifest = w.tools.state.files.manifest()
	latest.Manifest.Unknown = snapshot.Manifest.Unknown
	c.Stack, c.Snapshot = w.tools.ref.QualifiedName(), &latest
	return c
}

// replace writes a snapshot as the state before anything is journaled, or at the end.
func (w *stateWriter) replace(what stateWrite) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read = nil
	file, err := w.write(what, w.file)
	if err == nil {
		w.file = file
	}
	return err
}

// same reports whether the state file equals the snapshot, apart from the time and the order of resources: unchanged
// resources come in the order of their registration, which differs from run to run. It encodes only the parts around
// the resources. A file with a right checksum was encoded in the same way, so comparing the decoded resources is
// enough.
func (w *stateWriter) same(snapshot *state.Snapshot) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	plain, err := unpack(w.file.raw)
	if err != nil || w.read == nil || w.file.path != w.tools.state.file(w.tools.state.packing(w.file)) ||
		!intact(plain) ||
		len(w.read.Pending)+len(snapshot.Pending) > 0 {
		return false
	}
	ordered := inOrderOf(w.read.Resources, snapshot.Resources)
	if ordered == nil && len(snapshot.Resources) > 0 || !slices.EqualFunc(w.read.Resources, ordered, state.Identical) {
		return false
	}
	encode := func(c state.Checkpoint, sealer secrets.Manager) []byte {
		empty := *c.Snapshot
		empty.Resources, empty.Manifest.Time = nil, time.Time{}
		c.Snapshot = &empty
		text, err := state.EncodeCheckpoint(&c, sealer)
		if err != nil {
			return nil
		}
		return text
	}
	text := encode(w.around, nil)
	return text != nil && bytes.Equal(text, encode(w.next(snapshot), w.tools.sealer))
}

// inOrderOf returns resources in the order of others, matched by URN, ID and deletion; nil unless each matches exactly
// one.
func inOrderOf(others, resources []*state.Resource) []*state.Resource {
	type name struct {
		urn     urn.URN
		id      string
		deleted bool
	}
	nameOf := func(r *state.Resource) name { return name{r.URN, r.ID, r.Delete} }
	byName := make(map[name]*state.Resource, len(resources))
	for _, r := range resources {
		byName[nameOf(r)] = r
	}
	if len(byName) != len(others) || len(resources) != len(others) {
		return nil
	}
	ordered := make([]*state.Resource, len(others))
	for i, r := range others {
		if ordered[i] = byName[nameOf(r)]; ordered[i] == nil {
			return nil
		}
		delete(byName, nameOf(r))
	}
	return ordered
}
