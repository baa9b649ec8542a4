package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Ending is the resolution of an operation that an earlier run left in flight.
type Ending string

// The endings.
const (
	EndedThere   Ending = "there"   // the resource was read and is there, as the state now says
	EndedGone    Ending = "gone"    // it was read and is not there any more
	EndedAdopted Ending = "adopted" // the creation had happened: what it made is in the state now
	EndedNothing Ending = "nothing" // there is nothing outside of the state that it could have changed
	EndedForgot  Ending = "forgot"  // the creation is taken as not having happened
	EndedAbsent  Ending = "absent"  // there is nothing with the ID that the creation would have given
	EndedAgain   Ending = "again"   // it stays pending until the operation has created the resource again
	EndedOpen    Ending = "open"    // it stays pending
)

// Resolution is an operation in flight and its ending.
type Resolution struct {
	state.Operation
	Ending Ending
	ID     string // of the resource that EndedAdopted has taken into the state
}

// Decision is a person's answer about a creation in flight. The zero Decision says that it did not happen.
type Decision struct {
	ID    string // of the object that the creation made; empty when it made none
	Look  bool   // the creation may have made none with this ID: it is read to find out
	Retry bool   // create again with the recorded inputs; nobody knows whether it happened
	Keep  bool   // leave it pending
}

// PendingCreations returns the pending creations without a known ID, each resource once. A Decision can be about these
// only.
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

// Undecided returns the pending operations that only a person can resolve: those of PendingCreations that may have made
// something outside of the state. To try them again unasked could make a second object beside the first.
func Undecided(s *state.Snapshot) []state.Operation {
	return slices.DeleteFunc(PendingCreations(s), func(op state.Operation) bool { return livesInState(op.Resource) })
}

// elsewhere reports whether a resource is something outside of the state.
func elsewhere(r *state.Resource) bool { return r.Custom && !r.IsProvider() }

// livesInState reports whether the objects of a resource's provider exist in the state only, so that a creation which
// nobody acknowledged changed nothing outside of the state, whether the provider is embedded or a plugin.
func livesInState(r *state.Resource) bool {
	switch r.URN.Package() {
	case "random", "tls", "time":
		return true
	}
	return false
}

// ResolvePending finds out how the pending operations of Base ended, and returns the state that follows and what
// became of each. It reads resources that were being updated or deleted. How PendingCreations ended is decided by
// decisions; an Undecided one without a decision is an error. Creations that a decision retries or keeps stay
// pending. Nothing changes outside of the state, and a failure leaves everything pending. The option Journal is not
// used.
func ResolvePending(ctx context.Context, o Options, decisions map[urn.URN]Decision) (*state.Snapshot, []Resolution,
	error) {
	for _, op := range Undecided(o.Base) {
		if _, decided := decisions[op.Resource.URN]; !decided {
			return nil, nil, fmt.Errorf("the outcome of the creation of %s is not known", op.Resource.URN)
		}
	}
	o.Journal, o.DryRun = nil, true
	op := newOperation(ctx, nil, o, refreshing, &plan.Scope{}, nil)
	defer op.stop()
	defer op.registry.Close()

	s := resolving{core: op.core, resources: slices.Clone(o.Base.Resources)}
	next := *o.Base
	next.Pending = nil
	var resolved []Resolution
	seen := map[urn.URN]bool{}
	for _, op := range o.Base.Pending {
		if op.Kind == state.Creating { // a creation that was retried, and cut off again, is there twice
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

// resolving is a state in which pending operations are being resolved.
type resolving struct {
	*core
	resources []*state.Resource
}

// resolve decides how one pending operation ended, and reads the object again where it may be there. decisions are
// the user's answers, by URN, about creations whose ID is not known.
func (s *resolving) resolve(op state.Operation, decisions map[urn.URN]Decision) (end Resolution, err error) {
	end = Resolution{Operation: op, ID: op.Resource.ID}
	decision, decided := decisions[op.Resource.URN]
	switch {
	case op.Kind == state.Reading || op.Kind == state.Importing || !elsewhere(op.Resource):
		end.Ending = EndedNothing
	case op.Kind != state.Creating:
		end.Ending, err = s.readAgain(op.Resource)
	case end.ID == "" && !decided: // it lives in the state
		end.Ending = EndedNothing
	case end.ID == "" && decision.Keep:
		end.Ending = EndedOpen
	case end.ID == "" && decision.Retry:
		end.Ending = EndedAgain
	case end.ID == "" && decision.ID == "":
		end.Ending = EndedForgot
	default:
		if end.ID == "" {
			end.ID = decision.ID
		}
		end.Ending, err = EndedAdopted, s.adopt(op.Resource, end.ID)
		if errors.Is(err, errNothingThere) && decision.Look {
			end.Ending, err = EndedAbsent, nil
		}
	}
	return end, err
}

// readAgain brings what the state says of a resource up to date.
func (s *resolving) readAgain(r *state.Resource) (Ending, error) {
	i := slices.IndexFunc(s.resources, func(old *state.Resource) bool {
		return old.URN == r.URN && (old.ID == r.ID || r.ID == "" && !old.Delete)
	})
	if i < 0 { // it was recorded as deleted by other means since
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

// adopt puts what a creation has made into the state, as if it had been acknowledged.
func (s *resolving) adopt(r *state.Resource, id string) error {
	p, err := s.registry.Of(r)
	if err != nil {
		return err
	}
	answer, err := p.Read(s.calls, provider.ReadRequest{
		Subject: provider.SubjectOf(r.URN), ID: id, Inputs: r.Inputs, Outputs: value.EmptyMap(),
		Timeout: r.CustomTimeouts.Read})
	n := r.Clone()
	n.InitErrors = nil
	if failure, ok := errors.AsType[*provider.Error](err); ok && failure.Outcome == provider.Partial { // E5.39
		answer = provider.ReadResponse{ID: failure.ID, Outputs: failure.Outputs.MapOrEmpty(),
			RefreshBeforeUpdate: failure.RefreshBeforeUpdate}
		n.InitErrors = failure.Reasons
	} else if err != nil {
		return err
	}
	if answer.ID == "" {
		return fmt.Errorf("%w %q", errNothingThere, id)
	}
	n.ID, n.Outputs, n.RefreshBeforeUpdate = answer.ID, answer.Outputs.MapOrEmpty(), answer.RefreshBeforeUpdate
	n.Outputs = apply.SecretOutputs(n.Outputs, n.Inputs, n.AdditionalSecretOutputs)
	n.Created, n.Modified = s.opts.now(), s.opts.now()
	present := make(map[urn.URN]bool, len(s.resources))
	for _, r := range s.resources {
		present[r.URN] = true
	}
	s.insert(plan.Pruned(n, func(u urn.URN) bool { return !present[u] })) // what it needed may have been destroyed since
	return nil
}

// insert puts a resource behind everything that it depends on. One that it replaces is left to be deleted, or is no
// more if it was deleted already (E4.60).
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
			if pos > i { // it has come to depend on what follows
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
