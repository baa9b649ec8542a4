package engine

import (
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Op is what a step does (E8.1).
type Op string

// The operations.
const (
	OpSame                 Op = "same"
	OpCreate               Op = "create"
	OpUpdate               Op = "update"
	OpDelete               Op = "delete"
	OpReplace              Op = "replace"
	OpCreateReplacement    Op = "create-replacement"
	OpDeleteReplaced       Op = "delete-replaced"
	OpRead                 Op = "read"
	OpReadReplacement      Op = "read-replacement"
	OpRefresh              Op = "refresh"
	OpDiscard              Op = "discard"
	OpDiscardReplaced      Op = "discard-replaced"
	OpRemovePendingReplace Op = "remove-pending-replace"
	OpImport               Op = "import"
	OpImportReplacement    Op = "import-replacement"
)

// Step is one planned action on one resource. It is data: it can be printed, compared and stored.
type Step struct {
	Op       Op
	URN      urn.URN
	Type     string
	Provider string // reference
	Old      *state.Resource
	New      *state.Resource

	Keys     []string                         // properties that force a replacement
	Diffs    []string                         // changed keys
	Detailed map[string]provider.PropertyDiff // by property path; nil when there is none (E4.51)
	Reason   string                           // why a replacement happens when no property forces it, for people

	// verbatim says of a same that the old state is kept to the letter, providers not even configured (E4.110).
	verbatim bool
	// over is the entry of the state in whose place a create puts the resource, of one that is gone; 0 for none.
	over journal.ID
	// place is the entry at whose place the new state is to be written, because something that names it stands behind that;
	// 0 when it comes behind all that was written before.
	place journal.ID
	// views is what the provider tells of views while the step is taken; nil when it has nothing to tell.
	views *viewing
	// command is what an import without a program is about.
	command *Import
}

// Logical reports whether people think of the step as one thing done (E8.1).
func (s *Step) Logical() bool {
	switch s.Op {
	case OpCreateReplacement, OpDeleteReplaced, OpReadReplacement, OpRefresh, OpDiscardReplaced, OpRemovePendingReplace,
		OpImportReplacement:
		return false
	}
	return true
}
