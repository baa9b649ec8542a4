package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Ending is what became of an operation that an earlier run left in flight.
type Ending string

// The endings.
const (
	EndedThere   Ending = "there"   // the resource was read and is there, as the state now says
	EndedGone    Ending = "gone"    // it was read and is not there any more
	EndedAdopted Ending = "adopted" // the creation had happened: what it made is in the state now
	EndedNothing Ending = "nothing" // there is nothing outside of the state that it could have changed
	EndedForgot  Ending = "forgot"  // the creation is taken as not having happened
)

// Settled is an operation in flight and its ending.
type Settled struct {
	state.Operation
	Ending Ending
}

// Undecided are the pending operations that nothing but a person's word can settle: creations of which no ID is known, so
// that there is nothing to read. To try them again unasked could make a second object beside the first.
func Undecided(s *state.Snapshot) []state.Operation {
	var list []state.Operation
	for _, op := range s.Pending {
		if op.Kind == state.Creating && elsewhere(op.Resource) && op.Resource.ID == "" {
			list = append(list, op)
		}
	}
	return list
}

// elsewhere reports whether a resource is something outside of the state.
func elsewhere(r *state.Resource) bool { return r.Custom && !r.IsProvider() }

// Settle finds out how the base's pending operations ended, and gives the state that follows: what was being updated or
// deleted is read, and is as it was found; a creation in which word gives an ID is read under that ID and adopted, one for
// which word has an empty ID is forgotten, and all others of Undecided are an error. Nothing is changed but the state, and
// a failure leaves everything pending. Of the options, Journal is not used.
func Settle(ctx context.Context, o Options, word map[urn.URN]string) (*state.Snapshot, []Settled, error) {
	for _, op := range Undecided(o.Base) {
		if _, said := word[op.Resource.URN]; !said {
			return nil, nil, fmt.Errorf("nobody has said what became of the creation of %s", op.Resource.URN)
		}
	}
	o.Journal, o.DryRun = nil, true
	d := newDeployment(ctx, o, &scope{}, true)
	defer d.stop()
	d.calls = d.running
	defer d.registry.close()

	s := settling{d: d, resources: slices.Clone(o.Base.Resources)}
	var settled []Settled
	for _, op := range o.Base.Pending {
		id := op.Resource.ID
		if id == "" {
			id = word[op.Resource.URN]
		}
		ending, err := s.settle(op, id)
		if err != nil {
			return nil, nil, fmt.Errorf("find out how far the %s of %s came: %w", nouns[op.Kind], op.Resource.URN, err)
		}
		settled = append(settled, Settled{op, ending})
	}
	next := *o.Base
	next.Resources, next.Pending = s.resources, nil
	return &next, settled, next.Verify()
}

var nouns = map[state.OperationKind]string{
	state.Creating: "creation", state.Updating: "update", state.Deleting: "deletion", state.Reading: "reading",
	state.Importing: "import",
}

// settling is a state under correction.
type settling struct {
	d         *Deployment
	resources []*state.Resource
}

func (s *settling) settle(op state.Operation, id string) (Ending, error) {
	switch {
	case op.Kind == state.Reading || op.Kind == state.Importing || !elsewhere(op.Resource):
		return EndedNothing, nil
	case op.Kind != state.Creating:
		return s.readAgain(op.Resource)
	case id == "":
		return EndedForgot, nil
	}
	return EndedAdopted, s.adopt(op.Resource, id)
}

// readAgain brings what the state says of a resource up to date.
func (s *settling) readAgain(r *state.Resource) (Ending, error) {
	at := slices.IndexFunc(s.resources, func(old *state.Resource) bool {
		return old.URN == r.URN && (old.ID == r.ID || r.ID == "" && !old.Delete)
	})
	if at < 0 { // it was recorded as deleted by other means since
		return EndedGone, nil
	}
	step := newStep(OpRefresh, s.resources[at], s.resources[at])
	now, _, err := s.d.readAgain(&step)
	if err != nil {
		return "", err
	}
	after := slices.Clone(s.resources)
	after[at] = now
	s.resources = slices.DeleteFunc(rebuild(s.resources, after), func(r *state.Resource) bool { return r == nil })
	if now == nil {
		return EndedGone, nil
	}
	return EndedThere, nil
}

// adopt puts what a creation has made into the state, as if it had been acknowledged.
func (s *settling) adopt(r *state.Resource, id string) error {
	p, err := s.d.registry.of(r)
	if err != nil {
		return err
	}
	answer, err := p.Read(s.d.calls, provider.ReadRequest{
		Subject: provider.SubjectOf(r.URN), ID: id, Inputs: r.Inputs, Outputs: value.EmptyMap(), Timeout: r.CustomTimeouts.Read})
	n := r.Clone()
	n.InitErrors = nil
	var failure *provider.Error
	if errors.As(err, &failure) && failure.Outcome == provider.Partial { // E5.39
		answer = provider.ReadResponse{ID: failure.ID, Outputs: asMap(failure.Outputs), RefreshBeforeUpdate: failure.RefreshBeforeUpdate}
		n.InitErrors = failure.Reasons
	} else if err != nil {
		return err
	}
	if answer.ID == "" {
		return fmt.Errorf("there is nothing with the ID %q", id)
	}
	n.ID, n.Outputs, n.RefreshBeforeUpdate = answer.ID, asMap(answer.Outputs), answer.RefreshBeforeUpdate
	n.Outputs = secretOutputs(n.Outputs, n.Inputs, n.AdditionalSecretOutputs)
	n.Created, n.Modified = s.d.now(), s.d.now()
	s.insert(n)
	return nil
}

// insert puts a resource behind everything that it depends on. One that it replaces is left to be deleted, or is no more if
// it was deleted already (E4.60).
func (s *settling) insert(n *state.Resource) {
	needs := map[urn.URN]bool{}
	n.AllDependencies(func(u urn.URN) { needs[u] = true })
	at := 0
	for i, r := range s.resources {
		if needs[r.URN] {
			at = i + 1
		}
	}
	for i, r := range s.resources {
		switch {
		case r.URN != n.URN || r.Delete:
		case r.PendingReplacement:
			s.resources[i] = n
			if at > i { // it has come to depend on what follows
				s.resources = slices.Insert(slices.Delete(s.resources, i, i+1), at-1, n)
			}
			return
		default:
			left := r.Clone()
			left.Delete = true
			s.resources[i] = left
		}
	}
	s.resources = slices.Insert(s.resources, at, n)
}

// warnOfPending tells of operations that an earlier run left open (E6.40).
func (d *Deployment) warnOfPending() {
	if d.opts.DryRun || len(d.opts.Base.Pending) == 0 {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Attempting to deploy or update resources with %d pending operations from previous deployment.\n",
		len(d.opts.Base.Pending))
	for _, op := range d.opts.Base.Pending {
		fmt.Fprintf(&b, "  * %s, interrupted while %s\n", op.Resource.URN, op.Kind)
	}
	b.WriteString("These resources are in an unknown state because the earlier operation was interrupted while it waited for " +
		"changes to complete. Run `refresh` to find out what there is, and `refresh --clear-pending-creates` to forget " +
		"creations that did not happen.")
	d.report.message(Message{Severity: diag.Warning, Text: b.String()})
}
