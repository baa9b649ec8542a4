package engine

import (
	"errors"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// decider chooses the steps of one resource at a time: while it determines which dependants a replacement deletes
// (E4.58), no other decision about those resources may run. The table records each decision, and later decisions read
// it there. It is safe for concurrent use.
type decider struct {
	*core
	mu       sync.Mutex // held while steps are chosen; the table guards the data
	naming   *plan.Naming
	replaces plan.Patterns // the resources to replace (E4.104)
}

// decide chooses the steps of an examined record and marks their effect on other resources in the table. again reports
// whether the record must be examined anew, because another resource has meanwhile planned the deletion of its prior
// resource. situation is the input of the decision, as far as the record determines it.
func (d *decider) decide(s *record, situation plan.Situation) (steps []Step, again bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.old != nil && s.deleted == nil && s.old.Cascade() != nil {
		return nil, true, nil
	}
	_, fixed := d.naming.Of(s.desired, s.seed)
	steps, err = plan.Decide(situation, plan.Replacing{
		DryRun: d.opts.DryRun, Unprotected: d.opts.IgnoreProtect, FixedName: fixed,
		Wanted: s.reg.Goal.DeleteBeforeReplace, Undeleted: d.mode != updating,
		Obstacle:   func(o plan.Obstacle) { d.reportObstacle(s, o) },
		Dependents: func() ([]plan.Dependent, error) { return d.dependents(s) },
	})
	switch {
	case errors.Is(err, plan.ErrRefused):
		return nil, false, d.failures.bail()
	case err != nil:
		return nil, false, err
	}
	if err := d.constraint.decided(s, steps); err != nil {
		return nil, false, d.constraint.violation(s.reg.URN, s.reg.Goal.Position, err)
	}
	d.table.Marks.Mark(s.old, steps)
	return steps, false, nil
}

// mark records the effect of steps that were decided without a comparison, so that later decisions consider it.
func (d *decider) mark(s *record, steps []Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.table.Marks.Mark(s.old, steps)
}

// between calls fn while no decision is in progress.
func (d *decider) between(fn func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fn()
}

// reportObstacle reports why the resource must not be replaced (E4.53, E4.73).
func (d *decider) reportObstacle(s *record, o plan.Obstacle) {
	m := s.message(Message{Severity: diag.Warning, Text: o.Text})
	if !o.Warning {
		m.Severity, m.Code = diag.Error, diag.OperationFailed
	}
	d.report.message(m)
}

// dependents returns the resources that must be deleted before the record's prior resource (E4.58). It asks the
// providers about dependants whose inputs would become unknown. The caller holds mu.
func (d *decider) dependents(s *record) ([]plan.Dependent, error) {
	var candidates []plan.Candidate
	for _, r := range s.old.Behind() {
		candidates = append(candidates, plan.Candidate{Resource: r, Forced: d.forced(r)})
	}
	found, err := plan.NewCascade(s.oldState(), candidates, d.opts.IgnoreProtect).Ask(d.compareUnknown)
	switch _, protected := errors.AsType[*plan.ProtectedError](err); {
	case protected:
		return nil, d.failures.bailWith(s.reg.URN, s.reg.Goal.Position, err.Error())
	case err != nil:
		return nil, d.failures.refused(s.reg.URN, s.reg.Goal.Position, "compare the dependants of", s.desired.Type, err)
	}
	return found, nil
}

// forced returns the diff of a prior resource that must be replaced whatever its provider answers, as far as the state
// determines that (E4.38–E4.42); the zero Diff for all others.
func (d *decider) forced(r *state.Resource) plan.Diff {
	if v, ok := plan.Forced(r, r, d.surroundings(r.URN, r, r)); ok {
		return v
	}
	if ref, err := urn.ParseReference(r.Provider); err == nil && len(d.table.Marks.Replaced(ref.URN)) > 0 {
		return plan.ProviderReplaced()
	}
	return plan.Diff{}
}

// surroundings returns the facts outside of a resource that may force its replacement.
func (d *decider) surroundings(u urn.URN, old, goal *state.Resource) plan.Surroundings {
	return plan.Surroundings{Named: d.replaces.Match(u) || d.replaces.Match(old.URN),
		OwnerLeft: d.table.OwnerLeft(old, goal),
		Replaced:  d.table.Marks.Replaced(append(slices.Clip(goal.ReplaceWith), goal.DeletedWith)...)}
}

// compareUnknown asks the provider of a resource to compare its state with inputs that are partly unknown. It returns
// nil if the resource had a step meanwhile: then it was retained for an untargeted resource.
func (d *decider) compareUnknown(q *plan.Question) (*provider.DiffResponse, error) {
	r := q.Resource
	if d.table.Prior.Decided(r) {
		return nil, nil
	}
	p, err := d.registry.Of(r)
	if err != nil {
		return nil, err
	}
	answer, err := p.Diff(d.calls, provider.DiffRequest{
		Subject: provider.SubjectOf(r.URN), ID: r.ID, OldInputs: r.Inputs, OldOutputs: r.Outputs, News: q.Inputs,
		IgnoreChanges: r.IgnoreChanges, AllowUnknowns: true})
	return &answer, err
}
