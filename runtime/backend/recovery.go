package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Recovery describes the journal of an interrupted run or, if it was read without the lock, of a run under way.
type Recovery struct {
	Header   journal.Header
	Entries  int               // applied; none if the state file held them all
	InFlight []state.Operation // begun, with an unknown outcome; secrets in them are sealed
	Torn     int               // bytes at the end that were never acknowledged
	// Owner is the state of the process that wrote the journal. After a cancel it may still run, and be at work on what
	// is in flight.
	Owner Owner
	// Foreign reports whether another writer has changed the state file since: the journal does not belong to it. It
	// was not applied, and is kept.
	Foreign bool
	// Known reports whether the state file has everything that a foreign journal records: every resource that was made,
	// and no operation was in flight. Then no warning is necessary.
	Known bool
	Aside []string // files that Begin has set aside: a foreign or damaged journal, a torn tail
	// Mended counts the flipped bits of the journal that were corrected. Gaps are the other damaged parts, and Missing
	// describes their lost content; only BeginOptions.Salvage continues without it. Of a foreign journal, Missing
	// describes the objects that it has made and the state lacks.
	Mended  int
	Gaps    []journal.Gap
	Missing []string

	contents *journal.Contents
	snapshot *state.Snapshot // the result, secrets sealed; nil if the state file is current
}

// stackJournal reads the journal of a stack, a file in a folder or chains of objects in a store, and applies it to the
// state.
type stackJournal stack

// journalFile returns the path of the journal in a folder, and its name in messages.
func (b stackJournal) journalFile() string {
	return filepath.Join(b.files.root, "stacks", b.ref.Project, b.ref.Stack+".yamlhost-journal")
}

// data returns the content of a stack's journal; nil if there is none.
func (b stackJournal) data() ([]byte, error) {
	if err := b.ref.check(); err != nil {
		return nil, err
	}
	if b.files.objects != nil {
		return b.files.chainsOf(b.ref).journal()
	}
	data, err := b.files.readIfThere("read the journal", b.journalFile())
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
		damage := journal.Unreadable(data, err)
		if !salvage {
			return nil, &DamagedJournalError{Path: b.journalFile(), Damage: damage}
		}
		return &Recovery{Gaps: damage.Gaps, Missing: damage.Missing}, nil
	}
	out := &Recovery{Header: contents.Header, Torn: contents.Torn, Mended: contents.Mended, Gaps: contents.Gaps,
		contents: contents, Owner: b.files.o.Process.owner(lockFile{PID: contents.Header.PID,
			Hostname: contents.Header.Host, Timestamp: contents.Header.Started})}
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
		if replayer, damage, done, err = contents.Salvage(c.Snapshot, file.identity); damage != nil {
			out.Missing = damage.Missing
		}
	}
	switch {
	case damage != nil && !salvage:
		return nil, &DamagedJournalError{Path: b.journalFile(), Damage: damage}
	case errors.As(err, new(*journal.MismatchError)):
		out.Foreign = true
		out.Known = knows(c.Snapshot, contents.Entries)
		lacking := untold(snapshotOf(c), contents.Entries)
		for _, r := range lacking.Made {
			out.Missing = append(out.Missing, fmt.Sprintf("whether %s exists, with the ID %s: only the journal has it", r.URN,
				r.ID))
		}
		for _, op := range lacking.Begun {
			out.Missing = append(out.Missing, fmt.Sprintf("whether %s was created: only the journal has it", op.Resource.URN))
		}
		return out, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", b.journalFile(), err)
	case done:
		return out, nil
	}
	if out.snapshot, err = replayer.Snapshot(); err != nil {
		damage = &journal.DamageError{Gaps: out.Gaps, Missing: []string{"what the interrupted run did"}, Err: err}
		if !salvage {
			return nil, &DamagedJournalError{Path: b.journalFile(), Damage: damage}
		}
		out.Missing = append(out.Missing, damage.Missing...)
		return out, nil
	}
	out.Entries, out.InFlight = len(contents.Entries), replayer.InFlight()
	if contents.Secrets != nil {
		out.snapshot.SecretsProvider = contents.Secrets
	}
	return out, nil
}

