package backend

import (
	"encoding/json"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// The kinds of journal entries of a service that are sent.
const (
	kindBegin          = 0
	kindSuccess        = 1
	kindFailure        = 2
	kindOutputs        = 4
	kindWrite          = 5
	kindSecretsManager = 6
	kindRebuilt        = 7
	kindExtension      = 8
)

// hostedEntry is a journal entry of a service. A begin and its end have the same operation; it also names the resource
// that a success has made. Resources of the base are named by their positions.
type hostedEntry struct {
	Version         int             `json:"version"`
	Kind            int             `json:"kind"`
	SequenceID      int64           `json:"sequenceID"`
	OperationID     int64           `json:"operationID"`
	RemoveOld       *int64          `json:"removeOld"`
	RemoveNew       *int64          `json:"removeNew"`
	State           json.RawMessage `json:"state,omitempty"`
	Operation       json.RawMessage `json:"operation,omitempty"`
	SecretsProvider json.RawMessage `json:"secretsProvider,omitempty"`
	NewSnapshot     json.RawMessage `json:"newSnapshot,omitempty"`
	ExtensionRef    string          `json:"extensionRef,omitempty"`
	Extension       json.RawMessage `json:"extension,omitempty"`
}

// translation turns journal entries into those of a service.
type translation struct {
	sequence, operation int64
	base                int                  // how many resources the base has, whose IDs come first
	made                map[journal.ID]int64 // the operation that made a resource
	steps               map[int64]int64      // the operation of a step that has begun and not ended
	carried             map[urn.URN]int64    // pending creations of earlier runs
}

// begin makes a snapshot with so many resources the base.
func (t *translation) begin(resources int) {
	t.base, t.made, t.steps = resources, map[journal.ID]int64{}, map[int64]int64{}
}

// add appends an entry with the next sequence number.
func (t *translation) add(list []hostedEntry, e hostedEntry) []hostedEntry {
	t.sequence++
	e.Version, e.SequenceID = 1, t.sequence
	return append(list, e)
}

func (t *translation) nextOperation() int64 {
	t.operation++
	return t.operation
}

// name sets which resource an entry removes or replaces.
func (t *translation) name(e *hostedEntry, id journal.ID) {
	if operation, ok := t.made[id]; ok {
		e.RemoveNew = &operation
		return
	}
	position := int64(id) - 1
	e.RemoveOld = &position
}

// of translates an entry. What it changes is divided among entries that each remove and add one resource.
func (t *translation) of(e journal.Written) (list []hostedEntry) {
	switch {
	case e.Secrets != nil:
		return t.add(nil, hostedEntry{Kind: kindSecretsManager, SecretsProvider: e.Secrets})
	case e.Begin != nil:
		t.steps[e.Step] = t.nextOperation()
		return t.add(nil, hostedEntry{Kind: kindBegin, OperationID: t.steps[e.Step], Operation: e.Begin})
	}
	for ref, blob := range e.Extensions {
		list = t.add(list, hostedEntry{Kind: kindExtension, ExtensionRef: ref, Extension: blob})
	}
	operation, begun := t.steps[e.Step]
	delete(t.steps, e.Step)
	remove, add := e.Remove, e.Add
	for i := 0; begun && i == 0 || len(remove)+len(add) > 0; i++ {
		next := hostedEntry{Kind: kindSuccess, OperationID: operation}
		if i == 0 && begun && len(remove)+len(add)+len(e.Amend) == 0 {
			next.Kind = kindFailure
		}
		if i > 0 || !begun {
			next.OperationID = t.nextOperation()
		}
		if len(remove) > 0 {
			t.name(&next, remove[0])
			remove = remove[1:]
		}
		if len(add) > 0 {
			next.State, t.made[add[0].ID] = add[0].Resource, next.OperationID
			add = add[1:]
		}
		list = t.add(list, next)
	}
	for _, a := range e.Amend {
		next := hostedEntry{Kind: kindOutputs, OperationID: t.nextOperation(), State: a.Resource}
		t.name(&next, a.ID)
		list = t.add(list, next)
	}
	if operation, ok := t.carried[e.Retried]; ok {
		delete(t.carried, e.Retried)
		list = t.add(list, hostedEntry{Kind: kindFailure, OperationID: operation})
	}
	return list
}

// rebase puts a deployment in the place of everything before. Its pending operations are begun anew, so that the
// journal can end them.
func (t *translation) rebase(deployment []byte, pending []state.Operation, texts []json.RawMessage) (
	list []hostedEntry) {
	if t.sequence > 0 {
		list = t.add(list, hostedEntry{Kind: kindRebuilt})
	}
	list = t.add(list, hostedEntry{Kind: kindWrite, NewSnapshot: deployment})
	t.carried = map[urn.URN]int64{}
	for i, op := range pending {
		t.carried[op.Resource.URN] = t.nextOperation()
		list = t.add(list, hostedEntry{Kind: kindBegin, OperationID: t.operation, Operation: texts[i]})
	}
	return list
}

// String names an entry for tests.
func (e hostedEntry) String() string {
	return fmt.Sprint(e.SequenceID, ":", e.Kind, "/", e.OperationID)
}
