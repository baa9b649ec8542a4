package backend

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Append makes an entry durable and takes it into account. It ignores a cancelled ctx: an entry is a fact. An entry
// that does not fit the ones before it is refused and not written.
func (s *Session) Append(_ context.Context, e journal.Entry) error {
	record, e, sealing, err := s.encode(e)
	if err != nil {
		return err
	}
	if e.Begin != nil {
		// Once the lock is lost the end of a step is still worth a try, for anyone who comes next. A beginning is not.
		if err := s.held.look(); err != nil {
			return s.held.explain(err)
		}
	}
	var wait func() error
	err = s.put(e, func(log *journal.Log) { wait = log.Put(record, s.looksAfter(e)) })
	if err == nil {
		err = wait()
	}
	if err != nil {
		if e.Begin != nil && s.held.remote != nil {
			// The copy may have it, and nobody takes the step.
			_ = s.Defer(context.Background(), journal.Entry{Step: e.Step})
		}
		s.losses.note(e, err)
		return s.losses.tell(s.held.explain(err))
	}
	if e.Begin == nil { // nothing comes between the last look at the lock and the call of a provider
		s.checkpointIfDue()
	}
	return sealing
}

// Defer takes an entry into account that is durable before any other that is appended later. In a store it is Append:
// there the order of writes in flight is not guaranteed.
func (s *Session) Defer(ctx context.Context, e journal.Entry) error {
	if s.held.lease != nil || e.Begin != nil {
		return s.Append(ctx, e)
	}
	record, e, sealing, err := s.encode(e)
	if err != nil {
		return err
	}
	var write func() error
	err = s.put(e, func(log *journal.Log) {
		write = log.PutDeferred(record, s.looksAfter(e), func(err error) { s.losses.note(e, err) })
	})
	if err == nil {
		err = write()
	}
	if err != nil {
		return s.losses.tell(s.held.explain(err))
	}
	s.checkpointIfDue()
	return sealing
}

// looksAfter reports whether the lock has to be there after an entry is durable. Anyone who comes next reads the
// journal after the lock was lost. So if the lock is still there, they will find the entry. Links in a store need no
// such look unless something begins now: a fence keeps them out.
// What a service does not have is in the copy, for anyone who comes next.
func (t sessionTools) looksAfter(e journal.Entry) bool {
	return e.Begin != nil || t.held.lease == nil && t.held.remote == nil
}

// encode makes a record of an entry. sealing is why its secrets are not in it.
func (t sessionTools) encode(e journal.Entry) (record journal.Record, encoded journal.Entry, sealing, err error) {
	if memory, ok := t.sealer.(*state.Memory); ok && t.held.remote != nil { // whose secrets take a call each
		times := 1
		if e.Begin != nil {
			times = 2 // the provider's answer usually repeats the inputs, and then its entry takes no call
		}
		memory.Rehearse(times, func(m secrets.Manager) error {
			_, err := journal.Encode(e, m)
			return err
		})
	}
	if record, sealing = journal.Encode(e, t.sealer); sealing == nil {
		return record, e, nil, nil
	}
	// A missing passphrase must not lose the result of a provider call: write the entry without its secrets.
	if e, err = withholdSecrets(e); err == nil {
		record, err = journal.Encode(e, t.sealer)
	}
	if err != nil {
		return nil, e, nil, errors.Join(sealing, err)
	}
	return record, e, sealing, nil
}

// put applies an entry to the state in memory, and hands it to the log in the same order. So the log never has an entry
// that does not fit.
func (s *Session) put(e journal.Entry, put func(*journal.Log)) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the operation has ended; nothing more can be journaled")
	}
	if s.log == nil {
		if s.log, err = s.newLog(s.file.current().identity, s.base.SecretsProvider); err != nil {
			return err
		}
	}
	if err := s.replayer.Apply(e); err != nil {
		return err
	}
	if s.held.remote != nil {
		if err := s.held.remote.apply(e); err != nil {
			return err
		}
	}
	put(s.log)
	return nil
}

// newLog begins a journal that goes on from a state file with a provider of secrets.
func (t sessionTools) newLog(base journal.Identity, provider *state.SecretsProvider) (*journal.Log, error) {
	header := journal.Header{
		Stack: t.ref.QualifiedName(), Base: base, Secrets: provider,
		PID: t.state.o.Process.PID, Host: t.state.o.Process.Host, Started: t.state.o.Now().UTC(), Command: t.o.Command,
	}
	o := journal.LogOptions{Secrets: t.sealer, NoSync: t.o.NoSync, Check: t.held.look, Deferral: t.deferral}
	if t.held.chain != nil {
		t.held.chain.begin()
		log, err := journal.Create(t.held.chain, header, o)
		return log, t.held.explain(err)
	}
	path := t.state.journalOf(t.ref).journalFile()
	tmp := disk.Temporary(path)
	f, err := t.state.disk.Create(tmp)
	if err != nil {
		return nil, fileError("begin the journal", path, err)
	}
	if t.held.remote != nil {
		f = local{f, t.held.remote}
	}
	log, err := journal.Create(f, header, o)
	if err == nil {
		err = t.state.disk.Rename(tmp, path)
	}
	if err == nil {
		err = t.state.disk.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		err = errors.Join(err, f.Close())
		_ = t.state.disk.Remove(tmp) // best effort: the fault that matters is err
		return nil, fileError("begin the journal", path, err)
	}
	return log, nil
}
