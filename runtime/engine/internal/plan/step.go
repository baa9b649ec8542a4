package plan

import (
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Op is the operation of a step (E8.1). The texts are Pulumi's: events, plan files and hooks have them.
type Op string

// The operations.
const (
	OpSame   Op = "same"   // record the resource again; its object is left alone
	OpCreate Op = "create" // make an object
	OpUpdate Op = "update" // change the object in place
	OpDelete Op = "delete" // end the object

	// A replacement is three steps: one makes the new object, one ends the old one, and OpReplace, which does nothing by
	// itself, stands for both to people. Which object comes first is the planner's choice (E4.52). An old object that is
	// to go last stays in the state as pending delete until the end of the operation.
	OpReplace           Op = "replace"
	OpCreateReplacement Op = "create-replacement"
	OpDeleteReplaced    Op = "delete-replaced"

	OpRead            Op = "read"             // read an object that is managed elsewhere
	OpReadReplacement Op = "read-replacement" // the same, in place of one that was managed here
	OpRefresh         Op = "refresh"          // read an object that is managed here

	// Discards forget resources that were only read: their objects are not ours to delete.
	OpDiscard         Op = "discard"
	OpDiscardReplaced Op = "discard-replaced"
	// OpRemovePendingReplace forgets a resource that was deleted to be replaced, and that nobody wants any more.
	OpRemovePendingReplace Op = "remove-pending-replace"

	OpImport            Op = "import"             // take an existing object under management
	OpImportReplacement Op = "import-replacement" // the same, in place of another object
)

// Step is one planned action on one resource. It is data: it can be printed, compared and stored. Old and New are
// shared with the state and with the registration; nobody changes them once they are in a step.
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
	Stable   []string                         // outputs that an update leaves as they are (E5.54)
	// source positions of the transforms that have set inputs, by property path
	Transformed map[string]string
	Reason      string // why a replacement happens when no property forces it, for people

	// Drifted reports whether a refresh found a difference in what the program or the recorded inputs set, by the
	// provider's own diff (E7.18). Everything else that differs is computed by the provider.
	Drifted bool
	// Verbatim reports, for a same step, that the old state is kept exactly as it is, and that no provider is
	// configured for it (E4.110).
	Verbatim bool
	// Over names the resource of the state in whose position a create puts the new one, because that one is gone; 0 for
	// none.
	Over journal.ID
	// Position names the resource of the state in whose position the new state is written, because something that depends
	// on it stands behind that; 0 when it comes behind everything that was written before.
	Position journal.ID
}

// NewStep makes a step of a resource; old or goal may be nil, but not both.
func NewStep(op Op, old, goal *state.Resource) Step {
	about := goal
	if about == nil {
		about = old
	}
	return Step{Op: op, URN: about.URN, Type: about.Type, Provider: about.Provider, Old: old, New: goal}
}

// Unchanged makes the step of a resource that is kept exactly as it is; kept is that, possibly under another name
// (E4.110).
func Unchanged(old, kept *state.Resource) Step {
	s := NewStep(OpSame, old, kept)
	s.Verbatim = true
	return s
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

// About returns the state that the step is about: the new one, or the old one where there is no new one.
func (s *Step) About() *state.Resource {
	if s.New == nil {
		return s.Old
	}
	return s.New
}
