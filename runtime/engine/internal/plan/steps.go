package plan

import (
	"cmp"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Situation is everything that decides which steps a registration takes (E4.4).
type Situation struct {
	Old  *state.Resource // what it was; nil when new
	Goal *state.Resource // what it shall be, with checked inputs

	// Deleted is set when old was deleted earlier in this operation, by the replacement of something it depends on, and
	// why.
	Deleted *Dependent
	// Imported reports whether old was just imported.
	Imported bool
	// Importing reports whether the resource is imported first; the old resource, if there is one, is replaced by it.
	Importing bool
	// Recreated names the resource of the state in whose position one is created that was found to be gone; 0 for none.
	Recreated journal.ID

	Diff Diff // of an old resource that is managed and there
	// DeleteFirst reports whether a replacement deletes first; Dependents are then what has to go with it, in the order
	// in which they are deleted.
	DeleteFirst bool
	Dependents  []Dependent
}

// Replaces reports whether the diff or an unfinished earlier replacement requires a replacement of the old resource
// (E4.36, E4.64). External and deleted resources are created anew without a replacement.
func (s *Situation) Replaces() bool {
	return s.Old != nil && s.Deleted == nil && !s.Old.External && (s.Diff.Replace || s.Old.PendingReplacement)
}

// Steps turns a situation into the steps to take, in order.
func Steps(s Situation) []Step {
	steps := s.steps()
	if s.Recreated != 0 && len(steps) > 0 && (steps[0].Op == OpCreate || steps[0].Op == OpImport) {
		steps[0].Over = s.Recreated
	}
	return steps
}

// steps chooses the steps by what is known of the resource, its goal and the diff. The first case that holds decides:
// an import comes before everything, then what has no object any more, then what the diff says. Where a replacement
// makes the new object first, OpReplace comes last, and the other way round: people hear of a replacement when its
// second half is done.
func (s *Situation) steps() []Step {
	old, goal := s.Old, s.Goal
	switch {
	case s.Importing && old == nil:
		return []Step{NewStep(OpImport, nil, goal)}
	case s.Importing: // E4.87
		return []Step{NewStep(OpImportReplacement, old, goal), NewStep(OpReplace, old, goal)}
	case old == nil: // E4.28
		return []Step{NewStep(OpCreate, nil, goal)}
	case s.Deleted != nil: // E4.30: its old object is gone already, so that only the second half is left
		create := NewStep(OpCreateReplacement, old, goal)
		create.Keys, create.Reason = s.Deleted.Keys, s.Deleted.Reason
		replace := NewStep(OpReplace, old, goal)
		replace.Reason = s.Deleted.Reason
		return []Step{replace, create}
	case old.External: // E4.31
		replace := NewStep(OpReplace, old, goal)
		replace.Reason = "it was only read before, and is managed now"
		return []Step{NewStep(OpCreateReplacement, old, goal), replace}
	case s.Replaces(): // E4.36
		return s.replacement()
	// A resource that was not initialized completely is updated even without a difference: its provider tries again.
	case s.Diff.Change || len(old.InitErrors) > 0 && !s.Imported: // E4.34, E4.35
		step := NewStep(OpUpdate, old, goal)
		step.Diffs, step.Detailed, step.Stable = s.Diff.Diffs, s.Diff.Detailed, s.Diff.Stable
		return []Step{step}
	case s.Imported: // E4.37: the import has recorded it
		return nil
	}
	return []Step{NewStep(OpSame, old, goal)} // E4.33
}

// ReadSteps returns the steps for a resource that is read (E4.92). old is the prior state under its URN, or nil.
//
// A managed resource that is read under its own ID becomes an external one without a replacement: its object stays.
func ReadSteps(old, goal *state.Resource) []Step {
	if old != nil && !old.External && old.ID != goal.ID {
		return []Step{NewStep(OpReadReplacement, old, goal), NewStep(OpReplace, old, goal)}
	}
	return []Step{NewStep(OpRead, old, goal)}
}

// WantsImport reports whether the goal asks for an import (E4.86).
func WantsImport(old, goal *state.Resource) bool {
	return goal.Custom && goal.ImportID != "" && (old == nil || old.External ||
		cmp.Or(old.ImportID, old.ID) != goal.ImportID)
}

// Obstacle is the reason why a replacement is refused (E4.53, E4.73).
type Obstacle struct {
	Text    string
	Warning bool // in a preview, which goes on
}

// Obstacles returns the reasons against the replacement of an old resource, for people. unprotected says that
// protection does not count. An update ends with the first of them.
func (s *Situation) Obstacles(dryRun, unprotected bool) []Obstacle {
	var found []Obstacle
	if s.Old.Protect && s.Goal.Protect && !unprotected {
		found = append(found, Obstacle{Text: protectedText(s.Goal.URN)})
	}
	if s.Goal.ImportID != "" {
		found = append(found, Obstacle{Warning: dryRun,
			Text: "previously-imported resources that still specify an ID may not be replaced; " +
				"please remove the `import` declaration from your program" + s.describeKeys()})
	}
	return found
}

// DeletesFirst decides whether a replacement deletes first: the program's choice counts before the provider's (E4.52).
func DeletesFirst(d Diff, wanted *bool) bool {
	if wanted != nil {
		return *wanted
	}
	return d.DeleteBeforeReplace
}
