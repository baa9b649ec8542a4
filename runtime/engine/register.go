package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// RegisterResource registers a resource and returns once it is as the program wants it, or is planned to be (E2.9–E2.37).
// A fault of the request itself is an error of its own; everything else was reported when ErrReported comes back.
func (d *Deployment) RegisterResource(ctx context.Context, r monitor.RegisterRequest) (monitor.RegisterResponse, error) {
	if err := d.enter(); err != nil {
		return monitor.RegisterResponse{}, err
	}
	defer d.leave()
	own, all := d.transformsOf(&r)
	g, err := newGoal(r, d.opts.RootDir)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	g.base, _ = d.extends(r.PackageRef)
	parent := d.goalOf(g.Parent)
	g.inherit(parent)
	if g.Inputs, err = d.withHashes(ctx, g.Inputs); err != nil {
		return monitor.RegisterResponse{}, fmt.Errorf("%s %q: %w", g.Type, g.Name, err)
	}
	if len(all) > 0 {
		if g, err = d.transformed(ctx, g, all); err != nil {
			return monitor.RegisterResponse{}, err
		}
	}
	g.transforms = own
	g.inheritProviders(parent)
	if err := d.resolve(ctx, g); err != nil {
		return monitor.RegisterResponse{}, err
	}
	if g.Remote {
		return d.construct(ctx, g)
	}
	reg, err := d.register(ctx, g)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	return d.response(reg), nil
}

// goalOf is the goal of a resource of this operation, nil if there is none.
func (d *Deployment) goalOf(u urn.URN) *goal {
	d.mu.Lock()
	defer d.mu.Unlock()
	if reg := d.resources[u]; reg != nil {
		return reg.goal
	}
	return nil
}

// resolve completes a goal with its provider, which is registered if it is a default one that is missing (E2.20, E2.22).
func (d *Deployment) resolve(ctx context.Context, g *goal) error {
	if !g.Custom && !g.Remote {
		return nil
	}
	about := func() urn.URN { return urn.New(d.opts.Stack, d.opts.Project, g.Parent, g.Type, g.Name) }
	request, err := d.packageRequest(urn.PackageOf(g.Type), g.PackageRef, monitor.Package{
		Version: g.Version, DownloadURL: g.PluginDownloadURL, Checksums: g.PluginChecksums})
	if err != nil {
		return err
	}
	if urn.IsProviderType(g.Type) {
		g.Inputs = withPackage(g.Inputs, request, g.EnvVarMappings)
		return nil
	}
	g.Provider, err = d.provider(ctx, g.Provider, request, string(about()), g.position)
	return err
}

// register takes a goal through all stages. The registered resource is done when it returns without an error.
func (d *Deployment) register(ctx context.Context, g *goal) (*registered, error) {
	reg, err := d.claim(g)
	if err != nil {
		return nil, err
	}
	l := &held{d: d}
	if reg.carried {
		defer l.free()
		return reg, d.adopt(ctx, reg, g, l)
	}
	defer close(reg.done)
	reg.result = monitor.Failed // until it is known to be better
	if err := l.take(ctx); err != nil {
		return nil, err
	}
	defer l.free()
	if err := d.realize(ctx, reg, l); err != nil {
		if errors.Is(err, errResourceFailed) {
			if d.opts.ContinueOnError {
				return reg, nil
			}
			d.stop()
			return nil, monitor.ErrReported
		}
		return nil, err
	}
	return reg, nil
}

// errResourceFailed says that one resource failed, which was reported.
var errResourceFailed = errors.New("the resource failed")

// held is a lane that its holder may give back while it waits for somebody else.
type held struct {
	d       *Deployment
	release func()
}

func (l *held) take(ctx context.Context) (err error) {
	l.release, err = l.d.lane(ctx)
	return err
}

func (l *held) free() {
	if l.release != nil {
		l.release()
		l.release = nil
	}
}

// waitFor waits without holding the lane.
func (l *held) waitFor(ctx context.Context, done <-chan struct{}) error {
	l.free()
	if err := l.d.wait(ctx, done); err != nil {
		return err
	}
	return l.take(ctx)
}

