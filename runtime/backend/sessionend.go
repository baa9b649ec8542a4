package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// end marks the session as ended and waits for a state file that is being written. The caller holds the session's
// mutex.
func (s *Session) end() {
	s.closed = true
	for s.writing {
		s.idle.Wait()
	}
}

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
	s.end()
	unsound, err := s.finish(final)
	if err == nil && record != nil {
		err = s.held.look()
	}
	if err == nil && record != nil {
		err = s.state.historyOf(s.ref).add(record, s.file.raw)
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
	if s.log == nil && s.same(&marked) {
		s.wrote = true
		return unsound, s.held.look()
	}
	if err := s.replace(&marked); err != nil {
		return unsound, err
	}
	s.wrote = true
	return unsound, s.dropLog()
}

// dropLog removes the journal once the state file holds it all.
func (s *Session) dropLog() error {
	if s.log == nil {
		return nil
	}
	if s.held.chain != nil {
		return s.held.explain(errors.Join(s.log.Close(), s.held.chain.dropAll()))
	}
	path := s.state.journalOf(s.ref).journalFile()
	remove := disk.RemoveDurably
	if s.log.Err() == nil { // a crash may bring it back: its last note says that the state file holds it all
		remove = disk.RemoveIfThere
	}
	closing := s.log.Close()
	err := remove(s.state.disk, path)
	// a disk that failed once is asked again: what stays behind is in the way of nobody, but puzzles people
	if err != nil && !errors.As(err, new(*LockLostError)) {
		err = remove(s.state.disk, path)
	}
	if err = errors.Join(closing, err); err != nil {
		return &FileError{Doing: "remove the journal", Path: path, Err: err}
	}
	return nil
}

// Close ends a session that was not committed. Without entries it only gives the lock back; with some, it writes what
// they say, without a record in the history. After Commit it does nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.end()
	var unsound, err error
	if s.log != nil {
		unsound, err = s.finish(nil)
	}
	return errors.Join(unsound, s.losses.tell(s.held.explain(err)), s.held.release())
}

// same reports whether the state file equals the snapshot, apart from the time and the order of resources: unchanged
// resources come in the order of their registration, which differs from run to run. It encodes only the parts around
// the resources. A file with a right checksum was encoded in the same way, so comparing the decoded resources is
// enough. The caller holds the session's mutex.
func (s *Session) same(snapshot *state.Snapshot) bool {
	plain, err := unpack(s.file.raw)
	if err != nil || !s.unwritten || s.file.path != s.state.file(s.state.packing(s.file)) || !intact(plain) ||
		len(s.base.Pending)+len(snapshot.Pending) > 0 {
		return false
	}
	ordered := inOrderOf(s.base.Resources, snapshot.Resources)
	if ordered == nil && len(snapshot.Resources) > 0 || !slices.EqualFunc(s.base.Resources, ordered, state.Identical) {
		return false
	}
	around := func(c state.Checkpoint, sealer secrets.Manager) []byte {
		empty := *c.Snapshot
		empty.Resources, empty.Manifest.Time = nil, time.Time{}
		c.Snapshot = &empty
		text, err := state.EncodeCheckpoint(&c, sealer)
		if err != nil {
			return nil
		}
		return text
	}
	read := s.checkpoint
	read.Snapshot = s.base
	text := around(read, nil)
	return text != nil && bytes.Equal(text, around(s.next(snapshot), s.sealer))
}

// inOrderOf returns resources in the order of others with the same names and IDs; nil if there are no such others for
// each of them.
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
