package backend

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Recovery describes what the journal of an earlier run held, one that was cut off or, when read without the lock, one
// that is under way.
type Recovery struct {
	Header   journal.Header
	Entries  int               // applied; none if the state file held them all
	InFlight []state.Operation // begun, with an unknown outcome; secrets in them are sealed
	Torn     int               // bytes at the end that were never acknowledged
	// Foreign reports whether another writer has changed the state file since: the journal does not belong to it, was
	// not applied, and was not thrown away.
	Foreign bool
	// Known reports whether the state file has everything that a foreign journal records: every resource that it made
	// is there, and no operation was in flight. Then no warning is necessary.
	Known   bool
	Claimed []state.Operation // of a foreign journal: the operations that it had begun
	Aside   []string          // files that Begin has put aside: a foreign or damaged journal, a torn tail
	// Mended counts the flipped bits of the journal that were corrected. Gaps are the other damaged parts, and
	// Missing is the content that they have lost; only BeginOptions.Salvage goes on without it.
	Mended  int
	Gaps    []journal.Gap
	Missing []string

	contents *journal.Contents
	snapshot *state.Snapshot // the result, secrets sealed; nil when the state file is current
}

// stackJournal finds what runs have left in the journal of a stack, and brings it into the state: a file in a folder,
// chains of objects in a store.
type stackJournal struct{ stackState }

// journalFile returns the path of the journal in a folder, and its name in messages.
func (b stackJournal) journalFile() string {
	return filepath.Join(b.root, "stacks", b.ref.Project, b.ref.Stack+".yamlhost-journal")
}

// data returns the content of a stack's journal file, nil when there is none.
func (b stackJournal) data() ([]byte, error) {
	if err := b.ref.check(); err != nil {
		return nil, err
	}
	if b.objects != nil {
		return b.chainsOf(b.ref).journal()
	}
	data, err := b.readIfThere("read the journal", b.journalFile())
	return slices.Clip(data), err
}

// replay applies a journal to a state file, without writing anything. It returns nil if the journal is empty. A
// journal with missing parts gives a *DamagedJournalError, unless salvage is set.
func (b stackJournal) replay(file stored, data []byte, salvage bool) (*Recovery, error) {
	if data == nil {
		return nil, nil
	}
	contents, err := journal.Read(data, nil)
	if err != nil {
		return nil, &CorruptError{Path: b.journalFile(), Err: err}
	}
	out := &Recovery{Header: contents.Header, Torn: contents.Torn, Mended: contents.Mended, Gaps: contents.Gaps,
		contents: contents}
	if len(contents.Entries) == 0 && len(contents.Gaps) == 0 {
		return out, nil
	}
	c, err := file.decode(nil)
	if err != nil {
		return nil, err
	}
	replayer, done, err := contents.Replayer(c.Snapshot, file.identity)
	var damage *journal.DamageError
	if errors.As(err, &damage) && salvage {
		replayer, out.Missing, done, err = contents.Salvage(c.Snapshot, file.identity)
	}
	switch {
	case errors.As(err, &damage):
		return nil, &DamagedJournalError{Path: b.journalFile(), Damage: damage}
	case errors.As(err, new(*journal.MismatchError)):
		out.Foreign = true
		for _, e := range contents.Entries {
			if e.Begin != nil {
				out.Claimed = append(out.Claimed, *e.Begin)
			}
		}
		out.Known = knows(c.Snapshot, contents.Entries)
		return out, nil
	case err != nil:
		return nil, &CorruptError{Path: b.journalFile(), Err: err}
	case done:
		return out, nil
	}
	out.Entries, out.InFlight = len(contents.Entries), replayer.InFlight()
	if out.snapshot, err = replayer.Snapshot(); err != nil {
		return nil, &CorruptError{Path: b.journalFile(), Err: err}
	}
	if contents.Secrets != nil {
		out.snapshot.SecretsProvider = contents.Secrets
	}
	return out, nil
}

// knows reports whether a state has every resource that the entries added and did not remove, and no step that they
// began is open.
func knows(s *state.Snapshot, entries []journal.Entry) bool {
	made, open := outcome(entries)
	there := map[object]bool{}
	if s != nil {
		for _, r := range s.Resources {
			there[object{r.URN, r.ID}] = true
		}
	}
	return len(open) == 0 && !slices.ContainsFunc(made, func(r *state.Resource) bool { return !there[object{r.URN, r.ID}] })
}

