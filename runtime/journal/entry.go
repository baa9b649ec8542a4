package journal

import (
	"context"
	"encoding/json"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// ID names an entry of the snapshot during one operation: 1 to n are the n resources of the base, in its order;
// resources added during the operation get greater numbers, each once. 0 names nothing.
type ID int64

// Entry is one record: of the beginning of a step if Begin is set, else of the end of a step or of another change.
type Entry struct {
	// Step pairs the beginning of a step with its end: from 1, each once. It is 0 for a change that had no beginning.
	Step int64
	// Begin is the operation that is about to be attempted.
	Begin *state.Operation

	// The changes of the snapshot at the end of the step; all are empty if the step failed and changed nothing.
	Remove []ID      // entries that are no more
	Amend  []Amended // entries that take on another content at their place
	Add    []Amended // new entries, behind all that were added before and before all that is left of the base (E6.30)
	// Extensions are blobs, by reference, that resources of this and of later entries name (F5.7).
	Extensions map[string]json.RawMessage
	// Retried drops the base's pending creation of this resource: it was made again, and that has succeeded.
	Retried urn.URN
}

// Amended is an entry with the content it takes on.
type Amended struct {
	ID       ID
	Resource *state.Resource
}

// Journal takes entries. Implementations are safe for concurrent use.
type Journal interface {
	// Append returns once the entry is durable; entries of concurrent calls may share one sync.
	Append(ctx context.Context, e Entry) error
	// Defer returns once the entry has its position after all earlier ones. The entry is durable before any entry
	// that is appended later, so that a step that begins because of it may rely on it. An error that occurs after the
	// return is returned by a later call, or by the end of the operation.
	Defer(ctx context.Context, e Entry) error
}
