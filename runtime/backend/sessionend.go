package backend

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Commit ends the session. It writes final as the state unless the file has it already; a nil final stands for the
// state that the journal describes. It writes record into the history unless record is nil, drops the journal and
// releases the lock. It goes on when ctx is cancelled. A final snapshot that is not sound is written nevertheless,
// marked as such (E6.51), and gives a *state.IntegrityError. When the state cannot be written, the journal stays and
// the next command finds it.
func (s *Session) Commit(_ context.Context, final *state.Snapshot, record *Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the operation has ended already")
	}
	status := "succeeded"
	if record != nil {
		status = record.Result
	}
	return s.end(true, final, record, status)
}

// end gives everything back, after it has written the final state if write is set. The caller holds the session's mutex.
func (s *Session) end(write bool, final *state.Snapshot, record *Record, status string) error {
	s.closed = true
	s.file.end()
	if s.held.remote != nil {
		s.held.remote.retry()
	}
	var unsound, err error
	if write {
		unsound, err = s.finish(final)
	}
	if err == nil && record != nil {
		err = s.held.look()
	}
	s.watched.flush() // a service takes no events once the operation has ended
	switch {
	case err != nil:
	case s.held.remote != nil:
		err = s.held.remote.complete(status)
	case record != nil:
		err = s.state.historyOf(s.ref).add(record, s.file.current().raw)
	}
	return errors.Join(unsound, s.losses.tell(s.held.explain(err)), s.held.release())
}

// finish writes the final state and drops the journal; nil stands for the state that the journal describes. unsound
// is the fault of a state that is not sound; it is written nevertheless. The caller holds the session's mutex.
func (s *Session) finish(final *state.Snapshot) (unsound, err error) {
	if final == nil {
		if final, err = s.replayer.Snapshot(); err != nil {
			return nil, err
		}
	}
	if final, err = final.Normalize(); err != nil {
		return nil, err
	}
	marked := *final
	marked.Manifest = s.state.manifest() // the one that is written
	unsound = marked.Verify()
	if marked.Metadata, err = integrityNote(final.Metadata, unsound, s.state.o.Version, s.o.Command); err != nil {
		return unsound, err
	}
	if s.log == nil && s.file.same(&marked) {
		s.wrote = true
		return unsound, s.held.look()
	}
	w := stateWrite{snapshot: &marked, log: s.log, last: true}
	if s.log != nil {
		w.size = s.log.Size()
	}
	if err := s.file.replace(w); err != nil {
		return unsound, err
	}
	s.wrote = true
	return unsound, s.dropLog(s.log)
}

// dropLog removes the journal, if there is one, once the state file holds it all.
func (t sessionTools) dropLog(log *journal.Log) error {
	if log == nil {
		return nil
	}
	if t.held.chain != nil {
		return t.held.explain(errors.Join(log.Close(), t.held.chain.dropAll()))
	}
	path := t.state.journalOf(t.ref).journalFile()
	remove := disk.RemoveDurably
	if log.Err() == nil { // a crash may bring it back: its last note says that the state file holds it all
		remove = disk.RemoveIfThere
	}
	closing := log.Close()
	err := remove(t.state.disk, path)
	// a disk that failed once is asked again: what stays behind is in the way of nobody, but puzzles people
	if err != nil && !errors.As(err, new(*LockLostError)) {
		err = remove(t.state.disk, path)
	}
	return fileError("remove the journal", path, errors.Join(closing, err))
}

// Close ends a session that was not committed. Without entries it only gives the lock back; with some, it writes what
// they say, without a record in the history. After Commit it does nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	return s.end(s.log != nil, nil, nil, "failed")
}

// integrityNote sets or clears metadata.integrity_error (F5.6, E6.51).
func integrityNote(metadata json.RawMessage, fault error, version, command string) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if len(metadata) > 0 {
		if err := json.Unmarshal(metadata, &members); err != nil {
			return nil, err
		}
	}
	if _, noted := members["integrity_error"]; fault == nil && !noted {
		return metadata, nil
	}
	delete(members, "integrity_error")
	if fault != nil {
		note, err := compactJSON(struct {
			Version string `json:"version"`
			Command string `json:"command"`
			Error   string `json:"error"`
		}{version, command, fault.Error()})
		if err != nil {
			return nil, err
		}
		members["integrity_error"] = note
	}
	return compactJSON(members)
}
