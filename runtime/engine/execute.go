package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
)

// execution is a step that is being taken.
type execution struct {
	Step
	// views is what the provider tells of views in the meantime; nil when it has nothing to tell.
	views *viewing
	// command is what an import without a program is about.
	command *Import
}

// step takes one step; see execute.
func (d *Deployment) step(s Step, reg *resources.Registration) (*state.Resource, error) {
	return d.execute(&execution{Step: s}, reg)
}

// execute takes one step: it announces, records, acts, records again and reports (5.2). reg is the registration that the
// step belongs to, nil for a deletion. The result is the new state, nil where there is none. A failure was reported and
// comes back as errResourceFailed.
func (d *Deployment) execute(s *execution, reg *resources.Registration) (*state.Resource, error) {
	began := d.opts.Now()
	d.report.started(s.Step)
	at := d.positions(&s.Step)
	var number int64
	if op, ok := operationOf(&s.Step); ok {
		var err error
		if number, err = d.ledger.begin(d.calls, op); err != nil { // E5.11
			return nil, d.journalFailed(&s.Step, err)
		}
	}
	d.watchViews(s)
	result, err := d.performHooked(s)
	if d.isTerminated() { // E5.51
		return nil, monitor.ErrShutdown
	}
	if result != nil && !s.Verbatim {
		d.markSecrets(&s.Step, result)
	}
	var failure *provider.Error
	partial := errors.As(err, &failure) && failure.Outcome == provider.Partial && result != nil
	if s.New == nil { // E4.115: views leave the state before their owner
		if err := d.settleViews(s.views, true, err == nil); err != nil {
			return nil, d.journalFailed(&s.Step, err)
		}
	}
	if err == nil || partial {
		if err := d.record(&s.Step, result, at, number, reg); err != nil {
			return nil, d.journalFailed(&s.Step, err)
		}
	} else if number != 0 && !lostSight(err) {
		if err := d.ledger.commit(d.calls, emptyEnd(number)); err != nil {
			return nil, d.journalFailed(&s.Step, err)
		}
	}
	took := d.opts.Now().Sub(began)
	shown := s.Step
	if result != nil {
		shown.New = result
	}
	if err != nil {
		d.report.stepFailed(shown, err, took)
		if err := d.settleViews(s.views, partial || s.Op == OpUpdate || s.Op == OpRead && s.Old != nil, false); err != nil {
			return nil, d.journalFailed(&s.Step, err)
		}
		return nil, errResourceFailed
	}
	about := s.About()
	d.report.finished(shown, s.Op, d.opts.DryRun || about.Custom || s.Op == OpDelete, took)
	if about.Custom || s.New == nil {
		d.afterHooks(&s.Step, result)
	}
	if err := d.settleViews(s.views, true, false); err != nil {
		return nil, d.journalFailed(&s.Step, err)
	}
	if s.Op == OpSame {
		if err := d.sameViews(s); err != nil {
			return nil, d.journalFailed(&s.Step, err)
		}
	}
	return result, nil
}

// lostSight reports whether nobody can tell what a failed call did, because the plugin died in the middle or its answer
// could not be understood. The operation then stays pending, for the next run to settle (D10).
func lostSight(err error) bool {
	var crash *provider.CrashError
	var failure *provider.Error
	return errors.As(err, &crash) || errors.As(err, &failure) && failure.Lost
}

// journalFailed stops everything: without a journal nothing may be done.
func (d *Deployment) journalFailed(s *Step, err error) error {
	if d.isTerminated() {
		return monitor.ErrShutdown
	}
	d.report.message(Message{URN: s.URN, Severity: diag.Error, Code: diag.OperationFailed, Position: positionOf(s.New, s.Old),
		Text: "could not record the state: " + err.Error()})
	d.stop()
	return monitor.ErrReported
}

// positions finds the places in the journal that a step is about.
func (d *Deployment) positions(s *Step) resources.Positions {
	at := d.table.Positions(s)
	if at.Moving != nil { // it is recorded first that it has another position
		<-at.Moving
	}
	switch {
	case s.Position != 0:
		at.New = s.Position
	case s.New != nil && s.Op != OpReplace:
		at.New = d.ledger.newID()
	}
	return at
}

// record writes down a step's success and makes it the present state of everything.
func (d *Deployment) record(s *Step, result *state.Resource, at resources.Positions, number int64, reg *resources.Registration) error {
	e := success(s, result, at)
	e.Step = number
	if s.Op == OpCreate || s.Op == OpCreateReplacement {
		if d.recorded(s.URN) != nil {
			e.Retried = s.URN
		}
	}
	switch {
	case s.Op == OpSame && materiallySame(at.OldNow, result):
		d.ledger.commitLate(e)
	case len(e.Remove)+len(e.Amend)+len(e.Add) > 0:
		if err := d.ledger.commit(d.calls, e); err != nil {
			return err
		}
	}
	d.table.Recorded(s, result, at, e, reg, d.opts.DryRun)
	return nil
}

