package engine

import (
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// decide chooses the steps of an examined record and marks what they do to others. again says that meanwhile its old
// state is deleted on behalf of another resource, so that it has to be examined anew.
func (s *record) decide() (steps []Step, again bool, err error) {
	s.d.decisions.Lock()
	defer s.d.decisions.Unlock()
	if s.old != nil && s.deleted == nil && s.d.table.CascadeOf(s.old) != nil {
		return nil, true, nil
	}
	situation := s.situation()
	if situation.Replaces() {
		if err := s.mayReplace(&situation); err != nil {
			return nil, false, err
		}
		// A program that is run for its providers and components deletes nothing on behalf of those.
		if situation.DeleteFirst = s.d.mode == updating && s.deletesFirst(); situation.DeleteFirst {
			if situation.Dependents, err = s.dependents(); err != nil {
				return nil, false, err
			}
		}
	}
	steps = plan.Steps(situation)
	if err := s.d.constraint.decided(s, steps); err != nil {
		return nil, false, s.d.violatesPlan(s.reg.URN, s.reg.Goal.Position, err)
	}
	s.d.table.Mark(s.old, steps)
	return steps, false, nil
}

// deletesFirst decides whether a replacement of the record deletes first (E4.52).
func (s *record) deletesFirst() bool {
	_, fixed := s.d.naming.Of(s.goal, s.seed) // E4.127
	return s.oldState().PendingReplacement || fixed || plan.DeletesFirst(s.diff, s.reg.Goal.DeleteBeforeReplace)
}

// mark notes what steps are going to do that were decided without comparing, so that later decisions take it into
// account.
func (s *record) mark(steps []Step) {
	s.d.decisions.Lock()
	defer s.d.decisions.Unlock()
	s.d.table.Mark(s.old, steps)
}

// mayReplace refuses replacements that must not be (E4.53, E4.73).
func (s *record) mayReplace(situation *plan.Situation) error {
	for _, o := range situation.Obstacles(s.d.opts.DryRun, s.d.opts.IgnoreProtect) {
		m := Message{URN: s.reg.URN, Severity: diag.Warning, Position: s.reg.Goal.Position, Text: o.Text}
		if !o.Warning {
			m.Severity, m.Code = diag.Error, diag.OperationFailed
		}
		s.d.report.message(m)
		if !s.d.opts.DryRun {
			return s.d.bail()
		}
	}
	return nil
}

// dependents finds what has to be deleted before the record is (E4.58). The caller holds decisions.
func (s *record) dependents() ([]plan.Dependent, error) {
	var candidates []plan.Candidate
	for _, r := range s.d.table.Behind(s.old) {
		candidates = append(candidates, plan.Candidate{Resource: r, Forced: s.d.fated(r)})
	}
	c := plan.NewCascade(s.oldState(), candidates, s.d.opts.IgnoreProtect)
	for q := c.Next(); q != nil; q = c.Next() {
		if s.d.table.Decided(q.Resource) {
			c.Skip()
			continue
		}
		answer, err := s.d.compareUnknown(q)
		if err != nil {
			return nil, s.d.refused(s.reg.URN, s.reg.Goal.Position, "compare what depends on", s.goal.Type, err)
		}
		c.Answer(q, answer)
	}
	found, err := c.Dependents()
	if err != nil {
		s.d.report.message(Message{URN: s.reg.URN, Severity: diag.Error, Code: diag.OperationFailed, Text: err.Error(),
			Position: s.reg.Goal.Position})
		return nil, s.d.bail()
	}
	return found, nil
}

// fated finds what makes an old resource be replaced in this operation whatever its provider says, as far as the state
// tells (E4.38–E4.42).
func (d *Deployment) fated(r *state.Resource) plan.Diff {
	if v, ok := plan.Forced(r, r, d.surroundings(r.URN, r, r)); ok {
		return v
	}
	if ref, err := urn.ParseReference(r.Provider); err == nil && len(d.table.Replaced(ref.URN)) > 0 {
		return plan.ProviderReplaced()
	}
	return plan.Diff{}
}

// compareUnknown asks a resource's provider what some unknown inputs would mean.
func (d *Deployment) compareUnknown(q *plan.Question) (provider.DiffResponse, error) {
	r := q.Resource
	p, err := d.registry.Of(r)
	if err != nil {
		return provider.DiffResponse{}, err
	}
	return p.Diff(d.calls, provider.DiffRequest{
		Subject: provider.SubjectOf(r.URN), ID: r.ID, OldInputs: r.Inputs, OldOutputs: r.Outputs, News: q.Inputs,
		IgnoreChanges: r.IgnoreChanges, AllowUnknowns: true})
}
