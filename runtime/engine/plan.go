package engine

import (
	"github.com/yamlhost/yamlhost/runtime/state"
)

// situation is everything that decides which steps a registration takes. The functions of this file are pure: they look
// at their arguments and answer with steps (E4.4).
type situation struct {
	old  *state.Resource // what it was; nil when new
	goal *state.Resource // what it shall be, with checked inputs

	// deleted says that old was deleted earlier in this operation, by the replacement of something it depends on.
	deleted *dependent
	// imported says that old was just imported.
	imported bool
	// importing says that the resource is to be imported first: old, if there is one, gives way to it.
	importing bool

	verdict verdict // of an old resource that is managed and there
	// before says whether a replacement deletes first; dependents are then what has to go with it, in the order in which
	// they are deleted.
	before     bool
	dependents []dependent
}

// plan turns a situation into the chain of steps to take, in order.
func plan(s situation) []Step {
	old, goal := s.old, s.goal
	switch {
	case s.importing && old == nil:
		return []Step{newStep(OpImport, nil, goal)}
	case s.importing: // E4.87
		return []Step{newStep(OpImportReplacement, old, goal), newStep(OpReplace, old, goal)}
	case old == nil: // E4.28
		return []Step{newStep(OpCreate, nil, goal)}
	case s.deleted != nil: // E4.30
		create := newStep(OpCreateReplacement, old, goal)
		create.Keys, create.Reason = s.deleted.keys, s.deleted.reason
		replace := newStep(OpReplace, old, goal)
		replace.Reason = s.deleted.reason
		return []Step{replace, create}
	case old.External: // E4.31
		replace := newStep(OpReplace, old, goal)
		replace.Reason = "it was only read before and is managed from now on"
		return []Step{newStep(OpCreateReplacement, old, goal), replace}
	case s.verdict.replace || old.PendingReplacement: // E4.36
		return replacement(s)
	case s.verdict.change || len(old.InitErrors) > 0 && !s.imported: // E4.34, E4.35
		step := newStep(OpUpdate, old, goal)
		step.Diffs, step.Detailed = s.verdict.diffs, s.verdict.detailed
		return []Step{step}
	case s.imported: // E4.37
		return nil
	}
	return []Step{newStep(OpSame, old, goal)} // E4.33
}

// newStep makes a step of a resource.
func newStep(op Op, old, goal *state.Resource) Step {
	about := goal
	if about == nil {
		about = old
	}
	return Step{Op: op, URN: about.URN, Type: about.Type, Provider: about.Provider, Old: old, New: goal}
}

// planRead is the chain of steps for a resource that is read (E4.92). old is what is known under its URN, or nil.
func planRead(old, goal *state.Resource) []Step {
	if old != nil && !old.External && old.ID != goal.ID {
		return []Step{newStep(OpReadReplacement, old, goal), newStep(OpReplace, old, goal)}
	}
	return []Step{newStep(OpRead, old, goal)}
}
