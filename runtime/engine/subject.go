package engine

import (
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// inScope decides whether the operation is about a resource. One that was deleted on behalf of something in scope is.
func (d *Deployment) inScope(ctx context.Context, s *subject, l *held) (bool, error) {
	known := []urn.URN{s.reg.urn}
	if old := s.oldState(); old != nil && old.URN != s.reg.urn {
		known = append(known, old.URN)
	}
	d.mu.Lock()
	in := d.scope.admits(s.goal, known...)
	d.mu.Unlock()
	if in {
		return true, nil
	}
	err := d.awaitCascade(ctx, s, l)
	return s.deleted != nil, err
}

// subject is a registration on its way from its goal to its steps.
type subject struct {
	reg      *registered
	wanted   value.Value // the program's inputs
	goal     *state.Resource
	old      *entry // what it was, or what was imported
	provider provider.Configured
	seed     []byte
	imported bool
	deleted  *dependent
	verdict  verdict
	// recreated is the entry of a resource that was found to be gone, in whose place it is created anew.
	recreated *entry
}

func (d *Deployment) subjectOf(reg *registered) *subject {
	s := &subject{reg: reg, wanted: reg.goal.Inputs, old: reg.old, seed: d.planner.seed(reg.urn)}
	if s.seed == nil {
		s.seed = d.opts.Seed()
	}
	s.goal = reg.goal.newState(reg.urn, s.oldState())
	return s
}

func (s *subject) oldState() *state.Resource {
	if s.old == nil {
		return nil
	}
	return s.old.resource
}

// wantsImport decides whether the resource is to be imported (E4.86).
func (s *subject) wantsImport() bool {
	old := s.oldState()
	return s.goal.Custom && s.goal.ImportID != "" &&
		(old == nil || old.External || orElse(old.ImportID, old.ID) != s.goal.ImportID)
}

// connect finds the provider of a resource; a component has none (E4.8).
func (d *Deployment) connect(s *subject) (err error) {
	if s.goal.Custom {
		s.provider, err = d.registry.of(s.goal)
	}
	return err
}

// awaitCascade waits, when the old state is being deleted on behalf of another resource, for the end of that (E4.30).
func (d *Deployment) awaitCascade(ctx context.Context, s *subject, l *held) error {
	s.deleted = nil
	if s.old == nil {
		return nil
	}
	d.mu.Lock()
	c := s.old.cascade
	d.mu.Unlock()
	if c == nil {
		return nil
	}
	if err := l.waitFor(ctx, c.done); err != nil {
		return err
	}
	if c.deleted {
		s.deleted = &c.dependent
	} else {
		d.mu.Lock()
		s.old.cascade = nil
		d.mu.Unlock()
	}
	return nil
}

// examine has the provider check the inputs and compare them with what was: it fills in the goal's inputs and the verdict
// (E4.21–E4.51).
func (d *Deployment) examine(s *subject) error {
	old := s.oldState()
	s.verdict = verdict{}
	fresh := old == nil || s.deleted != nil || old.External
	if !fresh {
		if !d.opts.DryRun && !s.goal.ReplacementTrigger.IsNull() && s.goal.ReplacementTrigger.ContainsUnknown() {
			return d.refused(s.reg.urn, s.reg.goal.position, "compare", s.goal.Type,
				fmt.Errorf("replacement trigger contains unknowns for %s", s.reg.urn))
		}
		if v, ok := forced(old, s.goal, d.surroundings(s.reg.urn, old, s.goal)); ok {
			s.verdict = v
		}
	}
	if err := d.check(s, fresh || s.verdict.unchecked, false); err != nil {
		return err
	}
	if fresh {
		return nil
	}
	if !s.verdict.replace {
		if err := d.compare(s); err != nil {
			return err
		}
	}
	s.verdict = replacingOn(s.verdict, s.goal.ReplaceOnChanges, len(old.InitErrors) > 0)
	if (s.verdict.replace || old.PendingReplacement) && !s.verdict.unchecked {
		return d.check(s, true, true) // E4.21, third row
	}
	return nil
}

// surroundings are the facts about the operation that may force the replacement of a resource.
func (d *Deployment) surroundings(u urn.URN, old, goal *state.Resource) surroundings {
	return surroundings{replaced: d.wasReplaced, named: d.scope.replaces.match(u) || d.scope.replaces.match(old.URN),
		ownerLeft: d.goesWithLeftover(old, goal)}
}

func (d *Deployment) wasReplaced(u urn.URN) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.replaced[u]
}

