package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Ending is the resolution of an operation that an earlier run left in flight.
type Ending string

// The endings.
const (
	EndedThere   Ending = "there"   // the resource was read and exists; the state is up to date
	EndedGone    Ending = "gone"    // the resource was read and does not exist any more
	EndedAdopted Ending = "adopted" // the creation had happened; its object is in the state now
	EndedNothing Ending = "nothing" // the operation cannot have changed anything outside of the state
	EndedForgot  Ending = "forgot"  // the creation is assumed not to have happened
	EndedAbsent  Ending = "absent"  // no object with the ID of the creation exists
	EndedAgain   Ending = "again"   // still pending until the operation has created the resource again
	EndedOpen    Ending = "open"    // still pending
)

// Resolution is a pending operation and its ending.
type Resolution struct {
	state.Operation
	Ending Ending
	ID     string // of the resource that was added to the state by EndedAdopted
}

// Decision is the user's answer about a pending creation. The zero Decision means that it did not happen.
type Decision struct {
	ID      string // of the created object; empty if there is none
	Inspect bool   // read the object with this ID to find out whether it exists
	Retry   bool   // create again with the recorded inputs; whether the first attempt succeeded is unknown
	Keep    bool   // leave it pending
}

// PendingCreations returns the pending creations without a known ID, each resource once. Only these can have a
// Decision.
func PendingCreations(s *state.Snapshot) []state.Operation {
	var list []state.Operation
	seen := map[urn.URN]bool{}
	for _, op := range s.Pending {
		if u := op.Resource.URN; op.Kind == state.Creating && elsewhere(op.Resource) && op.Resource.ID == "" && !seen[u] {
			seen[u] = true // the latest attempt comes first
			list = append(list, op)
		}
	}
	return list
}

// Undecided returns the pending creations that only a person can resolve, because they may have made an object outside
// of the state. Repeating one unasked could create a second object.
func Undecided(s *state.Snapshot) []state.Operation {
	return slices.DeleteFunc(PendingCreations(s), func(op state.Operation) bool { return livesInState(op.Resource) })
}

// elsewhere reports whether a resource has an object outside of the state.
func elsewhere(r *state.Resource) bool { return r.Custom && !r.IsProvider() }

// livesInState reports whether the objects of the resource's package exist in the state only, whether the provider is
// embedded or a plugin. An unacknowledged creation of such a resource changed nothing outside of the state.
func livesInState(r *state.Resource) bool {
	switch r.URN.Package() {
	case "random", "tls", "time":
		return true
	}
	return false
}

// ResolvePending determines how the pending operations of Base ended, and returns the resulting state and one
// Resolution for each. It reads the resources that were being updated or deleted. decisions resolve PendingCreations;
// it is an error if an Undecided one has no decision. Creations that a decision retries or keeps stay pending. Nothing
// outside of the state changes, and after an error everything is still pending. Options.Journal is not used.
func ResolvePending(ctx context.Context, o Options, decisions map[urn.URN]Decision) (*state.Snapshot, []Resolution,
	error) {
	for _, op := range Undecided(o.Base) {
		if _, decided := decisions[op.Resource.URN]; !decided {
			return nil, nil, fmt.Errorf("the outcome of the creation of %s is not known", op.Resource.URN)
		}
	}
	o.Journal, o.DryRun = nil, true
	o.setDefaults()
	op := newOperation(ctx, nil, o, refreshing, &plan.Scope{}, nil)
	defer op.stop()
	defer op.registry.Close()

	s := resolving{core: op.core, resources: slices.Clone(o.Base.Resources)}
	next := *o.Base
	next.Pending = nil
	var resolved []Resolution
	seen := map[urn.URN]bool{}
	for _, op := range o.Base.Pending {
		if op.Kind == state.Creating { // an interrupted retry leaves its creation there twice
			if seen[op.Resource.URN] {
				continue
			}
			seen[op.Resource.URN] = true
		}
		end, err := s.resolve(op, decisions)
		if err != nil {
			return nil, nil, fmt.Errorf("find out how far the %s of %s came: %w", nouns[op.Kind], op.Resource.URN, err)
		}
		if end.Ending == EndedAgain || end.Ending == EndedOpen {
			next.Pending = append(next.Pending, op)
		}
		resolved = append(resolved, end)
	}
	next.Resources = s.resources
	return &next, resolved, next.Verify()
}