// perform does what a step is about and answers with the new state, nil where there is none. After a partial failure both a
// state and an error come back.
func (d *Deployment) perform(s *execution) (*state.Resource, error) {
	switch s.Op {
	case OpSame:
		return d.performSame(s)
	case OpCreate, OpCreateReplacement:
		return d.performCreate(s)
	case OpUpdate:
		return d.performUpdate(s)
	case OpDelete, OpDeleteReplaced, OpDiscard, OpDiscardReplaced:
		return nil, d.performDelete(s)
	case OpRead, OpReadReplacement:
		return d.performRead(s)
	case OpImport, OpImportReplacement:
		if s.command != nil {
			return d.performCommandImport(s)
		}
		return d.performImport(s)
	case OpReplace, OpRemovePendingReplace, OpRefresh:
		return nil, nil
	}
	return nil, fmt.Errorf("no way is known to carry out the operation %q", s.Op)
}

func (d *Deployment) performSame(s *execution) (*state.Resource, error) { // E5.20
	if s.Verbatim {
		return s.New.Clone(), nil
	}
	n := s.New.Clone()
	n.ID, n.Outputs, n.Created, n.Modified = s.Old.ID, s.Old.Outputs, s.Old.Created, s.Old.Modified
	if n.IsProvider() {
		// An unchanged provider goes on with its old inputs, not with those just checked (E3.11).
		n.Inputs = s.Old.Inputs
		return n, d.registry.Keep(s.Old, n)
	}
	return n, nil
}

func (d *Deployment) performCreate(s *execution) (*state.Resource, error) { // E5.21
	n := s.New.Clone()
	n.Created = d.now()
	n.Modified = n.Created
	n.InitErrors, n.RefreshBeforeUpdate = nil, false
	if !n.Custom {
		return n, nil
	}
	p, err := d.registry.Of(n)
	if err != nil {
		return nil, err
	}
	r, err := p.Create(d.calls, provider.CreateRequest{
		Subject: provider.SubjectOf(n.URN), Inputs: n.Inputs, Timeout: n.CustomTimeouts.Create, Preview: d.opts.DryRun,
		Views: s.views.request()})
	if err != nil {
		var failure *provider.Error
		if errors.As(err, &failure) && failure.Outcome == provider.Partial && failure.ID != "" { // E5.36
			n.ID, n.Outputs, n.InitErrors = failure.ID, plan.AsMap(failure.Outputs), failure.Reasons
			n.RefreshBeforeUpdate = failure.RefreshBeforeUpdate
			return n, err
		}
		return nil, err
	}
	if r.ID == "" && !d.opts.DryRun {
		return nil, &provider.Error{Outcome: provider.Unclear, Lost: true,
			Message: fmt.Sprintf("plugin returned empty resource.ID from create '%s'", n.URN)} // E3.51
	}
	n.ID, n.Outputs, n.RefreshBeforeUpdate = r.ID, plan.AsMap(r.Outputs), r.RefreshBeforeUpdate
	return n, nil
}

func (d *Deployment) performUpdate(s *execution) (*state.Resource, error) { // E5.22
	n := s.New.Clone()
	n.ID, n.Created, n.Modified = s.Old.ID, s.Old.Created, d.now()
	n.InitErrors = nil
	if !n.Custom { // E5.26
		n.Modified = s.Old.Modified
		return n, nil
	}
	p, err := d.registry.Of(n)
	if err != nil {
		return nil, err
	}
	r, err := p.Update(d.calls, provider.UpdateRequest{
		Subject: provider.SubjectOf(n.URN), ID: s.Old.ID, OldInputs: s.Old.Inputs, OldOutputs: s.Old.Outputs, News: n.Inputs,
		Timeout: n.CustomTimeouts.Update, IgnoreChanges: n.IgnoreChanges, Preview: d.opts.DryRun,
		Views: s.views.request()})
	if err != nil {
		var failure *provider.Error
		if errors.As(err, &failure) && failure.Outcome == provider.Partial { // E5.37
			n.Inputs, n.Outputs, n.InitErrors = s.Old.Inputs, plan.AsMap(failure.Outputs), failure.Reasons
			n.RefreshBeforeUpdate = failure.RefreshBeforeUpdate
			return n, err
		}
		return nil, err
	}
	n.Outputs, n.RefreshBeforeUpdate = plan.AsMap(r.Outputs), r.RefreshBeforeUpdate
	return n, nil
}

func (d *Deployment) performDelete(s *execution) error { // E5.23
	old := s.Old
	if old.Protect && s.Op == OpDelete && !d.opts.IgnoreProtect { // E4.76
		return &protectedDeletion{&s.Step}
	}
	covered := old.DeletedWith != "" && d.table.Deleting(old.DeletedWith) // E4.80
	if d.opts.DryRun || !old.Custom || old.External || old.RetainOnDelete || old.PendingReplacement || covered {
		return nil
	}
	p, err := d.registry.Of(old)
	if err != nil {
		return err
	}
	return p.Delete(d.calls, provider.DeleteRequest{
		Subject: provider.SubjectOf(old.URN), ID: old.ID, Inputs: old.Inputs, Outputs: old.Outputs, Timeout: old.CustomTimeouts.Delete,
		Views: s.views.request()})
}