// check has the provider check the wanted inputs, with the old ones unless the resource is to be made anew. A second
// check sees what the program wants without ignoreChanges (E9.4).
func (d *Deployment) check(s *subject, anew, second bool) error {
	olds, news := value.EmptyMap(), s.wanted
	if old := s.oldState(); old != nil && !anew {
		olds = old.Inputs
	}
	recorded := d.recorded(s.reg.urn)
	if anew && recorded != nil {
		olds = recorded.Inputs
	}
	if old := s.oldState(); old != nil && !second && s.deleted == nil && !old.External && len(s.goal.IgnoreChanges) > 0 {
		var failed []string
		news, failed = ignoring(s.goal.IgnoreChanges, old.Inputs, news)
		for _, path := range failed {
			d.report.message(Message{URN: s.reg.urn, Severity: diag.Info, Position: s.reg.goal.position,
				Text: fmt.Sprintf("cannot ignore changes in added or removed elements of the path: %q", path)})
		}
	}
	s.goal.Inputs = news
	if s.provider == nil { // E4.23
		return nil
	}
	name, _ := d.naming.of(s.goal, s.seed)
	r, err := s.provider.Check(d.calls, provider.CheckRequest{Subject: provider.SubjectOf(s.reg.urn), Olds: olds, News: news,
		RandomSeed: s.seed, AllowUnknowns: d.opts.DryRun, Autonaming: name})
	if err != nil {
		return d.refused(s.reg.urn, s.reg.goal.position, "check", s.goal.Type, err)
	}
	if r.AutonamingIgnored && name.Insist && !second {
		d.report.message(Message{URN: s.reg.urn, Severity: diag.Warning, Position: s.reg.goal.position, Text: fmt.Sprintf(
			"%s has a name of its own in %s, but its provider cannot be told names; a newer version of it may", s.reg.urn, namingSetting)})
	}
	if len(r.Failures) > 0 {
		d.checkFailures(s, news, r.Failures)
		return d.bail()
	}
	if r.Inputs.Is(value.KindMap) {
		s.goal.Inputs = withoutDeps(r.Inputs)
	}
	if anew && recorded != nil {
		s.goal.Inputs = againWith(recorded.Inputs, news, s.goal.Inputs)
	}
	return nil
}

// checkFailures tells what a provider has against inputs (E4.26).
func (d *Deployment) checkFailures(s *subject, news value.Value, failures []provider.Failure) {
	for _, f := range failures {
		text := fmt.Sprintf("%s resource '%s' has a problem: %s", s.goal.Type, s.reg.goal.Name, f.Reason)
		if f.Property != "" {
			shown := value.Null
			if path, err := value.ParsePath(f.Property); err == nil {
				shown, _ = path.Get(news)
			}
			text = fmt.Sprintf("%s resource '%s': property %s value {%s} has a problem: %s",
				s.goal.Type, s.reg.goal.Name, f.Property, printed(shown), f.Reason)
		}
		d.report.message(Message{URN: s.reg.urn, Severity: diag.Error, Code: diag.CheckFailed, Text: text,
			Position: s.reg.goal.position, Property: f.Property})
	}
}

// printed is a value for people: a plain text as it is, everything else as the value prints, secrets hidden.
func printed(v value.Value) string {
	if text, ok := v.AsString(); ok && !v.IsSecret() {
		return text
	}
	return v.String()
}

// compare asks what it takes to get from the old state to the checked inputs (E4.42–E4.49).
func (d *Deployment) compare(s *subject) error {
	old := s.oldState()
	replaced, err := d.providerReplaced(old, s.goal)
	if err != nil {
		return d.refused(s.reg.urn, s.reg.goal.position, "compare the provider of", s.goal.Type, err)
	}
	if replaced {
		s.verdict = providerReplaced()
		return nil
	}
	if !s.goal.Custom {
		s.verdict = componentVerdict(old, s.goal)
		return nil
	}
	r, err := s.provider.Diff(d.calls, provider.DiffRequest{
		Subject: provider.SubjectOf(s.reg.urn), ID: old.ID, OldInputs: old.Inputs, OldOutputs: old.Outputs,
		News: s.goal.Inputs, IgnoreChanges: s.goal.IgnoreChanges, AllowUnknowns: d.opts.DryRun})
	if err != nil {
		return d.refused(s.reg.urn, s.reg.goal.position, "compare", s.goal.Type, err)
	}
	if r.Changes == provider.DiffUnavailable {
		d.report.message(Message{URN: s.reg.urn, Severity: diag.Warning, Position: s.reg.goal.position,
			Text: "The provider for this resource has inputs that are not known during preview.\n" +
				"This preview may not correctly represent the changes that will be applied during an update."})
	}
	s.verdict = providerVerdict(r, old.Inputs, s.goal.Inputs, s.goal.IgnoreChanges)
	return nil
}

// providerReplaced reports whether a resource's provider is another one now, so that the resource cannot stay (E3.35).
func (d *Deployment) providerReplaced(old, goal *state.Resource) (bool, error) {
	if old.Provider == goal.Provider {
		return old.Custom != goal.Custom, nil
	}
	if old.Provider == "" || goal.Provider == "" {
		return true, nil
	}
	before, err := urn.ParseReference(old.Provider)
	if err != nil {
		return false, err
	}
	now, err := urn.ParseReference(goal.Provider)
	if err != nil {
		return false, err
	}
	d.mu.Lock()
	renamed := before.ID == now.ID && d.renamedFrom(now.URN) == before.URN
	was := d.olds.providers[old.Provider]
	d.mu.Unlock()
	if renamed || was == nil {
		return false, nil
	}
	return d.registry.configReplaces(was, now)
}

// poisoned reports whether a resource depends on one that failed or was skipped (E5.44).
func (d *Deployment) poisoned(r *state.Resource) bool {
	if !d.opts.ContinueOnError {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	bad := false
	r.AllDependencies(func(u urn.URN) {
		if dep := d.resources[u]; dep != nil && isDone(dep.done) && dep.result != monitor.Succeeded {
			bad = true
		}
	})
	return bad
}