// knows reports whether a state has every resource that the entries made and did not remove, and whether they ended
// every step that they began.
func knows(s *state.Snapshot, entries []journal.Entry) bool {
	made, open := outcome(entries)
	there := map[object]bool{}
	if s != nil {
		for _, r := range s.Resources {
			there[object{r.URN, r.ID}] = true
		}
	}
	lacks := func(r *state.Resource) bool { return !there[object{r.URN, r.ID}] }
	return len(open) == 0 && !slices.ContainsFunc(made, lacks)
}

// damaged reports whether anything but a torn tail is wrong with the journal.
func (r *Recovery) damaged() bool { return r.Mended > 0 || len(r.Gaps) > 0 || len(r.Missing) > 0 }

// coverJournal replaces the journal by its sound part, with a note that the state file with this identity, which is
// about to be written, holds all of it.
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
	return disk.WriteDurably(b.files.disk, b.journalFile(), covered)
}

// recover applies the journal to the state file and removes it. The caller holds the lock.
func (b stackJournal) recover(file stored, salvage bool) (*Recovery, stored, error) {
	data, err := b.data()
	if err != nil || data == nil {
		return nil, file, err
	}
	found, err := b.replay(file, data, salvage)
	if err != nil {
		return nil, file, err
	}
	switch {
	case found.Foreign:
		err = b.putAside(found, "the journal", "foreign", data)
	case found.damaged():
		err = b.putAside(found, "the damaged journal", "damaged", data)
	}
	if err == nil && found.Torn > 0 && !found.Foreign {
		err = b.putAside(found, "the end of the journal", "torn", data[len(data)-found.Torn:])
	}
	if err == nil {
		err = stackState(b).noteLoss(found)
	}
	if err == nil && found.snapshot != nil {
		file, err = b.writeRecovered(file, found)
	}
	if err == nil {
		err = b.files.remove("remove the journal", b.journalFile())
	}
	if err != nil {
		return nil, file, err
	}
	return found.unlessEmpty(), file, nil
}

