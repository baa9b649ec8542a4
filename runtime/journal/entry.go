package journal

import (
	"context"
	"encoding/json"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// ID identifies a resource of the snapshot during one operation: 1 to n are the n resources of the base in order;
// resources added during the operation get greater, unique numbers. 0 means none.
type ID int64

// Entry is one record: the beginning of a step if Begin is set, otherwise the end of a step or another change.
type Entry struct {
	// Step connects the beginning and the end of a step: unique, from 1. It is 0 for a change without a beginning.
	Step int64
	// Begin is the operation that is about to be attempted.
	Begin *state.Operation

	// The changes of the snapshot at the end of the step; they are empty if the step failed and changed nothing.
	Remove []ID      // removed resources
	Amend  []Amended // resources with new content at their position
	Add    []Amended // new resources, behind all added before and in front of the rest of the base (E6.30)
	// Extensions are blobs, by reference, that resources of this and later entries refer to (F5.7).
	Extensions map[string]json.RawMessage
	// Retried removes the base's pending creation of this resource, because its repetition has succeeded.
	Retried urn.URN
}

// Amended is a resource with its new content.
type Amended struct {
	ID       ID
	Resource *state.Resource
}

// Journal records entries. Implementations are safe for concurrent use.
type Journal interface {
	// Append returns when the entry is durable; concurrent entries may share a sync.
	Append(ctx context.Context, e Entry) error
	// Defer returns when the position of the entry after all earlier ones is fixed. The entry is durable before any
	// entry that is appended later, so a step may begin because of it. A later error is returned by a later call or at
	// the end of the operation.
	Defer(ctx context.Context, e Entry) error
	// Held returns an error unless the run still holds the stack. It is called right before each call that changes
	// something, or may, as a function, a method, the construction of a component or a hook: another hook may have run
	// since the beginning was recorded, or the process may have been stopped.
	Held(ctx context.Context) error
}
