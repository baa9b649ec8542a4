package plan

import (
	"cmp"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Op is the operation of a step (E8.1). The texts are Pulumi's, as in events, plan files and hooks.
type Op string

// The operations.
const (
	OpSame   Op = "same"   // record the resource; its object is unchanged
	OpCreate Op = "create" // create the object
	OpUpdate Op = "update" // change the object in place
	OpDelete Op = "delete" // delete the object

	// A replacement has three steps: one creates the new object, one deletes the old one, and OpReplace, which does
	// nothing itself, represents both for display. The planner decides which object comes first (E4.52). An old object
	// that is deleted last stays in the state as pending delete until the end of the operation.
	OpReplace           Op = "replace"
	OpCreateReplacement Op = "create-replacement"
	OpDeleteReplaced    Op = "delete-replaced"

	OpRead            Op = "read"             // read an object that is managed elsewhere
	OpReadReplacement Op = "read-replacement" // the same, in place of a managed resource
	OpRefresh         Op = "refresh"          // read a managed object

	// Discards remove resources that were only read from the state; their objects are not deleted.
	OpDiscard         Op = "discard"
	OpDiscardReplaced Op = "discard-replaced"
	// OpRemovePendingReplace removes a resource with a pending replacement that is no longer wanted.
	OpRemovePendingReplace Op = "remove-pending-replace"

	OpImport            Op = "import"             // add an existing object to the state
	OpImportReplacement Op = "import-replacement" // the same, in place of another object
)

// Step is one planned action on one resource. It is data that can be printed, compared and stored. Old and New are
// shared with the state and the registration, and are immutable once they are in a step.
type Step struct {
	Op       Op
	URN      urn.URN
	Type     string
	Provider string // reference
	Old      *state.Resource
	New      *state.Resource

	Keys     []string                         // properties that force a replacement
	Diffs    []string                         // changed keys
	Detailed map[string]provider.PropertyDiff // by property path; may be nil (E4.51)
	Stable   []string                         // outputs that an update does not change (E5.54)
	// Transformed holds the source positions of the transforms that set inputs, by property path.
	Transformed map[string]string
	Reason      string // the reason for a replacement that no property forces, for display

	// Drifted reports whether a refresh found a difference in values that the program or the recorded inputs set,
	// according to the provider's own diff (E7.18). All other differences are in computed values.
	Drifted bool
	// Verbatim reports, for a same step, that the prior state is retained unchanged and no provider is configured for
	// it (E4.110).
	Verbatim bool
	// Left is why the operation leaves the resource of a same step as it is, or does not create it: it is out of scope.
	// Empty for resources in scope.
	Left Left
	// Over is the journal ID of the missing resource whose position in the state a created resource takes; 0 for none.
	Over journal.ID
	// Position is the journal ID of the resource in whose position the new state is written, because dependants come
	// after it; 0 to append it.
	Position journal.ID
}

// Left is why a resource is out of the scope of an operation, in words.
type Left string

// The reasons.
const (
	NotTargeted Left = "not targeted"
	Excluded    Left = "excluded"
	// NeededByExcluded resources are not deleted for that reason.
	NeededByExcluded Left = "needed by what is excluded"
)

// NewStep returns a step for a resource; old or goal may be nil, but not both.
func NewStep(op Op, old, goal *state.Resource) Step {
	res := cmp.Or(goal, old)
	return Step{Op: op, URN: res.URN, Type: res.Type, Provider: res.Provider, Old: old, New: goal}
}

// Unchanged returns the step that retains a resource unchanged; kept is its state, possibly under a new URN (E4.110).
func Unchanged(old, kept *state.Resource) Step {
	s := NewStep(OpSame, old, kept)
	s.Verbatim = true
	return s
}

// Logical reports whether the step counts as one change for users (E8.1).
func (s *Step) Logical() bool {
	switch s.Op {
	case OpCreateReplacement, OpDeleteReplaced, OpReadReplacement, OpRefresh, OpDiscardReplaced, OpRemovePendingReplace,
		OpImportReplacement:
		return false
	case OpDelete: // the remainder of an earlier replacement was counted with it (E4.62)
		return s.Old == nil || !s.Old.Delete
	}
	return true
}

// Place returns the source position of the resource, or "". recorded reports whether the position is only what the
// state has kept, and not where the running program has registered the resource: the text may have changed since.
func (s *Step) Place() (position string, recorded bool) {
	recorded = s.New == nil || s.New.SourcePosition == "" || s.New == s.Old || s.Verbatim || s.Op == OpRefresh
	return PositionOf(s.New, s.Old), recorded
}

// About returns New, or Old if there is no new state.
func (s *Step) About() *state.Resource { return cmp.Or(s.New, s.Old) }
