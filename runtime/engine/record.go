package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/slots"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// inScope decides whether the operation is about a resource. One that was deleted on behalf of something in scope is.
func (s *record) inScope(ctx context.Context) (bool, error) {
	known := []urn.URN{s.reg.URN}
	if old := s.oldState(); old != nil && old.URN != s.reg.URN {
		known = append(known, old.URN)
	}
	if s.d.table.Admit(s.goal, known...) {
		return true, nil
	}
	err := s.awaitCascade(ctx)
	return s.deleted != nil, err
}

// record is a registration on its way from its goal to its steps. It belongs to the goroutine that handles the
// registration.
type record struct {
	d        *Deployment
	reg      *resources.Registration
	wanted   value.Value // the program's inputs
	goal     *state.Resource
	slot     *slots.Slot
	old      *resources.Prior // what it was, or what was imported
	before   *state.Resource  // instead, of one that stays as it was for another's sake
	provider provider.Configured
	seed     []byte
	imported bool
	deleted  *plan.Dependent
	diff     plan.Diff
	// recreated is the entry of a resource that was found to be gone, in whose place it is created anew.
	recreated *resources.Prior
}

func (d *Deployment) recordOf(reg *resources.Registration) *record {
	s := &record{d: d, reg: reg, slot: d.slots.Slot(), wanted: reg.Goal.Inputs, old: reg.Old,
		seed: d.constraint.seed(reg.URN)}
	if s.seed == nil {
		s.seed = d.opts.Seed()
	}
	s.goal = reg.Goal.NewState(reg.URN, s.oldState())
	return s
}

func (s *record) oldState() *state.Resource {
	if s.before != nil {
		return s.before
	}
	return s.old.Resource()
}

// situation is what its steps are decided by.
func (s *record) situation() plan.Situation {
	situation := plan.Situation{Old: s.oldState(), Goal: s.goal, Deleted: s.deleted, Imported: s.imported, Diff: s.diff}
	if s.recreated != nil {
		situation.Recreated = s.d.table.ID(s.recreated)
	}
	return situation
}

// connect finds the provider of a resource; a component has none (E4.8).
func (s *record) connect() (err error) {
	if s.goal.Custom {
		s.provider, err = s.d.registry.Of(s.goal)
	}
	return err
}

// awaitCascade waits, when the old state is being deleted on behalf of another resource, for the end of that (E4.30).
func (s *record) awaitCascade(ctx context.Context) error {
	s.deleted = nil
	if s.old == nil {
		return nil
	}
	c := s.d.table.CascadeOf(s.old)
	if c == nil {
		return nil
	}
	if err := s.slot.Wait(ctx, c.Done); err != nil {
		return err
	}
	if c.Deleted() {
		s.deleted = &c.Dependent
	} else {
		s.d.table.ForgetCascade(s.old)
	}
	return nil
}

// examine has the provider check the inputs and compare them with what was: it fills in the goal's inputs and the diff
// (E4.21–E4.51).
func (s *record) examine() error {
	x, err := plan.Examine(s.facts())
	if err != nil {
		return s.d.refused(s.reg.URN, s.reg.Goal.Position, "compare", s.goal.Type, err)
	}
	for q := x.Next(); q != nil; q = x.Next() {
		switch q := q.(type) {
		case *plan.Check:
			err = s.check(x, q)
		case *plan.Compare:
			err = s.compare(x, q)
		case *plan.CompareProvider:
			var replaced bool
			if replaced, err = s.d.registry.Replaces(q.Was, q.Now); err != nil {
				err = s.d.refused(s.reg.URN, s.reg.Goal.Position, "compare the provider of", s.goal.Type, err)
			}
			x.ProviderCompared(replaced)
		}
		if err != nil {
			return err
		}
	}
	if x.Err != nil {
		return s.d.refused(s.reg.URN, s.reg.Goal.Position, "compare the provider of", s.goal.Type, x.Err)
	}
	if s.provider == nil {
		s.cannotIgnore(x)
	}
	s.diff = x.Diff
	return nil
}

// facts are what an examination of the record starts from.
func (s *record) facts() plan.Facts {
	f := plan.Facts{Old: s.oldState(), Goal: s.goal, Wanted: s.wanted, Deleted: s.deleted != nil,
		Provided: s.provider != nil,
		DryRun:   s.d.opts.DryRun, Recorded: pendingOf(s.d).recorded(s.reg.URN), Defaults: s.reg.Goal.Defaults}
	if f.Old == nil {
		return f
	}
	f.Around, f.OldProvider = s.d.surroundings(s.reg.URN, f.Old, s.goal), s.d.table.Provider(f.Old.Provider)
	if now, err := urn.ParseReference(s.goal.Provider); err == nil {
		f.FormerProvider = s.d.table.Former(now.URN)
	}
	return f
}