// claim names a resource and finds what it was before (E4.1–E4.4, E4.13–E4.20).
func (d *Deployment) claim(g *goal) (*registered, error) {
	d.mu.Lock()
	u := urn.New(d.opts.Stack, d.opts.Project, g.Parent, g.Type, g.Name)
	fault := func(code diag.Code, format string, args ...any) (*registered, error) {
		d.mu.Unlock()
		d.report.message(Message{URN: u, Severity: diag.Error, Code: code, Text: fmt.Sprintf(format, args...), Position: g.position})
		return nil, d.bail()
	}
	if g.Parent != "" && d.resources[g.Parent] == nil {
		return fault(diag.OperationFailed, "could not find parent resource %s", g.Parent)
	}
	if r := d.resources[u]; r != nil && r.carried {
		d.mu.Unlock()
		return r, nil
	}
	if d.resources[u] != nil {
		return fault(diag.DuplicateURN, "Duplicate resource URN '%s'; try giving it a unique name", u)
	}
	if by, taken := d.renamed[u]; taken {
		return fault(diag.DuplicateURN, "Duplicate resource alias '%s' applied to resource with URN '%s': "+
			"a resource with that name is registered as well; give one of them another name or remove the alias", u, by)
	}
	reg := &registered{urn: u, goal: g, parent: g.Parent, transforms: g.transforms, done: make(chan struct{})}
	for _, candidate := range d.lineage.candidates(u, g.Parent, g.Aliases) {
		old := d.olds.byURN[candidate]
		if old == nil {
			continue
		}
		if candidate != u { // E4.15, also when the one who was first is done already
			if other, taken := d.renamed[candidate]; taken {
				return fault(diag.DuplicateURN, "Duplicate resource alias '%s' applied to resource with URN '%s' "+
					"conflicting with resource with URN '%s'; remove the alias from one of them", candidate, u, other)
			}
			if d.resources[candidate] != nil {
				return fault(diag.DuplicateURN, "Duplicate resource alias '%s' applied to resource with URN '%s': "+
					"that resource is registered as well; remove the alias or rename one of them", candidate, u)
			}
		}
		if old.now == nil {
			continue
		}
		if candidate != u {
			d.renamed[candidate] = u
		}
		old.claimed = true
		reg.old = old
		break
	}
	d.enlist(reg)
	d.mu.Unlock()
	return reg, nil
}

// enlist adds a resource to those of this operation. The caller holds mu.
func (d *Deployment) enlist(reg *registered) {
	d.resources[reg.urn] = reg
	if p := d.resources[reg.parent]; p != nil {
		p.children = append(p.children, reg.urn)
	}
	if reg.goal != nil && reg.parent == "" && reg.goal.Type == urn.RootStackType {
		d.stack = reg
	}
}

