package engine

import (
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// decide chooses the steps of an examined subject and marks what they do to others. again says that meanwhile its old
// state is deleted on behalf of another resource, so that it has to be examined anew.
func (d *Deployment) decide(s *subject) (chain []Step, again bool, err error) {
	d.decisions.Lock()
	defer d.decisions.Unlock()
	old := s.oldState()
	d.mu.Lock()
	interrupted := s.old != nil && s.old.cascade != nil && s.deleted == nil
	d.mu.Unlock()
	if interrupted {
		return nil, true, nil
	}
	situation := situation{old: old, goal: s.goal, deleted: s.deleted, imported: s.imported, verdict: s.verdict}
	if old != nil && s.deleted == nil && !old.External && (s.verdict.replace || old.PendingReplacement) {
		if err := d.mayReplace(s); err != nil {
			return nil, false, err
		}
		situation.before = s.verdict.deleteBeforeReplace
		if wanted := s.reg.goal.DeleteBeforeReplace; wanted != nil {
			situation.before = *wanted
		}
		if _, fixed := d.naming.of(s.goal, s.seed); old.PendingReplacement || fixed { // E4.127
			situation.before = true
		}
		if d.mode != updating { // a program is run for its providers and components, and nothing is to go on behalf of those
			situation.before = false
		}
		if situation.before {
			if situation.dependents, err = d.dependents(s); err != nil {
				return nil, false, err
			}
		}
	}
	chain = plan(situation)
	s.takePlace(chain)
	if err := d.planner.decided(s, chain); err != nil {
		return nil, false, d.violatesPlan(s.reg.urn, s.reg.goal.position, err)
	}
	d.mark(s, chain)
	return chain, false, nil
}

// takePlace has a new resource take the place of one that was found to be gone.
func (s *subject) takePlace(chain []Step) {
	if s.recreated != nil && len(chain) > 0 && (chain[0].Op == OpCreate || chain[0].Op == OpImport) {
		chain[0].over = s.recreated.id
	}
}

// mark notes what a chain is going to do, so that later decisions take it into account. The caller holds decisions.
func (d *Deployment) mark(s *subject, chain []Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.old != nil {
		s.old.settled = true
	}
	for i := range chain {
		switch step := &chain[i]; step.Op {
		case OpReplace:
			d.replaced[step.URN] = true
			d.replaced[step.Old.URN] = true
			if i == 0 || chain[i-1].New == nil { // what is created first stays until the end
				d.deleting[step.Old.URN] = true
			}
		case OpDelete, OpDeleteReplaced:
			if !step.Old.Delete {
				d.deleting[step.URN] = true
			}
			if e := d.olds.of[step.Old]; e != nil && e != s.old {
				e.cascade = &cascaded{dependent: dependent{step.Old, step.Keys, step.Reason}, done: make(chan struct{})}
				d.replaced[step.URN] = true
			}
		}
	}
}

// mayReplace refuses replacements that must not be (E4.53, E4.73).
func (d *Deployment) mayReplace(s *subject) error {
	old := s.oldState()
	if old.Protect && s.goal.Protect && !d.opts.IgnoreProtect {
		d.report.message(Message{URN: s.reg.urn, Severity: diag.Error, Code: diag.OperationFailed, Position: s.reg.goal.position,
			Text: fmt.Sprintf("unable to replace resource %q\nas it is protected. To allow it, set the option protect of the "+
				"resource to false and run again, or use `state unprotect '%s'`", s.reg.urn, s.reg.urn)})
		if !d.opts.DryRun {
			return d.bail()
		}
	}
	if s.goal.ImportID != "" {
		text := fmt.Sprintf("previously-imported resources that still specify an ID may not be replaced; "+
			"please remove the `import` declaration from your program%s", describeKeys(s))
		if !d.opts.DryRun {
			d.report.message(Message{URN: s.reg.urn, Severity: diag.Error, Code: diag.OperationFailed, Position: s.reg.goal.position, Text: text})
			return d.bail()
		}
		d.report.message(Message{URN: s.reg.urn, Severity: diag.Warning, Position: s.reg.goal.position, Text: text})
	}
	return nil
}

// describeKeys lists what forces a replacement with old and new values, secrets hidden.
func describeKeys(s *subject) string {
	text := ""
	for _, key := range s.verdict.keys {
		before, had := s.oldState().Inputs.Lookup(key)
		after, has := s.goal.Inputs.Lookup(key)
		if !had && !has { // as of one that is tainted
			continue
		}
		text += fmt.Sprintf("\n  %s: %s => %s", key, before, after)
	}
	return text
}

// dependents finds what has to be deleted before the subject is (E4.58). The caller holds decisions.
func (d *Deployment) dependents(s *subject) ([]dependent, error) {
	if s.old.position < 0 {
		return nil, nil
	}
	entries := d.olds.entries[s.old.position+1:]
	rest := make([]*state.Resource, len(entries))
	for i, e := range entries {
		rest[i] = e.resource
	}
	settled := func(r *state.Resource) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		e := d.olds.of[r]
		return e.settled || e.cascade != nil || e.now == nil
	}
	found, err := cascade(s.oldState(), rest, settled, d.opts.IgnoreProtect, d.fated, d.forcesReplacement)
	if err == nil {
		return found, nil
	}
	var protected *protectedError
	if errors.As(err, &protected) {
		d.report.message(Message{URN: s.reg.urn, Severity: diag.Error, Code: diag.OperationFailed, Text: err.Error(),
			Position: s.reg.goal.position})
		return nil, d.bail()
	}
	return nil, d.refused(s.reg.urn, s.reg.goal.position, "compare what depends on", s.goal.Type, err)
}

// fated finds what makes an old resource be replaced in this operation whatever its provider says, as far as the state
// tells (E4.38–E4.42).
func (d *Deployment) fated(r *state.Resource) (verdict, bool) {
	if v, ok := forced(r, r, d.surroundings(r.URN, r, r)); ok {
		return v, true
	}
	if ref, err := urn.ParseReference(r.Provider); err == nil && d.wasReplaced(ref.URN) {
		return providerReplaced(), true
	}
	return verdict{}, false
}

// forcesReplacement asks a resource's provider whether it would have to be replaced if some of its inputs changed, to what
// is not known (E4.58c).
func (d *Deployment) forcesReplacement(r *state.Resource, properties []string) (bool, []string, error) {
	p, err := d.registry.of(r)
	if err != nil {
		return false, nil, err
	}
	inputs := r.Inputs
	for _, key := range properties {
		inputs = inputs.With(key, value.Unknown(value.KindAny))
	}
	inputs, _ = ignoring(r.IgnoreChanges, r.Inputs, inputs)
	answer, err := p.Diff(d.calls, provider.DiffRequest{
		Subject: provider.SubjectOf(r.URN), ID: r.ID, OldInputs: r.Inputs, OldOutputs: r.Outputs, News: inputs,
		IgnoreChanges: r.IgnoreChanges, AllowUnknowns: true})
	if err != nil {
		return false, nil, err
	}
	v := replacingOn(providerVerdict(answer, r.Inputs, inputs, r.IgnoreChanges), r.ReplaceOnChanges, false)
	return v.replace, v.keys, nil
}
