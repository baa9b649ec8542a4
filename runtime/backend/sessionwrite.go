package backend

import (
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// checkpointIfDue begins to write the state file in between, by the rule of Session, and does not wait for it. When
// that fails the journal simply goes on: it holds everything, and Commit will say what is wrong.
func (s *Session) checkpointIfDue() {
	w, due := s.due()
	if !due {
		return
	}
	s.background(func() {
		file, err := s.write(w)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.writing = false; err == nil {
			s.file, s.covered = file, w.size
		}
		s.idle.Broadcast()
	})
}

// due returns the state to write in between, if any. The caller writes it.
func (s *Session) due() (w stateWrite, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	interval := s.state.o.CheckpointInterval
	if interval == 0 {
		interval = defaultInterval
	}
	if s.closed || s.log == nil || s.writing || s.log.Size()-s.covered <= max(int64(len(s.file.raw)), s.leastJournal) {
		return w, false
	}
	now := s.state.o.Now()
	if now.Before(s.written) { // somebody has set the clock back
		s.written = now
	}
	if now.Sub(s.written) < interval {
		return w, false
	}
	s.written = now // also when it fails, so that it is not tried at every step
	snapshot, origin, err := s.replayer.Checkpoint()
	if err != nil {
		return w, false
	}
	s.writing = true
	return stateWrite{snapshot: snapshot, origin: origin, over: s.file, log: s.log, size: s.log.Size()}, true
}

// stateWrite is a snapshot that becomes the state file.
type stateWrite struct {
	snapshot *state.Snapshot
	over     stored       // what it takes the place of
	log      *journal.Log // nil without a journal
	// The part of the journal that the snapshot holds: everything up to a size of it, and the origin that continues
	// its numbering.
	size   int64
	origin journal.Origin
	last   bool // nothing is journaled any more
}

// write makes a snapshot the state file. A journal, if there is one, says first what of it the file holds. It needs no
// lock of the session, but at most one is under way at a time.
func (s *Session) write(w stateWrite) (stored, error) {
	c := s.next(w.snapshot)
	text, err := state.EncodeCheckpoint(&c, s.sealer)
	if err != nil {
		return stored{}, err
	}
	p, err := s.state.pack(text, w.over)
	if err != nil {
		return stored{}, err
	}
	if w.log == nil {
		if err := s.held.guard(); err != nil {
			return stored{}, err
		}
	} else {
		if err := s.held.look(); err != nil {
			return stored{}, s.held.explain(err)
		}
		if err := w.log.Covered(p.identity, w.origin, w.size); err != nil {
			if !w.last || s.held.chain != nil { // in a store it is the journal that says whether the lock is still held
				return stored{}, s.held.explain(err)
			}
			// At the end the state file matters more than a journal that cannot be written any more. Another file in its
			// place can say what it could not; without that, should it stay, it would look like one that does not fit.
			_ = s.state.journalOf(s.ref).coverJournal(p.identity)
		}
	}
	if s.held.lease != nil && w.log != nil { // for a folder, fencedDisk looks
		if err := s.held.look(); err != nil {
			return stored{}, s.held.explain(err)
		}
	}
	file, err := s.state.put(p, w.over)
	if err != nil {
		return stored{}, s.held.foreign(err)
	}
	return file, nil
}

// next returns a state file with a snapshot, as of now.
func (s *Session) next(snapshot *state.Snapshot) state.Checkpoint {
	latest, c := *snapshot, s.checkpoint
	latest.Manifest = s.state.manifest()
	latest.Manifest.Unknown = snapshot.Manifest.Unknown
	c.Stack, c.Snapshot = s.ref.QualifiedName(), &latest
	return c
}

// replace writes a snapshot as the state before anything is journaled, or at the end. The caller holds the session's
// mutex.
func (s *Session) replace(snapshot *state.Snapshot) error {
	w := stateWrite{snapshot: snapshot, over: s.file, log: s.log, last: s.closed}
	if s.log != nil {
		w.size = s.log.Size()
	}
	s.unwritten = false
	file, err := s.write(w)
	if err == nil {
		s.file = file
	}
	return err
}