// damaged reports whether anything but a torn tail is wrong with the journal.
func (r *Recovery) damaged() bool { return r.Mended > 0 || len(r.Gaps) > 0 }

// coverJournal puts, in place of a journal, its sound part with a note that a state file with this identity, which is
// about to be written, holds everything in it.
func (b stackJournal) coverJournal(id journal.Identity) error {
	data, err := b.data()
	if err != nil || data == nil {
		return err
	}
	contents, err := journal.Read(data, nil)
	if err != nil {
		return err
	}
	covered, err := contents.Covering(id)
	if err != nil {
		return err
	}
	return disk.WriteDurably(b.disk, b.journalFile(), covered)
}

// recover makes what replay has found durable, so that the journal can go. The caller holds the lock.
func (b stackJournal) recover(file stored, salvage bool) (*Recovery, stored, error) {
	data, err := b.data()
	if err != nil || data == nil {
		return nil, file, err
	}
	found, err := b.replay(file, data, salvage)
	if err != nil {
		return nil, file, err
	}
	if found.Torn > 0 && !found.Foreign {
		if err := b.putAside(found, "the end of the journal", "torn", data[len(data)-found.Torn:]); err != nil {
			return nil, file, err
		}
	}
	if found.damaged() && !found.Foreign {
		if err := b.putAside(found, "the damaged journal", "damaged", data); err != nil {
			return nil, file, err
		}
	}
	if err := b.noteLoss(found); err != nil {
		return nil, file, err
	}
	switch {
	case found.Foreign:
		err = b.putAside(found, "the journal", "foreign", data)
	case found.snapshot != nil:
		file, err = b.writeRecovered(file, found)
	}
	if err == nil {
		err = b.remove("remove the journal", b.journalFile())
	}
	if err != nil {
		return nil, file, err
	}
	return found.unlessEmpty(), file, nil
}

// putAside keeps a journal, or a part of it, that is not used.
func (b stackJournal) putAside(found *Recovery, what, why string, data []byte) error {
	aside := fmt.Sprintf("%s.%d.%s", b.journalFile(), b.o.Now().UnixNano(), why)
	if b.objects != nil {
		aside = path.Join(b.workFolder(b.ref), fmt.Sprintf("%d.%s", b.o.Now().UnixNano(), why))
	}
	if err := b.write("set "+what+" aside in", aside, data); err != nil {
		return err
	}
	found.Aside = append(found.Aside, aside)
	return nil
}

// unlessEmpty returns nil if there is nothing to report: the run had done everything except the removal of its
// journal, or had not begun anything.
func (r *Recovery) unlessEmpty() *Recovery {
	if r == nil || r.snapshot == nil && !r.Foreign && r.Torn == 0 && !r.damaged() {
		return nil
	}
	return r
}

// writeRecovered writes a recovered snapshot as the state file. A crash in between is no harm: the journal says first
// that the file to come holds everything.
func (b stackJournal) writeRecovered(file stored, found *Recovery) (stored, error) {
	p, err := b.packRecovered(file, found.snapshot)
	if err != nil {
		return file, err
	}
	covered, err := found.contents.Covering(p.identity)
	if err != nil {
		return file, err
	}
	if err := b.write("write the journal", b.journalFile(), covered); err != nil {
		return file, err
	}
	return b.put(p, file)
}

// packRecovered makes a state file of a recovered snapshot, or of the one that is there if that is nil, as of now.
func (b stackJournal) packRecovered(file stored, snapshot *state.Snapshot) (packed, error) {
	c, err := file.decode(nil)
	if err != nil {
		return packed{}, err
	}
	if snapshot == nil {
		snapshot = snapshotOf(c)
	}
	s := *snapshot
	s.Manifest = b.manifest()
	next := *c
	next.Stack, next.Snapshot = b.ref.QualifiedName(), &s
	text, err := state.EncodeCheckpoint(&next, nil)
	if err != nil {
		return packed{}, err
	}
	return b.pack(text, file)
}
