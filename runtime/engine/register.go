package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
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
	g, err := plan.NewGoal(r, d.opts.RootDir)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	g.Base, _ = d.extends(r.PackageRef)
	parent := d.goalOf(g.Parent)
	g.Inherit(parent)
	if g.Inputs, err = d.withHashes(ctx, g.Inputs); err != nil {
		return monitor.RegisterResponse{}, fmt.Errorf("%s %q: %w", g.Type, g.Name, err)
	}
	if len(all) > 0 {
		if g, err = d.transformed(ctx, g, all); err != nil {
			return monitor.RegisterResponse{}, err
		}
	}
	g.Own = own
	g.InheritProviders(parent)
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
func (d *Deployment) goalOf(u urn.URN) *plan.Goal {
	d.mu.Lock()
	defer d.mu.Unlock()
	if reg := d.resources[u]; reg != nil {
		return reg.goal
	}
	return nil
}

// resolve completes a goal with its provider, which is registered if it is a default one that is missing (E2.20, E2.22).
func (d *Deployment) resolve(ctx context.Context, g *plan.Goal) error {
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
	g.Provider, err = d.provider(ctx, g.Provider, request, string(about()), g.Position)
	return err
}

// register takes a goal through all stages. The registered resource is done when it returns without an error.
func (d *Deployment) register(ctx context.Context, g *plan.Goal) (*registered, error) {
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
func (d *Deployment) claim(g *plan.Goal) (*registered, error) {
	d.mu.Lock()
	u := urn.New(d.opts.Stack, d.opts.Project, g.Parent, g.Type, g.Name)
	fault := func(code diag.Code, format string, args ...any) (*registered, error) {
		d.mu.Unlock()
		d.report.message(Message{URN: u, Severity: diag.Error, Code: code, Text: fmt.Sprintf(format, args...), Position: g.Position})
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
	if by, taken := d.keptNames[u]; taken {
		return fault(diag.DuplicateURN, "Duplicate resource URN '%s': the resource of that name becomes '%s', which the operation "+
			"leaves out; include that too", u, by)
	}
	reg := &registered{urn: u, goal: g, parent: g.Parent, transforms: g.Own, done: make(chan struct{})}
	for _, candidate := range d.lineage.Candidates(u, g.Parent, g.Aliases) {
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
			return d.leaveAlone(ctx, reg, subject, true, l) // E7.41
		}
		return d.readOnly(ctx, reg, subject, l) // E7.30, E7.31
	}
	in, err := d.inScope(ctx, subject, l)
	if err != nil {
		return err
	}
	if reachable := d.mode == updating || d.withoutSkipped(subject.goal); !in || !reachable {
		return d.leaveAlone(ctx, reg, subject, in, l)
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
		return d.refused(reg.urn, g.Position, "start the provider of", g.Type, err)
	}
	if plan.WantsImport(subject.oldState(), subject.goal) {
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
		if err := d.keepPlace(subject, chain); err != nil {
			return err
		}
		return d.carryOut(ctx, reg, subject, chain)
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
		if e := d.olds.of[chain[i].Old]; e != nil && e.cascade != nil && e.cascade.Resource == chain[i].Old {
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
	situation := s.situation()
	situation.Goal, situation.Importing = goal, true
	chain := plan.Steps(situation)
	if err := d.planner.imports(chain); err != nil {
		return d.violatesPlan(reg.urn, reg.goal.Position, err)
	}
	if err := d.keepPlace(s, chain); err != nil {
		return err
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
	s.goal = reg.goal.NewState(reg.urn, reg.state)
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

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