// protectedDeletion refuses to delete a protected resource (E4.76). Other deletions go on.
type protectedDeletion struct{ step *Step }

// Error names the resource and the way out.
func (e *protectedDeletion) Error() string {
	return fmt.Sprintf("resource %q cannot be deleted\nbecause it is protected. To allow it, set the option protect of the resource "+
		"to false and run `up`, or use `state unprotect '%s'`", e.step.URN, e.step.URN)
}

func (d *Deployment) performRead(s *execution) (*state.Resource, error) { // E5.24
	n := s.New.Clone()
	if n.ID == "" { // E2.47: not known yet
		return n, nil
	}
	p, err := d.registry.Of(n)
	if err != nil {
		return nil, err
	}
	r, err := p.Read(d.calls, provider.ReadRequest{
		Subject: provider.SubjectOf(n.URN), ID: n.ID, Inputs: n.Inputs, Outputs: n.Inputs, Timeout: n.CustomTimeouts.Read,
		Views: s.views.request()}) // E2.48
	var failure *provider.Error
	if errors.As(err, &failure) && failure.Outcome == provider.Partial { // E5.38
		r = provider.ReadResponse{ID: failure.ID, Inputs: failure.Inputs, Outputs: plan.AsMap(failure.Outputs)}
		n.InitErrors = failure.Reasons
	} else if err != nil {
		return nil, err
	}
	if !r.Outputs.Is(value.KindMap) || r.ID == "" && r.Outputs.Len() == 0 { // E2.49
		return nil, fmt.Errorf("resource '%s' does not exist", n.ID)
	}
	n.ID = plan.OrElse(r.ID, n.ID)
	n.Outputs, n.RefreshBeforeUpdate = r.Outputs, r.RefreshBeforeUpdate // the inputs stay those of the program
	if old := s.Old; old != nil && s.Op == OpRead {                     // E6.27
		n.Created, n.Modified = old.Created, old.Modified
		if !value.Equal(old.Inputs, n.Inputs) || !value.Equal(old.Outputs, n.Outputs) {
			n.Modified = d.now()
		}
	}
	return n, err
}

func (d *Deployment) performImport(s *execution) (*state.Resource, error) { // E4.86–E4.91
	n := s.New.Clone()
	n.Created = d.now()
	n.Modified = n.Created
	p, err := d.registry.Of(n)
	if err != nil {
		return nil, err
	}
	r, err := p.Read(d.calls, provider.ReadRequest{
		Subject: provider.SubjectOf(n.URN), ID: n.ImportID, Timeout: n.CustomTimeouts.Read,
		Views: s.views.request()})
	var failure *provider.Error
	if errors.As(err, &failure) && failure.Outcome == provider.Partial { // E5.39
		r = provider.ReadResponse{ID: failure.ID, Inputs: failure.Inputs, Outputs: plan.AsMap(failure.Outputs)}
		n.InitErrors = failure.Reasons
	} else if err != nil {
		return nil, err
	}
	if r.ID == "" && r.Outputs.Len() == 0 || !r.Outputs.Is(value.KindMap) {
		return nil, fmt.Errorf("resource '%s' does not exist", n.ImportID)
	}
	if !r.Inputs.Is(value.KindMap) {
		return nil, fmt.Errorf("provider does not support importing resources; please try updating the '%s' plugin", n.URN.Package())
	}
	n.ID, n.Inputs, n.Outputs, n.RefreshBeforeUpdate = plan.OrElse(r.ID, n.ImportID), r.Inputs, r.Outputs, r.RefreshBeforeUpdate
	return n, nil
}

// now is the present moment, as states keep it.
func (d *Deployment) now() *time.Time {
	t := d.opts.Now().UTC()
	return &t
}

// markSecrets marks outputs secret by name: those that the program names, and those whose input is secret (E5.18). It
// changes r, which is not shared yet.
func (d *Deployment) markSecrets(s *Step, r *state.Resource) {
	r.Outputs = secretOutputs(r.Outputs, r.Inputs, r.AdditionalSecretOutputs)
	if slices.Contains(r.AdditionalSecretOutputs, "id") { // E4.71
		d.report.message(Message{URN: s.URN, Severity: diag.Warning, Position: r.SourcePosition,
			Text: "The 'id' property cannot be made secret. See pulumi/pulumi#2717 for more details."})
	}
}

// secretOutputs is outputs with the entries named, and those whose input of the same name is secret, marked secret.
func secretOutputs(outputs, inputs value.Value, names []string) value.Value {
	mark := func(name string) {
		if part, ok := outputs.Lookup(name); ok && !part.IsSecret() {
			outputs = outputs.With(name, part.Secret())
		}
	}
	for _, name := range names {
		mark(name)
	}
	for i, name := range inputs.Keys() {
		if inputs.At(i).IsSecret() {
			mark(name)
		}
	}
	return outputs
}
