package backend

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// remote is a session's connection to its operation in a service: it sends the journal. It is safe for concurrent use.
type remote struct {
	update  Update
	url     string // of the service
	kept    string // path of the results that the service does not have
	ref     Ref
	sealer  secrets.Manager
	renewed func() // called after the token may have changed

	clock func() time.Time

	sending  sync.Mutex // serializes the calls that change the state
	renewing sync.Mutex // serializes renewals; taken before mu

	mu       sync.Mutex // guards the fields below
	replayer *journal.Replayer
	entries  translation
	queue    []json.RawMessage // journal entries that the service has not acknowledged
	dirty    bool              // there are entries that the service has not acknowledged
	closed   bool              // Complete was acknowledged
	lost     error             // a *LockLostError; final
	away     error             // an *AwayError; cleared at the end of the session
	length   time.Duration     // of the lease
	held     time.Time         // when the last call was sent that was answered and extended the lease
	seen     time.Time         // when the last call was sent that showed that the lease is held

	renewer renewer // until complete
}

// begin sets the snapshot that entries refer to. The service has it already.
func (r *remote) begin(base *state.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replayer = journal.NewReplayer(base)
	r.entries.begin()
}

// apply applies an entry that is about to be journaled.
func (r *remote) apply(e journal.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dirty = true
	return r.replayer.Apply(e)
}

// take queues the entries in a piece of the journal, unless the service takes only checkpoints.
func (r *remote) take(piece []byte) error {
	if !r.update.Facts().Journal {
		return nil
	}
	written, err := journal.ReadWritten(piece)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range written {
		if err := r.enqueue(r.entries.translate(e)); err != nil {
			return err
		}
	}
	return nil
}

// enqueue queues entries. The caller holds mu.
func (r *remote) enqueue(entries []hostedEntry) error {
	for _, e := range entries {
		text, err := compactJSON(e)
		if err != nil {
			return err
		}
		r.queue = append(r.queue, text)
		r.dirty = r.dirty || e.Kind != kindSecretsManager
	}
	return nil
}

// flush sends everything that was queued or applied before, and returns once the service has it.
func (r *remote) flush() error {
	r.sending.Lock()
	defer r.sending.Unlock()
	r.mu.Lock()
	if err := r.fault(); err != nil || !r.dirty {
		r.mu.Unlock()
		return err
	}
	r.dirty = false
	if r.update.Facts().Journal {
		batch := slices.Clone(r.queue)
		r.mu.Unlock()
		sent := r.clock()
		err := r.note(r.update.Append(context.Background(), batch))
		if err == nil {
			r.mu.Lock()
			r.seen = sent
			r.queue = slices.Delete(r.queue, 0, len(batch))
			r.mu.Unlock()
		}
		return err
	}
	snapshot, err := r.replayer.Snapshot()
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return r.checkpoint(snapshot)
}

// checkpoint sends a whole state. The caller holds sending.
func (r *remote) checkpoint(s *state.Snapshot) error {
	text, err := state.EncodeUntyped(s, state.Sealed(r.sealer))
	if err != nil {
		return err
	}
	sent := r.clock()
	err = r.note(r.update.Checkpoint(context.Background(), text))
	if err == nil {
		r.mu.Lock()
		r.seen = sent
		r.mu.Unlock()
	}
	return err
}

// note records the error of a call, if there is one, and returns the fault.
func (r *remote) note(err error) error {
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dirty = true
	if lost, ok := errors.AsType[*LockLostError](err); ok {
		r.lost = lost
	} else if r.away == nil {
		r.away = &AwayError{URL: r.url, Err: err, Kept: r.kept}
	}
	return r.fault()
}

// fault returns why nothing can be sent; nil if it can. The caller holds mu.
func (r *remote) fault() error { return cmp.Or(r.lost, r.away) }

// checkHeld returns an error if the operation cannot go on.
func (r *remote) checkHeld() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault()
}

// retry allows sending again after the service was away: at the end it may be back.
func (r *remote) retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = nil
}

// write makes a snapshot the state in the service: before anything is journaled, or with last at the end.
func (r *remote) write(s *state.Snapshot, last bool) error {
	if err := r.flush(); err != nil {
		return err
	}
	r.sending.Lock()
	if !r.update.Facts().Journal {
		defer r.sending.Unlock()
		return r.checkpoint(s)
	}
	err := r.rebase(s, last)
	r.sending.Unlock()
	if err != nil {
		return err
	}
	return r.flush()
}