// realize checks, compares, decides and acts. It returns errResourceFailed after a failure that concerns this resource
// only, and otherwise what its caller is to get.
func (d *Deployment) realize(ctx context.Context, reg *registered, l *held) error {
	g := reg.goal
	subject := d.subjectOf(reg)
	if d.poisoned(subject.goal) {
		reg.result = monitor.Skipped
		d.report.skip(reg.urn)
		return nil
	}
	if d.mode != updating && g.Custom && !urn.IsProviderType(g.Type) {
		if d.mode == destroying {
			return d.leaveAlone(ctx, reg, subject, l) // E7.41
		}
		return d.readOnly(ctx, reg, subject, l) // E7.30, E7.31
	}
	in, err := d.inScope(ctx, subject, l)
	if err != nil {
		return err
	}
	if d.mode != updating && !d.withoutSkipped(subject.goal) {
		in = false
	}
	if !in {
		return d.leaveAlone(ctx, reg, subject, l)
	}
	if d.mode == updating {
		if err := d.needsSkipped(subject); err != nil {
			return err
		}
	}
	if d.opts.Refresh && d.opts.RunProgram && d.mode == updating {
		if err := d.readFirst(reg, subject); err != nil {
			return err
		}
	}
	if err := d.connect(subject); err != nil {
		return d.refused(reg.urn, g.position, "start the provider of", g.Type, err)
	}
	if subject.wantsImport() {
		if err := d.importFirst(ctx, reg, subject); err != nil {
			return err
		}
	}
	for {
		if err := d.awaitCascade(ctx, subject, l); err != nil {
			return err
		}
		if err := d.examine(subject); err != nil {
			return err
		}
		chain, again, err := d.decide(subject)
		if err != nil {
			return err
		}
		if again {
			continue
		}
		return d.carryOut(ctx, reg, subject, chain)
	}
}

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
		surroundings := surroundings{replaced: d.wasReplaced,
			named: d.scope.replaces.match(s.reg.urn) || d.scope.replaces.match(old.URN)}
		if !d.opts.DryRun && !s.goal.ReplacementTrigger.IsNull() && s.goal.ReplacementTrigger.ContainsUnknown() {
			return d.refused(s.reg.urn, s.reg.goal.position, "compare", s.goal.Type,
				fmt.Errorf("replacement trigger contains unknowns for %s", s.reg.urn))
		}
		if v, ok := forced(old, s.goal, surroundings); ok {
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
			d.deleting[step.Old.URN] = true
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
		before, _ := s.oldState().Inputs.Lookup(key)
		after, _ := s.goal.Inputs.Lookup(key)
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
	found, err := cascade(s.oldState(), rest, settled, d.opts.IgnoreProtect, d.forcesReplacement)
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

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// refused reports that a provider could not answer about a resource (E4.27, E4.49).
func (d *Deployment) refused(u urn.URN, position, doing, typ string, err error) error {
	if errors.Is(err, monitor.ErrReported) || errors.Is(err, monitor.ErrShutdown) {
		return err
	}
	if d.isTerminated() {
		return monitor.ErrShutdown
	}
	text := err.Error()
	var crash *provider.CrashError
	if errors.As(err, &crash) {
		text = fmt.Sprintf("could not %s %s %q: %s", doing, typ, u.Name(), d.report.crashText(crash))
	}
	d.report.message(Message{URN: u, Severity: diag.Error, Code: diag.OperationFailed, Text: text, Position: position})
	return errResourceFailed
}

// carryOut takes the steps of a registration.
func (d *Deployment) carryOut(ctx context.Context, reg *registered, s *subject, chain []Step) error {
	defer d.endCascades(chain)
	for i := range chain {
		if d.running.Err() != nil || ctx.Err() != nil { // E5.10
			return monitor.ErrShutdown
		}
		step := &chain[i]
		if i > 0 && step.Op == OpReplace && reg.state != nil {
			step.New = reg.state
		}
		result, err := d.step(*step, reg)
		if err != nil {
			return err
		}
		if step.New == nil {
			continue
		}
		if result == nil {
			result = step.New
		}
		if step.Logical() {
			reg.step = *step
			reg.step.New = result
		}
	}
	reg.result = monitor.Succeeded
	return nil
}

// endCascades tells those who wait for the deletions of a chain that they are over.
func (d *Deployment) endCascades(chain []Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range chain {
		if chain[i].Old == nil || chain[i].New != nil {
			continue
		}
		if e := d.olds.of[chain[i].Old]; e != nil && e.cascade != nil && e.cascade.resource == chain[i].Old {
			e.cascade.deleted = e.now == nil || e.now.PendingReplacement
			close(e.cascade.done)
		}
	}
}

// importFirst brings a resource under management as it is (E4.86–E4.91). Afterwards that is the subject's old state.
func (d *Deployment) importFirst(ctx context.Context, reg *registered, s *subject) error {
	old := s.oldState()
	goal := s.goal.Clone()
	goal.ID, goal.Inputs = s.goal.ImportID, value.EmptyMap()
	chain := plan(situation{old: old, goal: goal, importing: true})
	s.takePlace(chain)
	if err := d.planner.imports(chain); err != nil {
		return d.violatesPlan(reg.urn, reg.goal.position, err)
	}
	if old != nil {
		d.decisions.Lock()
		d.mark(s, chain)
		d.decisions.Unlock()
	}
	if err := d.carryOut(ctx, reg, s, chain); err != nil {
		return err
	}
	reg.result = monitor.Failed
	imported := &entry{id: reg.id, position: -1, resource: reg.state, now: reg.state, claimed: true}
	d.mu.Lock()
	d.olds.of[reg.state] = imported
	d.mu.Unlock()
	s.old, s.imported = imported, true
	s.goal = reg.goal.newState(reg.urn, reg.state)
	s.goal.Aliases = slices.Clone(goal.Aliases)
	return nil
}

// response is what the program learns of a registered resource (E2.34–E2.37, E5.30, E5.31).
func (d *Deployment) response(reg *registered) monitor.RegisterResponse {
	r := monitor.RegisterResponse{URN: reg.urn, Outputs: value.EmptyMap(), Result: reg.result}
	if reg.result != monitor.Succeeded || reg.state == nil {
		if reg.goal.Custom {
			r.ID = value.Unknown(value.KindString)
		}
		return r
	}
	r.Known = !reg.unknown
	if !reg.state.Custom { // E2.35
		return r
	}
	r.ID = d.idOf(reg.state)
	r.Outputs = reg.state.Outputs
	return r
}

// idOf is a resource's ID as a program sees it.
func (d *Deployment) idOf(r *state.Resource) value.Value {
	if r.ID == "" || r.ID == UnknownID {
		return value.Unknown(value.KindString)
	}
	return value.String(r.ID)
}
