package engine

import (
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// decider chooses the steps of resources, one resource at a time: while a replacement finds out what has to be
// deleted with it (E4.58), no other decision about those resources may run. The table records each decision, and
// later decisions read it there. It is safe for concurrent use.
type decider struct {
	*core
	mu       sync.Mutex // held while steps are chosen; the table guards the data
	naming   *plan.Naming
	replaces plan.Patterns // what the user wants to have replaced (E4.104)
}

// decide chooses the steps of an examined record and notes what they do to others. again reports that the record has
// to be examined anew, because another resource has meanwhile planned the deletion of its old state. situation is the
// input of the decision, as far as the record holds it.
func (d *decider) decide(s *record, situation plan.Situation) (steps []Step, again bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.old != nil && s.deleted == nil && s.old.Cascade() != nil {
		return nil, true, nil
	}
	if situation.Replaces() {
		if err := d.mayReplace(s, &situation); err != nil {
			return nil, false, err
		}
		// A program that is run for its providers and components deletes nothing on behalf of those.
		if situation.DeleteFirst = d.mode == updating && d.deletesFirst(s); situation.DeleteFirst {
			if situation.Dependents, err = d.dependents(s); err != nil {
				return nil, false, err
			}
		}
	}
	steps = plan.Steps(situation)
	if err := d.constraint.decided(s, steps); err != nil {
		return nil, false, d.constraint.violation(s.reg.URN, s.reg.Goal.Position, err)
	}
	d.table.Marks.Mark(s.old, steps)
	return steps, false, nil
}

// mark notes what steps are going to do that were decided without comparing, so that later decisions take it into
// account.
func (d *decider) mark(s *record, steps []Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.table.Marks.Mark(s.old, steps)
}

// between calls fn while nothing is decided.
func (d *decider) between(fn func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fn()
}

// deletesFirst decides whether a replacement of the record deletes first (E4.52).
func (d *decider) deletesFirst(s *record) bool {
	_, fixed := d.naming.Of(s.goal, s.seed) // E4.127
	return s.oldState().PendingReplacement || fixed || plan.DeletesFirst(s.diff, s.reg.Goal.DeleteBeforeReplace)
}

// mayReplace refuses replacements that must not be (E4.53, E4.73). A preview tells of them and goes on.
func (d *decider) mayReplace(s *record, situation *plan.Situation) error {
	for _, o := range situation.Obstacles(d.opts.DryRun, d.opts.IgnoreProtect) {
		m := s.message(Message{Severity: diag.Warning, Text: o.Text})
		if !o.Warning {
			m.Severity, m.Code = diag.Error, diag.OperationFailed
		}
		d.report.message(m)
		if !d.opts.DryRun {
			return d.abort()
		}
	}
	return nil
}

// dependents finds what has to be deleted before the record is (E4.58). It asks providers about those whose inputs
// would become unknown. The caller holds mu.
func (d *decider) dependents(s *record) ([]plan.Dependent, error) {
	var candidates []plan.Candidate
	for _, r := range s.old.Behind() {
		candidates = append(candidates, plan.Candidate{Resource: r, Forced: d.forced(r)})
	}
	c := plan.NewCascade(s.oldState(), candidates, d.opts.IgnoreProtect)
	for q := c.Next(); q != nil; q = c.Next() {
		if d.table.Prior.Decided(q.Resource) { // it may have been retained in the meantime, for something out of scope
			c.Skip()
			continue
		}
		answer, err := d.compareUnknown(q)
		if err != nil {
			return nil, d.failures.refused(s.reg.URN, s.reg.Goal.Position, "compare the dependants of", s.goal.Type, err)
		}
		c.Answer(q, answer)
	}
	found, err := c.Dependents()
	if err != nil {
		return nil, d.failures.abort(s.reg.URN, s.reg.Goal.Position, err.Error())
	}
	return found, nil
}

// forced finds what makes an old resource be replaced in this operation whatever its provider says, as far as the state
// tells (E4.38–E4.42).
func (d *decider) forced(r *state.Resource) plan.Diff {
	if v, ok := plan.Forced(r, r, d.surroundings(r.URN, r, r)); ok {
		return v
	}
	if ref, err := urn.ParseReference(r.Provider); err == nil && len(d.table.Marks.Replaced(ref.URN)) > 0 {
		return plan.ProviderReplaced()
	}
	return plan.Diff{}
}

// surroundings returns the facts about the operation that may force the replacement of a resource.
func (d *decider) surroundings(u urn.URN, old, goal *state.Resource) plan.Surroundings {
	return plan.Surroundings{Named: d.replaces.Match(u) || d.replaces.Match(old.URN),
		OwnerLeft: d.table.OwnerLeft(old, goal),
		Replaced:  d.table.Marks.Replaced(append(slices.Clip(goal.ReplaceWith), goal.DeletedWith)...)}
}

// compareUnknown asks a resource's provider what some unknown inputs would mean.
func (d *decider) compareUnknown(q *plan.Question) (provider.DiffResponse, error) {
	r := q.Resource
	p, err := d.registry.Of(r)
	if err != nil {
		return provider.DiffResponse{}, err
	}
	return p.Diff(d.calls, provider.DiffRequest{
		Subject: provider.SubjectOf(r.URN), ID: r.ID, OldInputs: r.Inputs, OldOutputs: r.Outputs, News: q.Inputs,
		IgnoreChanges: r.IgnoreChanges, AllowUnknowns: true})
}