var nouns = map[state.OperationKind]string{
	state.Creating: "creation", state.Updating: "update", state.Deleting: "deletion", state.Reading: "reading",
	state.Importing: "import",
}

// resolving is a state whose pending operations are being resolved.
type resolving struct {
	*core
	resources []*state.Resource
}

// resolve determines how one pending operation ended, and reads the object if it may exist. decisions are the user's
// answers about creations without a known ID, by URN.
func (s *resolving) resolve(op state.Operation, decisions map[urn.URN]Decision) (end Resolution, err error) {
	end = Resolution{Operation: op, ID: op.Resource.ID}
	decision, decided := decisions[op.Resource.URN]
	switch {
	case op.Kind == state.Reading || op.Kind == state.Importing || !elsewhere(op.Resource):
		end.Ending = EndedNothing
	case op.Kind != state.Creating:
		end.Ending, err = s.readAgain(op.Resource)
	case end.ID == "" && !decided: // its objects exist in the state only
		end.Ending = EndedNothing
	case end.ID == "" && decision.Keep:
		end.Ending = EndedOpen
	case end.ID == "" && decision.Retry:
		end.Ending = EndedAgain
	case end.ID == "" && decision.ID == "":
		end.Ending = EndedForgot
	default:
		end.ID = cmp.Or(end.ID, decision.ID)
		end.Ending, err = EndedAdopted, s.adopt(op.Resource, end.ID)
		if errors.Is(err, errNothingThere) && decision.Inspect {
			end.Ending, err = EndedAbsent, nil
		}
	}
	return end, err
}

// readAgain refreshes the record of a resource in the state.
func (s *resolving) readAgain(r *state.Resource) (Ending, error) {
	i := slices.IndexFunc(s.resources, func(old *state.Resource) bool {
		return old.URN == r.URN && (old.ID == r.ID || r.ID == "" && !old.Delete)
	})
	if i < 0 { // the resource was removed from the state since
		return EndedGone, nil
	}
	now, err := s.executor.ReadAgain(s.resources[i])
	if err != nil {
		return "", err
	}
	after := slices.Clone(s.resources)
	after[i] = now
	s.resources = slices.DeleteFunc(plan.Rebuild(s.resources, after), func(r *state.Resource) bool { return r == nil })
	if now == nil {
		return EndedGone, nil
	}
	return EndedThere, nil
}

var errNothingThere = errors.New("there is nothing with the ID")

// adopt reads the object of a creation and adds it to the state as if the creation had been acknowledged.
func (s *resolving) adopt(r *state.Resource, id string) error {
	n, err := s.executor.Adopt(r, id)
	if err != nil {
		return err
	}
	if n == nil {
		return fmt.Errorf("%w %q", errNothingThere, id)
	}
	present := make(map[urn.URN]bool, len(s.resources))
	for _, r := range s.resources {
		present[r.URN] = true
	}
	s.insert(plan.Pruned(n, func(u urn.URN) bool { return !present[u] })) // a dependency may have been destroyed since
	return nil
}

// insert puts n behind all its dependencies. A resource that n replaces is marked for deletion, or n takes its place if
// it was deleted already (E4.60).
func (s *resolving) insert(n *state.Resource) {
	needs := map[urn.URN]bool{}
	n.AllDependencies(func(u urn.URN) { needs[u] = true })
	pos := 0
	for i, r := range s.resources {
		if needs[r.URN] {
			pos = i + 1
		}
	}
	for i, r := range s.resources {
		switch {
		case r.URN != n.URN || r.Delete:
		case r.PendingReplacement:
			s.resources[i] = n
			if pos > i { // a dependency of n comes later now
				s.resources = slices.Insert(slices.Delete(s.resources, i, i+1), pos-1, n)
			}
			return
		default:
			left := r.Clone()
			left.Delete = true
			s.resources[i] = left
		}
	}
	s.resources = slices.Insert(s.resources, pos, n)
}
