package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// Replayer applies entries to a base snapshot. The cost of an entry does not depend on the size of the stack. A
// Replayer is not safe for concurrent use.
type Replayer struct {
	base    *state.Snapshot
	ids     []ID                   // of the base's resources, in order
	slots   map[ID]*state.Resource // all resources of the base and the entries; nil once removed
	added   []ID                   // in order of addition, including removed ones
	lead    int                    // number of ids that the same operation added, see Resume
	live    map[int64]*state.Operation
	begun   []int64 // steps in order of their beginning, including ended ones
	carried []state.Operation
	// extensions are those that entries have added.
	extensions map[string]json.RawMessage
}

// NewReplayer returns a Replayer with the resources of base, whose IDs are 1 to n. base is not modified and may be nil.
func NewReplayer(base *state.Snapshot) *Replayer {
	if base == nil {
		base = &state.Snapshot{}
	}
	ids := make([]ID, len(base.Resources))
	for i := range ids {
		ids[i] = ID(i + 1)
	}
	b := newBook(base, ids)
	for _, op := range base.Pending {
		if op.Kind == state.Creating { // other kinds are dropped with the first change (E6.31)
			b.carried = append(b.carried, op)
		}
	}
	return b
}

func newBook(base *state.Snapshot, ids []ID) *Replayer {
	b := &Replayer{base: base, ids: ids, slots: make(map[ID]*state.Resource, len(ids)),
		live: map[int64]*state.Operation{}, extensions: map[string]json.RawMessage{}}
	for i, id := range ids {
		b.slots[id] = base.Resources[i]
	}
	return b
}

// Apply applies one entry. It returns an error and changes nothing if the entry is inconsistent: if it ends a step that
// has not begun, begins one twice, or refers to a missing ID or adds an existing one.
func (b *Replayer) Apply(e Entry) error {
	if err := b.check(e); err != nil {
		return err
	}
	switch {
	case e.Begin != nil:
		op := *e.Begin
		b.live[e.Step] = &op
		b.begun = append(b.begun, e.Step)
		return nil
	case e.Step != 0:
		b.live[e.Step] = nil
	}
	for _, id := range e.Remove {
		b.slots[id] = nil
	}
	for _, a := range e.Amend {
		b.slots[a.ID] = a.Resource
	}
	for _, a := range e.Add {
		b.slots[a.ID] = a.Resource
		b.added = append(b.added, a.ID)
	}
	if e.Retried != "" {
		b.carried = slices.DeleteFunc(slices.Clone(b.carried), // the base shares the old slice
			func(op state.Operation) bool { return op.Resource.URN == e.Retried })
	}
	maps.Copy(b.extensions, e.Extensions)
	return nil
}

func (b *Replayer) check(e Entry) error {
	if op, known := b.live[e.Step]; e.Begin != nil {
		switch {
		case e.Step == 0:
			return errors.New("the journal begins a step without a number")
		case known:
			return fmt.Errorf("the journal begins step %d twice", e.Step)
		case e.Begin.Resource == nil:
			return fmt.Errorf("the journal begins step %d on no resource", e.Step)
		}
		return nil
	} else if e.Step != 0 && op == nil {
		return fmt.Errorf("the journal ends step %d, which has not begun", e.Step)
	}
	removed := make(map[ID]bool, len(e.Remove))
	for _, id := range e.Remove {
		if b.slots[id] == nil || removed[id] {
			return fmt.Errorf("the journal removes entry %d, which does not exist", id)
		}
		removed[id] = true
	}
	for _, a := range e.Amend {
		if b.slots[a.ID] == nil || removed[a.ID] || a.Resource == nil {
			return fmt.Errorf("the journal changes entry %d, which does not exist", a.ID)
		}
	}
	added := make(map[ID]bool, len(e.Add))
	for _, a := range e.Add {
		if _, known := b.slots[a.ID]; a.ID <= 0 || a.Resource == nil || known || added[a.ID] {
			return fmt.Errorf("the journal adds entry %d, which exists already", a.ID)
		}
		added[a.ID] = true
	}
	return nil
}

// Snapshot returns the state after the entries so far: added resources in order of addition, then the rest of the base
// in order (E6.30). Pending are the steps in progress and the base's pending creations (E6.31). Aliases are normalised
// (E6.32). The snapshot shares resources with the base and the entries; the replayer can continue afterwards.
func (b *Replayer) Snapshot() (*state.Snapshot, error) {
	next, _, err := b.Checkpoint()
	return next, err
}

