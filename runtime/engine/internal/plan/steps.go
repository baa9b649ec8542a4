package plan

import (
	"cmp"
	"errors"

	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Situation is the input of Steps: everything that decides the steps of a registration (E4.4).
type Situation struct {
	Old  *state.Resource // the prior state; nil for a new resource
	Goal *state.Resource // the goal state, with checked inputs

	// Deleted is set if Old was deleted earlier in this operation by the replacement of a dependency, with the reason.
	Deleted *Dependent
	// Imported reports whether Old was just imported.
	Imported bool
	// Importing reports whether the resource is imported first; the import replaces Old, if there is one.
	Importing bool
	// Recreated is the journal ID of a missing resource whose position the new resource takes; 0 for none.
	Recreated journal.ID

	Diff Diff // of an existing managed resource
	// DeleteFirst reports whether a replacement deletes first; Dependents are then the resources deleted with it, in
	// order of deletion.
	DeleteFirst bool
	Dependents  []Dependent
}

// Replaces reports whether the diff or an unfinished earlier replacement requires a replacement of Old (E4.36, E4.64).
// External and deleted resources are created anew without a replacement.
func (s *Situation) Replaces() bool {
	return s.Old != nil && s.Deleted == nil && !s.Old.External && (s.Diff.Replace || s.Old.PendingReplacement)
}

// Steps returns the steps to take in a situation, in order.
func Steps(s Situation) []Step {
	steps := s.steps()
	if s.Recreated != 0 && len(steps) > 0 && (steps[0].Op == OpCreate || steps[0].Op == OpImport) {
		steps[0].Over = s.Recreated
	}
	return steps
}

// steps chooses the steps from the prior resource, the goal and the diff. The first matching case decides: first
// imports, then resources without an object, then the diff. OpReplace comes last if the new object is created first,
// and before the creation otherwise: users see a replacement once its second half begins.
func (s *Situation) steps() []Step {
	old, goal := s.Old, s.Goal
	switch {
	case s.Importing && old == nil:
		return []Step{NewStep(OpImport, nil, goal)}
	case s.Importing: // E4.87
		return []Step{NewStep(OpImportReplacement, old, goal), NewStep(OpReplace, old, goal)}
	case old == nil: // E4.28
		return []Step{NewStep(OpCreate, nil, goal)}
	case s.Deleted != nil: // E4.30: the old object is gone already; only the creation is left
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
// A managed resource that is read under its own ID becomes external without a replacement: its object stays.
func ReadSteps(old, goal *state.Resource) []Step {
	if old != nil && !old.External && old.ID != goal.ID {
		return []Step{NewStep(OpReadReplacement, old, goal), NewStep(OpReplace, old, goal)}
	}
	return []Step{NewStep(OpRead, old, goal)}
}

// WantsImport reports whether the goal requires an import (E4.86).
func WantsImport(old, goal *state.Resource) bool {
	return goal.Custom && goal.ImportID != "" && (old == nil || old.External ||
		cmp.Or(old.ImportID, old.ID) != goal.ImportID)
}

// Obstacle is a reason to refuse a replacement (E4.53, E4.73).
type Obstacle struct {
	Text    string
	Warning bool // only a warning, in a preview
}

// Obstacles returns the reasons to refuse the replacement of Old. unprotected disables protection. An update fails with
// the first of them.
func (s *Situation) Obstacles(dryRun, unprotected bool) []Obstacle {
	var found []Obstacle
	if s.Old.Protect && s.Goal.Protect && !unprotected {
		found = append(found, Obstacle{Text: protectedText(s.Goal.URN)})
	}
	if s.Goal.ImportID != "" {
		found = append(found, Obstacle{Warning: dryRun,
			Text: "previously-imported resources that still specify an ID may not be replaced: that would delete the " +
				"imported object. To keep it, write the values that it has, or list the properties in ignoreChanges. To " +
				"replace it, leave out the option `import`" + s.describeKeys()})
	}
	return found
}

// Replacing holds what a decision takes beside the situation when it replaces a resource.
type Replacing struct {
	DryRun      bool  // obstacles are reported, and the decision goes on
	Unprotected bool  // protection is ignored
	Undeleted   bool  // nothing is deleted first: the program runs only for its providers and components
	FixedName   bool  // the new object would get the name of the old one (E4.127)
	Wanted      *bool // deleteBeforeReplace of the program; nil leaves the choice to the provider

	// Obstacle reports a reason to refuse the replacement.
	Obstacle func(Obstacle)
	// Dependents returns the resources to delete before Old, which usually means to ask their providers; see Cascade.
	Dependents func() ([]Dependent, error)
}

// ErrRefused is returned by Decide when a resource must not be replaced. Replacing.Obstacle has got the reason.
var ErrRefused = errors.New("the resource must not be replaced")

// Decide returns the steps to take in a situation, in order. For a replacement it first finds out whether it is allowed
// (E4.53, E4.73), which object comes first (E4.52), and which dependants have to be deleted too (E4.58).
func Decide(s Situation, r Replacing) ([]Step, error) {
	if !s.Replaces() {
		return Steps(s), nil
	}
	for _, o := range s.Obstacles(r.DryRun, r.Unprotected) {
		if r.Obstacle(o); !r.DryRun {
			return nil, ErrRefused
		}
	}
	if s.DeleteFirst = !r.Undeleted && r.deletesFirst(&s); s.DeleteFirst {
		var err error
		if s.Dependents, err = r.Dependents(); err != nil {
			return nil, err
		}
	}
	return Steps(s), nil
}

// deletesFirst reports whether the old object is deleted before the new one is created; the program's choice precedes
// the provider's (E4.52). The old object of an unfinished replacement is gone already.
func (r *Replacing) deletesFirst(s *Situation) bool {
	switch {
	case s.Old.PendingReplacement, r.FixedName:
		return true
	case r.Wanted != nil:
		return *r.Wanted
	}
	return s.Diff.DeleteBeforeReplace
}