// rebase queues a snapshot that replaces everything that was journaled. At the end it does nothing if they are equal.
func (r *remote) rebase(s *state.Snapshot, last bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replayer != nil && last {
		known, err := r.replayer.Snapshot()
		if err != nil || sameContent(known, s) {
			return err
		}
	}
	base := *s
	base.Pending = nil
	text, err := state.Encode(&base, r.sealer)
	if err != nil {
		return err
	}
	pending := make([]json.RawMessage, len(s.Pending))
	for i, op := range s.Pending {
		if pending[i], err = state.AppendOperation(nil, op, state.Sealed(r.sealer)); err != nil {
			return err
		}
	}
	return r.enqueue(r.entries.rebase(text, s.Pending, pending))
}

// sameContent reports whether two snapshots differ only in their manifests.
func sameContent(a, b *state.Snapshot) bool {
	samePending := func(x, y state.Operation) bool {
		return x.Kind == y.Kind && state.Identical(x.Resource, y.Resource)
	}
	return slices.EqualFunc(a.Resources, b.Resources, state.Identical) &&
		slices.EqualFunc(a.Pending, b.Pending, samePending) && bytes.Equal(a.Metadata, b.Metadata) &&
		bytes.Equal(a.Extensions, b.Extensions)
}

// keep starts to renew a lease that was taken by a call sent then, and is to be renewed after a pause.
func (r *remote) keep(sent time.Time, pause time.Duration) {
	r.mu.Lock()
	r.granted(sent, pause)
	r.mu.Unlock()
	r.renewer.start(pause, r.renew)
}

// granted records an answer that extended the lease until twice the time after which to renew it. The caller holds mu.
func (r *remote) granted(sent time.Time, pause time.Duration) {
	r.length, r.held, r.seen = 2*pause, sent, sent
}

// hold makes sure that the lease is held right before a call of a provider; see lease.hold.
func (r *remote) hold(ctx context.Context) error {
	if _, sure, err := r.sure(); sure || err != nil {
		return err
	}
	r.renewing.Lock()
	defer r.renewing.Unlock()
	inTime, sure, err := r.sure() // another call may have asked
	if sure || err != nil {
		return err
	}
	_, err = r.extend(ctx)
	switch {
	case err == nil, errors.As(err, new(*LockLostError)), ctx.Err() != nil:
		return err
	case inTime:
		return nil
	}
	return r.note(err)
}

// sure reports whether the lease has a quarter of its length left, and whether an answer has shown lately that it is
// held. An error is a fault.
func (r *remote) sure() (inTime, sure bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock()
	inTime = recent(r.held, now, r.length*3/4)
	return inTime, inTime && recent(r.seen, now, sureFor(r.length)), r.fault()
}

// extend extends the lease on the stack. The caller holds renewing.
func (r *remote) extend(ctx context.Context) (next time.Duration, err error) {
	sent := r.clock()
	next, err = r.update.Renew(ctx)
	if lost, ok := errors.AsType[*LockLostError](err); ok {
		return 0, r.note(lost)
	}
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	r.granted(sent, next)
	r.mu.Unlock()
	r.renewed()
	return next, nil
}

// renew extends the lease on the stack; see renewer.
func (r *remote) renew(ctx context.Context) (next time.Duration, goOn bool) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	next, err := r.extend(ctx)               // halt cancels the call
	if errors.As(err, new(*LockLostError)) { // the next look reports it
		return 0, false
	}
	// After another error try again: the service may be back before the lease expires.
	return next, true
}

// complete ends the operation. Without an error, the service has everything.
func (r *remote) complete(status string) error {
	r.renewer.halt()
	if err := r.checkHeld(); err != nil {
		return err
	}
	if err := r.update.Complete(context.Background(), status); err != nil {
		return r.note(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

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

// hostedEntry is a journal entry of a service. The beginning and the end of a step have the same operation ID, which
// also identifies the resource that a success has made. Resources of the base are identified by their positions.
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
	made                map[journal.ID]int64 // the operation that made a resource
	steps               map[int64]int64      // the operation of a step that has begun and not ended
	carried             map[urn.URN]int64    // pending creations of earlier runs
}

// begin begins a journal on a new base.
func (t *translation) begin() {
	t.made, t.steps = map[journal.ID]int64{}, map[int64]int64{}
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

// name sets the resource that an entry removes or replaces.
func (t *translation) name(e *hostedEntry, id journal.ID) {
	if operation, ok := t.made[id]; ok {
		e.RemoveNew = &operation
		return
	}
	position := int64(id) - 1
	e.RemoveOld = &position
}

// translate translates an entry into entries that each remove and add at most one resource.
func (t *translation) translate(e journal.Written) (list []hostedEntry) {
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

// rebase returns entries that replace everything before by a deployment. Its pending operations are begun anew, so that
// the journal can end them.
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