// surroundings are the facts about the operation that may force the replacement of a resource.
func (d *Deployment) surroundings(u urn.URN, old, goal *state.Resource) plan.Surroundings {
	return plan.Surroundings{Named: d.scope.Replaces.Match(u) || d.scope.Replaces.Match(old.URN),
		OwnerLeft: d.table.OwnerLeft(old, goal),
		Replaced:  d.table.Replaced(append(slices.Clip(goal.ReplaceWith), goal.DeletedWith)...)}
}

// check has the provider check inputs (E4.21–E4.27).
func (s *record) check(x *plan.Examination, q *plan.Check) error {
	if !q.Second {
		s.cannotIgnore(x)
	}
	name, _ := s.d.naming.Of(s.goal, s.seed)
	r, err := s.provider.Check(s.d.calls, provider.CheckRequest{Subject: provider.SubjectOf(s.reg.URN), Olds: q.Olds,
		News: q.News, RandomSeed: s.seed, AllowUnknowns: s.d.opts.DryRun, Autonaming: name})
	if err != nil {
		return s.d.refused(s.reg.URN, s.reg.Goal.Position, "check", s.goal.Type, err)
	}
	if r.AutonamingIgnored && name.Insist && !q.Second {
		s.d.report.message(Message{URN: s.reg.URN, Severity: diag.Warning, Position: s.reg.Goal.Position, Text: fmt.Sprintf(
			"%s has a name of its own in %s, but its provider cannot be told names; a newer version of it may", s.reg.URN,
			plan.NamingSetting)})
	}
	if len(r.Failures) > 0 {
		s.checkFailures(q.News, r.Failures)
		return s.d.bail()
	}
	x.Checked(r.Inputs)
	return nil
}

// cannotIgnore tells of entries of ignoreChanges that could not be followed (E4.65).
func (s *record) cannotIgnore(x *plan.Examination) {
	for _, path := range x.Ignored {
		s.d.report.message(Message{URN: s.reg.URN, Severity: diag.Info, Position: s.reg.Goal.Position,
			Text: fmt.Sprintf("cannot ignore changes in added or removed elements of the path: %q", path)})
	}
}

// checkFailures tells what a provider has against inputs (E4.26).
func (s *record) checkFailures(news value.Value, failures []provider.Failure) {
	for _, f := range failures {
		text := fmt.Sprintf("%s resource '%s' has a problem: %s", s.goal.Type, s.reg.Goal.Name, f.Reason)
		if f.Property != "" {
			shown := value.Null
			if path, err := value.ParsePath(f.Property); err == nil {
				shown, _ = path.Get(news)
			}
			text = fmt.Sprintf("%s resource '%s': property %s value {%s} has a problem: %s",
				s.goal.Type, s.reg.Goal.Name, f.Property, plan.Printed(shown), f.Reason)
		}
		s.d.report.message(Message{URN: s.reg.URN, Severity: diag.Error, Code: diag.CheckFailed, Text: text,
			Position: s.reg.Goal.Position, Property: f.Property})
	}
}

// compare asks the provider what it takes to get from the old state to the checked inputs (E4.45–E4.49).
func (s *record) compare(x *plan.Examination, q *plan.Compare) error {
	old := x.Old
	r, err := s.provider.Diff(s.d.calls, provider.DiffRequest{
		Subject: provider.SubjectOf(s.reg.URN), ID: old.ID, OldInputs: old.Inputs, OldOutputs: old.Outputs,
		News: q.News, IgnoreChanges: s.goal.IgnoreChanges, AllowUnknowns: s.d.opts.DryRun})
	if err != nil {
		return s.d.refused(s.reg.URN, s.reg.Goal.Position, "compare", s.goal.Type, err)
	}
	if r.Changes == provider.DiffUnavailable {
		s.d.report.message(Message{URN: s.reg.URN, Severity: diag.Warning, Position: s.reg.Goal.Position,
			Text: "The provider for this resource has inputs that are not known during preview.\n" +
				"This preview may not correctly represent the changes that will be applied during an update."})
	}
	x.Compared(r)
	return nil
}