// putAside keeps a journal, or a part of it, that is not used, and adds its path to found.
func (b stackJournal) putAside(found *Recovery, what, why string, data []byte) error {
	aside := fmt.Sprintf("%s.%d.%s", b.journalFile(), b.files.o.Now().UnixNano(), why)
	if b.files.objects != nil {
		aside = path.Join(b.files.workFolder(b.ref), fmt.Sprintf("%d.%s", b.files.o.Now().UnixNano(), why))
	}
	if err := b.files.write("set "+what+" aside in", aside, data); err != nil {
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

// writeRecovered writes a recovered snapshot as the state file. Before that it notes in the journal that this file
// holds everything, so that a crash in between does no harm.
func (b stackJournal) writeRecovered(file stored, found *Recovery) (stored, error) {
	next, err := b.packRecovered(file, found.snapshot)
	if err != nil {
		return file, err
	}
	covered, err := found.contents.Covering(next.identity)
	if err != nil {
		return file, err
	}
	if err := b.files.write("write the journal", b.journalFile(), covered); err != nil {
		return file, err
	}
	return stackState(b).put(next, file)
}

// packRecovered packs a state file with a recovered snapshot, or with that of file if it is nil. The manifest is new.
func (b stackJournal) packRecovered(file stored, snapshot *state.Snapshot) (stored, error) {
	c, err := file.decode(nil)
	if err != nil {
		return stored{}, err
	}
	if snapshot == nil {
		snapshot = snapshotOf(c)
	}
	s := *snapshot
	s.Manifest = b.files.manifest()
	next := *c
	next.Stack, next.Snapshot = b.ref.QualifiedName(), &s
	text, err := state.EncodeCheckpoint(&next, nil)
	if err != nil {
		return stored{}, err
	}
	return stackState(b).pack(text, file)
}

// Loss records that a repair has continued with a part of a journal, or with an older copy of the state: objects may
// exist that the state does not know of. It stays beside the state, in a file of its own, until somebody has looked
// for them.
type Loss struct {
	Time    time.Time `json:"time"`
	Command string    `json:"command,omitempty"` // the command that wrote the journal; empty if a copy was put back
	Journal bool      `json:"journal,omitempty"` // records of a journal were lost, also if its command is not known
	Missing []string  `json:"missing"`           // descriptions of the missing parts
	Aside   []string  `json:"aside,omitempty"`
}

func (b stackState) lossFile() string {
	return filepath.Join(b.files.root, "stacks", b.ref.Project, b.ref.Stack+".yamlhost-loss")
}

// LossOf returns the record of what earlier repairs of a stack have lost; nil if nothing.
func LossOf(b *Backend, r Ref) (*Loss, error) {
	r, err := b.named(context.Background(), r)
	if err != nil {
		return nil, err
	}
	if h, ok := b.hosted(); ok {
		b = h.mirror(r)
	}
	return b.files.stateOf(r).loss()
}

// loss reads the record of a loss; nil if there is none. A record that is damaged is a loss too.
func (b stackState) loss() (*Loss, error) {
	if b.noLoss() {
		return nil, nil
	}
	l := &Loss{}
	found, err := b.files.readJSON("read what a repair has lost from", b.lossFile(), l)
	switch {
	case errors.As(err, new(*CorruptError)) || found && len(l.Missing) == 0:
		written, _ := b.files.disk.ModTime(b.lossFile()) // it was read just now
		return &Loss{Time: written, Missing: []string{"what an earlier repair has lost: its record is damaged"},
			Journal: true, Aside: []string{b.lossFile()}}, nil
	case !found:
		return nil, err
	}
	return l, nil
}

// ForgetLoss removes the record of a loss after somebody has dealt with it.
func (s *Session) ForgetLoss() error { return s.tools.state.setLoss(nil) }

// noteLoss records durably that a journal was used in part, before the state is written from it. It adds to an earlier
// loss that nobody has dealt with.
func (b stackState) noteLoss(found *Recovery) error {
	return b.addLoss(Loss{Command: found.Header.Command, Journal: true, Missing: found.Missing, Aside: found.Aside})
}

// noteCopy records durably that a copy replaces the state, before it does. was is the state that it replaces; empty
// if that cannot be read or is gone. A copy that differs from the state only in a mended bit loses nothing.
func (b stackState) noteCopy(p *Previous, was *state.Snapshot, aside ...string) error {
	if p.Mended {
		return nil
	}
	missing := []string{fmt.Sprintf("what was done after %s, when the copy was written that is the state now",
		p.Written.UTC().Format(time.RFC3339))}
	kept := map[urn.URN]bool{}
	for _, r := range p.snapshot.Resources {
		kept[r.URN] = true
	}
	for _, r := range was.Resources {
		if r.Custom && r.ID != "" && !kept[r.URN] {
			missing = append(missing, fmt.Sprintf("whether %s exists, with the ID %s: only the other state has it", r.URN,
				r.ID))
		}
	}
	return b.addLoss(Loss{Missing: missing, Aside: aside})
}

// addLoss adds to the record of what repairs have lost. Without missing parts it does nothing.
func (b stackState) addLoss(more Loss) error {
	if len(more.Missing) == 0 {
		return nil
	}
	l, err := b.loss()
	if err != nil {
		return err
	}
	if l == nil {
		l = &Loss{}
	}
	l.Time, l.Command = b.files.o.Now().UTC(), cmp.Or(more.Command, l.Command)
	l.Journal = l.Journal || more.Journal
	for _, m := range more.Missing { // an attempt may be repeated
		if !slices.Contains(l.Missing, m) {
			l.Missing = append(l.Missing, m)
		}
	}
	l.Aside = append(l.Aside, more.Aside...)
	return b.setLoss(l)
}

// setLoss writes the record of a loss, or removes it if l is nil.
func (b stackState) setLoss(l *Loss) error {
	b.noLoss() // the next one to ask has to look
	if l == nil {
		return b.files.remove("remove", b.lossFile())
	}
	return b.files.writeJSON("write what the repair has lost to", b.lossFile(), l)
}

// Torn describes a file that was set aside as the torn end of a journal, but has sound records that the state lacks.
type Torn struct {
	Path string
	Made []*state.Resource // objects that the state does not have; secrets in them are sealed
	// creations without a recorded end, of resources that the state does not have
	Begun []state.Operation
}

// Torn finds files that earlier runs set aside as torn and that have records which a state lacks.
func (p Past) Torn(s *state.Snapshot) ([]Torn, error) {
	b, r := p.b.files, p.r
	if err := r.check(); err != nil || b.objects != nil || IsService(b.url) { // links of a chain are whole
		return nil, err
	}
	names, err := b.list("stacks", r.Project)
	if err != nil {
		return nil, err
	}
	var found []Torn
	for _, name := range names {
		if !strings.HasPrefix(name, r.Stack+".yamlhost-journal.") || !strings.HasSuffix(name, ".torn") {
			continue
		}
		path := b.path("stacks", r.Project, name)
		data, err := b.disk.ReadFile(path)
		if err != nil {
			return nil, fileError("read the records that were set aside in", path, err)
		}
		if t := untold(s, journal.ReadPiece(data)); len(t.Made)+len(t.Begun) > 0 {
			t.Path = path
			found = append(found, t)
		}
	}
	return found, nil
}

// object identifies the cloud object of a resource.
type object struct {
	urn urn.URN
	id  string
}

// outcome returns the resources that entries have made and not removed, in the order in which they were made, and the
// operations that they have begun and not ended. It needs no base: an entry describes in full what it adds.
func outcome(entries []journal.Entry) (made []*state.Resource, open []state.Operation) {
	resources, order := map[journal.ID]*state.Resource{}, []journal.ID{}
	begun, steps := map[int64]state.Operation{}, []int64{}
	for _, e := range entries {
		if e.Begin != nil {
			begun[e.Step], steps = *e.Begin, append(steps, e.Step)
			continue
		}
		delete(begun, e.Step)
		for _, id := range e.Remove {
			delete(resources, id)
		}
		for _, a := range slices.Concat(e.Amend, e.Add) {
			if resources[a.ID] == nil {
				order = append(order, a.ID)
			}
			resources[a.ID] = a.Resource
		}
	}
	for _, id := range order {
		if r := resources[id]; r != nil {
			made = append(made, r)
		}
	}
	for _, step := range steps {
		if op, ok := begun[step]; ok {
			open = append(open, op)
		}
	}
	return made, open
}

// untold returns the objects and the open creations in entries that a state does not have. Components and providers are
// no objects: the next run makes them anew.
func untold(s *state.Snapshot, entries []journal.Entry) (t Torn) {
	made, open := outcome(entries)
	objects, names := map[object]bool{}, map[urn.URN]bool{}
	for _, r := range s.Resources {
		objects[object{r.URN, r.ID}], names[r.URN] = true, true
	}
	for _, op := range s.Pending {
		names[op.Resource.URN] = true
	}
	isObject := func(r *state.Resource) bool { return r.Custom && !r.External && !r.IsProvider() }
	for _, r := range made {
		if isObject(r) && !objects[object{r.URN, r.ID}] {
			t.Made, objects[object{r.URN, r.ID}] = append(t.Made, r), true
		}
	}
	for _, op := range open {
		if op.Kind == state.Creating && isObject(op.Resource) && !names[op.Resource.URN] {
			t.Begun, names[op.Resource.URN] = append(t.Begun, op), true
		}
	}
	return t
}
