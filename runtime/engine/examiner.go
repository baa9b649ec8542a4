package engine

import (
	"fmt"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// examiner asks the provider of a resource the questions of the planner. It is safe for concurrent use; each record
// belongs to the caller.
type examiner struct {
	*core
	naming   *plan.Naming
	policies *policies
}

// connect sets the provider of a record; a component has none (E4.8).
func (x *examiner) connect(s *record) (err error) {
	if !s.desired.Custom {
		return nil
	}
	if s.provider, err = x.registry.Of(s.desired); err != nil {
		return x.refused(s, "start the provider of", err)
	}
	return nil
}

// examine has the provider check the inputs and compare them with the prior state. It sets the goal's inputs and the
// diff (E4.21–E4.51).
func (x *examiner) examine(s *record, facts plan.Facts) error {
	if s.provider == nil && len(x.policies.packs) > 0 { // no provider checks the inputs of a component
		var err error
		if facts.Wanted, err = x.policies.inspect(s, facts.Wanted, false); err != nil {
			return err
		}
	}
	e, err := plan.Examine(facts)
	if err != nil {
		return x.refused(s, "compare", err)
	}
	if err := e.Ask(recordAnswers{x: x, s: s}); err != nil {
		return err
	}
	if e.Err != nil {
		return x.refused(s, "compare the provider of", e.Err)
	}
	if s.provider == nil {
		x.cannotIgnore(s, e)
	}
	s.diff = e.Diff
	return nil
}

// recordAnswers puts the planner's questions to the provider of one record, and reports what it rejects.
type recordAnswers struct {
	x *examiner
	s *record
}

// Check has the provider check inputs (E4.21–E4.27).
func (a recordAnswers) Check(e *plan.Examination, q *plan.Check) error {
	x, s := a.x, a.s
	if !q.Second {
		x.cannotIgnore(s, e)
	}
	name, _ := x.naming.Of(s.desired, s.seed)
	r, err := s.provider.Check(x.calls, provider.CheckRequest{Subject: provider.SubjectOf(s.reg.URN), Olds: q.Olds,
		News: q.News, RandomSeed: s.seed, AllowUnknowns: x.opts.DryRun, Autonaming: name})
	if err != nil {
		return x.refused(s, "check", err)
	}
	if r.AutonamingIgnored && name.Insist && !q.Second {
		x.report.message(s.message(Message{Severity: diag.Warning, Text: fmt.Sprintf(
			"%s has its own name in %s, but its provider does not support autonaming; a newer version may", s.reg.URN,
			plan.NamingSetting)}))
	}
	if len(r.Failures) > 0 {
		x.checkFailures(s, q.News, r.Failures)
		return x.failures.bail()
	}
	e.Checked(r.Inputs)
	if len(x.policies.packs) > 0 {
		s.desired.Inputs, err = x.policies.inspect(s, s.desired.Inputs, q.Second)
	}
	return err
}

// cannotIgnore reports paths of ignoreChanges that have no effect (E4.65).
func (x *examiner) cannotIgnore(s *record, e *plan.Examination) {
	for _, path := range e.Ignored {
		x.report.message(s.message(Message{Severity: diag.Info,
			Text: fmt.Sprintf("cannot ignore changes in added or removed elements of the path: %q", path)}))
	}
}

// checkFailures reports the inputs that the provider rejected (E4.26).
func (x *examiner) checkFailures(s *record, news value.Value, failures []provider.Failure) {
	for _, f := range failures {
		text := fmt.Sprintf("%s resource '%s' has a problem: %s", s.desired.Type, s.reg.Goal.Name, f.Reason)
		if f.Property != "" {
			shown := value.Null
			if path, err := value.ParsePath(f.Property); err == nil {
				shown, _ = path.Get(news)
			}
			text = fmt.Sprintf("%s resource '%s': property %s value {%s} has a problem: %s",
				s.desired.Type, s.reg.Goal.Name, f.Property, plan.Printed(shown), f.Reason)
		}
		x.report.message(s.message(Message{Severity: diag.Error, Code: diag.CheckFailed, Text: text,
			Property: f.Property}))
	}
}

// Compare asks the provider for the diff between the prior state and the checked inputs (E4.45–E4.49).
func (a recordAnswers) Compare(e *plan.Examination, q *plan.Compare) error {
	x, s, old := a.x, a.s, e.Old
	r, err := s.provider.Diff(x.calls, provider.DiffRequest{
		Subject: provider.SubjectOf(s.reg.URN), ID: old.ID, OldInputs: old.Inputs, OldOutputs: old.Outputs,
		News: q.News, IgnoreChanges: s.desired.IgnoreChanges, AllowUnknowns: x.opts.DryRun})
	if err != nil {
		return x.refused(s, "compare", err)
	}
	if r.Changes == provider.DiffUnavailable {
		x.report.message(s.message(Message{Severity: diag.Warning,
			Text: "The provider for this resource has inputs that are not known during preview.\n" +
				"This preview may not correctly represent the changes that will be applied during an update."}))
	}
	e.Compared(r)
	return nil
}

// CompareProvider compares the configurations of the resource's former provider and its present one (E3.35).
func (a recordAnswers) CompareProvider(e *plan.Examination, q *plan.CompareProvider) error {
	replaced, err := a.x.registry.Replaces(q.Was, q.Now)
	if err != nil {
		return a.x.refused(a.s, "compare the provider of", err)
	}
	e.ProviderCompared(replaced)
	return nil
}

// refused reports that the provider failed to answer about a record.
func (x *examiner) refused(s *record, doing string, err error) error {
	return x.failures.refused(s.reg.URN, s.reg.Goal.Position, doing, s.desired.Type, err)
}
