package engine

import (
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Replacements follows by the events of an operation what becomes of the objects that it replaces. A replacement has
// two halves, of which either may fail or never begin: one deletes the old object, one makes the new one. OpReplace,
// which stands for both, comes between them, so alone it does not tell that there is a new object.
//
// A resource is replaced once its new object is there. One whose old object was deleted first is deleted until then:
// lost if the program has it, as the journal tells, which marks it as waiting for its replacement. The zero value is
// ready for use.
type Replacements struct{ of map[urn.URN]*replacement } // by the URN of the old object

// replacement is what was done of one replacement.
type replacement struct {
	deleted  bool // the old object, and before the new one
	waiting  bool // an earlier operation has deleted the old object
	made     bool // the new object
	done     bool // the new object is whole
	unwanted bool // the program does not have the resource
}

// Take takes an event, and reports whether it completes a replacement.
func (r *Replacements) Take(e Event) (done bool) {
	switch e := e.(type) {
	case *StepFinished:
		return !e.Internal && !e.Outputs && r.take(e.Step, true)
	case *StepFailed:
		if e.Status == int(provider.Partial) {
			r.take(e.Step, false)
		}
	}
	return false
}

// take takes a step that finished, or failed and left an object.
func (r *Replacements) take(s *Step, finished bool) (done bool) {
	if s.Old == nil || !makes(s.Op) && s.Op != OpReplace && s.Op != OpRemovePendingReplace && s.Op != OpDeleteReplaced {
		return false
	}
	x := r.of[s.Old.URN]
	if x == nil {
		x = &replacement{}
	}
	was := x.done
	switch {
	case makes(s.Op):
		x.made, x.done = true, finished
	case s.Op == OpReplace:
		x.waiting = x.waiting || s.Old.PendingReplacement
		x.done = x.done || !x.deleted && !x.waiting
	case s.Op == OpRemovePendingReplace:
		x.unwanted = true
	case s.Op == OpDeleteReplaced && !s.Old.Delete && !s.Old.PendingReplacement: // else a remainder
		x.deleted = finished
	default:
		return false
	}
	if r.of == nil {
		r.of = map[urn.URN]*replacement{}
	}
	r.of[s.Old.URN] = x
	return x.done && !was
}

// makes reports whether an operation is the half of a replacement that makes the new object.
func makes(op Op) bool {
	return op == OpCreateReplacement || op == OpImportReplacement || op == OpReadReplacement
}

// Any reports whether any step was part of a replacement.
func (r *Replacements) Any() bool { return len(r.of) > 0 }

// Replaced reports whether a resource, by its former URN, was replaced.
func (r *Replacements) Replaced(u urn.URN) bool {
	x := r.of[u]
	return x != nil && x.done
}

// Deleted reports whether a resource, by its former URN, was deleted to be replaced and has no new object.
func (r *Replacements) Deleted(u urn.URN) bool {
	x := r.of[u]
	return x != nil && x.deleted && !x.made
}

// Lost is Deleted for a resource that the program has.
func (r *Replacements) Lost(u urn.URN) bool { return r.Deleted(u) && !r.of[u].unwanted }

// Count returns how many resources were replaced, how many were deleted, and how many of these are lost.
func (r *Replacements) Count() (replaced, deleted, lost int) {
	for u, x := range r.of {
		if x.done {
			replaced++
		}
		if r.Deleted(u) {
			deleted++
		}
		if r.Lost(u) {
			lost++
		}
	}
	return replaced, deleted, lost
}