// Checkpoint returns the Snapshot and what Resume needs to continue from it in another replayer: the ID of each
// resource, and the number of each pending step.
func (b *Replayer) Checkpoint() (*state.Snapshot, Origin, error) {
	next := *b.base
	next.Resources = make([]*state.Resource, 0, len(b.ids)+len(b.added))
	origin := Origin{IDs: make([]ID, 0, len(b.ids)+len(b.added))}
	take := func(ids []ID) {
		for _, id := range ids {
			if r := b.slots[id]; r != nil {
				next.Resources = append(next.Resources, r)
				origin.IDs = append(origin.IDs, id)
			}
		}
	}
	take(b.ids[:b.lead])
	take(b.added)
	origin.Added = len(origin.IDs)
	take(b.ids[b.lead:])
	next.Pending = nil
	for _, step := range b.begun {
		if op := b.live[step]; op != nil {
			next.Pending = append(next.Pending, *op)
			origin.Steps = append(origin.Steps, step)
		}
	}
	next.Pending = append(next.Pending, b.carried...)
	next.Extensions = b.knownExtensions(&next)
	normal, err := next.Normalize()
	return normal, origin, err
}

// knownExtensions returns the extensions that a snapshot's resources refer to. Unreadable extensions stay unchanged.
func (b *Replayer) knownExtensions(s *state.Snapshot) json.RawMessage {
	if len(b.extensions) == 0 && len(s.Extensions) == 0 {
		return nil
	}
	known := map[string]json.RawMessage{}
	if len(s.Extensions) > 0 && json.Unmarshal(s.Extensions, &known) != nil {
		return s.Extensions
	}
	maps.Copy(known, b.extensions)
	named := map[string]json.RawMessage{}
	note := func(r *state.Resource) {
		if blob, ok := known[r.ExtensionRef]; ok {
			named[r.ExtensionRef] = blob
		}
	}
	for _, r := range s.Resources {
		note(r)
	}
	for _, op := range s.Pending {
		note(op.Resource)
	}
	if len(named) == 0 {
		return nil
	}
	text, err := json.Marshal(named)
	if err != nil {
		return s.Extensions
	}
	return text
}

// Origin describes how a snapshot from the middle of an operation continues the operation's numbering, so that later
// entries can be applied to it.
type Origin struct {
	IDs   []ID    `json:"ids,omitempty"`   // of its resources, in order
	Added int     `json:"added,omitempty"` // number of them that the operation added: later ones go behind these
	Steps []int64 `json:"steps,omitempty"` // numbers of its first pending operations; the others come from the old base
}

// Resume returns a replayer that continues from a snapshot and the Origin that Checkpoint has returned.
func Resume(base *state.Snapshot, o Origin) (*Replayer, error) {
	if len(o.IDs) != len(base.Resources) || len(o.Steps) > len(base.Pending) || o.Added < 0 || o.Added > len(o.IDs) {
		return nil, errors.New("the journal does not fit the state that it continues")
	}
	b := newBook(base, o.IDs)
	if len(b.slots) != len(o.IDs) {
		return nil, errors.New("the journal gives two resources of the state that it continues the same number")
	}
	b.lead = o.Added
	for i, step := range o.Steps {
		b.live[step] = &base.Pending[i]
		b.begun = append(b.begun, step)
	}
	b.carried = base.Pending[len(o.Steps):len(base.Pending):len(base.Pending)]
	return b, nil
}

// InFlight returns the operations that have begun and not ended, in order of their beginning.
func (b *Replayer) InFlight() []state.Operation {
	var ops []state.Operation
	for _, step := range b.begun {
		if op := b.live[step]; op != nil {
			ops = append(ops, *op)
		}
	}
	return ops
}

// Replay applies entries to base. It is pure: base and entries are not modified. base may be nil. Every prefix of a
// journal that the engine wrote replays to a valid snapshot.
func Replay(base *state.Snapshot, entries []Entry) (*state.Snapshot, error) {
	b := NewReplayer(base)
	for i, e := range entries {
		if err := b.Apply(e); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return b.Snapshot()
}
