package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Reporter receives the beginning and the end of steps. It is safe for concurrent use.
type Reporter interface {
	Started(plan.Step)
	// Finished reports a step that succeeded. For a refresh, result tells what happened to the resource; shown says
	// whether views show the step.
	Finished(s plan.Step, result plan.Op, shown bool, took time.Duration)
	StepFailed(s plan.Step, err error, took time.Duration)
	Tell(Note)
}

// Note is a diagnostic about a resource.
type Note struct {
	URN                      urn.URN
	Severity                 diag.Severity
	Code                     diag.Code
	Text, Position, Property string
}

// Options are the parts that an executor works with.
type Options struct {
	Project, Stack string
	// Calls ends when calls in flight are given up. It is the operation's own lifetime, which no single request's context
	// has.
	Calls         context.Context
	DryRun        bool // preview: nothing is changed
	IgnoreProtect bool // protected resources are deleted like others (E4.77)
	Refreshing    bool // the operation is a refresh
	Now           func() time.Time
	Seed          func() []byte

	Table     *resources.Table
	Providers *providers.Registry
	Journal   *Writer
	Report    Reporter

	Terminated func() bool        // the operation was given up at once (E5.51)
	Stop       func()             // nothing new may start
	Failed     func()             // one resource failed: nothing new may start, unless the user wants to go on (E5.42)
	Retried    func(urn.URN) bool // a creation of the resource is made again that an earlier operation left open
}

// Executor takes steps: it announces, records, acts, records again and reports. It is safe for concurrent use.
//
// The executor writes every call that changes something to the journal before it makes the call, and its outcome
// before anything else may depend on it. So a process that is killed at any moment leaves at most calls whose outcome
// is unknown, and the journal names them. In a preview the journal does nothing, and requests to providers carry the
// preview flag.
type Executor struct {
	Options
	Hooks Hooks
}

// ErrFailed is returned when one resource failed, which was reported.
var ErrFailed = errors.New("the resource failed")

// execution is a step that is being taken.
type execution struct {
	plan.Step
	// views are the provider's reports about views in the meantime; nil when there are none.
	views *Viewing
	// command is the import of an operation without a program.
	command *Import
}

// Take takes one step (5.2). reg is the registration that the step belongs to, nil for a deletion. The result is the
// new state, nil where there is none. A failure was reported and comes back as ErrFailed; monitor.ErrReported and
// monitor.ErrShutdown end the operation.
func (x *Executor) Take(s plan.Step, reg *resources.Registration) (*state.Resource, error) {
	return x.take(&execution{Step: s}, reg)
}

// take takes one step: it journals what begins, asks the provider, and journals the end, so that a crash in between
// leaves a pending operation (E5.11). reg is the registration that the step is of, if there is one. The result is the
// resource as it is now. ErrFailed says that the failure has been reported, monitor.ErrShutdown that the operation was
// cut off; any other error is one of the journal.
func (x *Executor) take(s *execution, reg *resources.Registration) (*state.Resource, error) {
	began := x.Now()
	x.Report.Started(s.Step)
	pos := x.Positions(&s.Step)
	var number int64
	if op, ok := operationOf(&s.Step); ok {
		var err error
		if number, err = x.Journal.Begin(x.Calls, op); err != nil { // E5.11
			return nil, x.JournalFailed(&s.Step, err)
		}
	}
	x.watchViews(s)
	result, err := x.performHooked(s)
	if x.Terminated() { // E5.51: whatever came back, nothing is written any more, and the operation stays pending
		return nil, monitor.ErrShutdown
	}
	if result != nil && !s.Verbatim {
		x.markSecrets(&s.Step, result)
	}
	failure, ok := errors.AsType[*provider.Error](err)
	partial := ok && failure.Outcome == provider.Partial && result != nil
	if s.New == nil { // E4.115: views leave the state before their owner
		if err := s.views.write(true, err == nil); err != nil {
			return nil, x.JournalFailed(&s.Step, err)
		}
	}
	if err == nil || partial { // a partial failure has left an object, which must not be forgotten
		if err := x.Record(&s.Step, result, pos, number, reg); err != nil {
			return nil, x.JournalFailed(&s.Step, err)
		}
	} else if number != 0 && !outcomeUnknown(err) {
		if err := x.Commit(&s.Step, journal.Entry{Step: number}); err != nil { // it changed nothing
			return nil, err
		}
	}
	took := x.Now().Sub(began)
	shown := s.Step
	if result != nil {
		shown.New = result
	}
	if err != nil {
		x.Report.StepFailed(shown, err, took)
		if err := s.views.write(partial || s.Op == plan.OpUpdate || s.Op == plan.OpRead && s.Old != nil,
			false); err != nil {
			return nil, x.JournalFailed(&s.Step, err)
		}
		return nil, ErrFailed
	}
	about := s.About()
	x.Report.Finished(shown, s.Op, x.DryRun || about.Custom || s.Op == plan.OpDelete, took)
	if about.Custom || s.New == nil {
		x.AfterHooks(&s.Step, result)
	}
	if err := s.views.write(true, false); err != nil {
		return nil, x.JournalFailed(&s.Step, err)
	}
	if s.Op == plan.OpSame {
		if err := s.views.keepSame(); err != nil {
			return nil, x.JournalFailed(&s.Step, err)
		}
	}
	return result, nil
}

// outcomeUnknown reports whether nobody can tell what a failed call did, because the plugin died in the middle or its
// answer could not be understood. The operation then stays pending, for the next run to resolve (D10).
func outcomeUnknown(err error) bool {
	failure, ok := errors.AsType[*provider.Error](err)
	return ok && failure.Lost || errors.As(err, new(*provider.CrashError))
}

// JournalFailed stops everything: without a journal nothing may be done.
func (x *Executor) JournalFailed(s *plan.Step, err error) error {
	if x.Terminated() {
		return monitor.ErrShutdown
	}
	x.Report.Tell(Note{URN: s.URN, Severity: diag.Error, Code: diag.OperationFailed,
		Position: plan.PositionOf(s.New, s.Old),
		Text:     "could not record the state: " + err.Error()})
	x.Stop()
	return monitor.ErrReported
}

// Commit records a change outside of any step's success. A failure is reported about s; see JournalFailed.
func (x *Executor) Commit(s *plan.Step, e journal.Entry) error {
	if err := x.Journal.Commit(x.Calls, e); err != nil {
		return x.JournalFailed(s, err)
	}
	return nil
}

// Positions finds the places in the journal that a step is about.
func (x *Executor) Positions(s *plan.Step) resources.Positions {
	pos := x.Table.Positions(s)
	if pos.Moving != nil { // it is recorded first that it has another position
		<-pos.Moving
	}
	switch {
	case s.Position != 0:
		pos.New = s.Position
	case s.New != nil && s.Op != plan.OpReplace:
		pos.New = x.Journal.NewID()
	}
	return pos
}

// Record writes down a step's success and makes it the present state of everything.
func (x *Executor) Record(s *plan.Step, result *state.Resource, pos resources.Positions, number int64,
	reg *resources.Registration) error {
	e := success(s, result, pos)
	e.Step = number
	if s.Op == plan.OpCreate || s.Op == plan.OpCreateReplacement {
		if x.Retried(s.URN) {
			e.Retried = s.URN
		}
	}
	switch {
	// Most steps of most operations change nothing. They would make the journal as long as the stack.
	case s.Op == plan.OpSame && MateriallySame(pos.OldNow, result):
		x.Journal.CommitLate(e)
	case len(e.Remove)+len(e.Amend)+len(e.Add) > 0:
		if err := x.Journal.Commit(x.Calls, e); err != nil {
			return err
		}
	}
	x.Table.Recorded(s, result, pos, e, reg, x.DryRun)
	return nil
}

// perform does what a step is about and answers with the new state, nil where there is none. After a partial failure
// both a state and an error come back.
func (x *Executor) perform(s *execution) (*state.Resource, error) {
	switch s.Op {
	case plan.OpSame:
		return x.performSame(s)
	case plan.OpCreate, plan.OpCreateReplacement:
		return x.performCreate(s)
	case plan.OpUpdate:
		return x.performUpdate(s)
	case plan.OpDelete, plan.OpDeleteReplaced, plan.OpDiscard, plan.OpDiscardReplaced:
		return nil, x.performDelete(s)
	case plan.OpRead, plan.OpReadReplacement:
		return x.performRead(s)
	case plan.OpImport, plan.OpImportReplacement:
		if s.command != nil {
			return x.performCommandImport(s)
		}
		return x.performImport(s)
	case plan.OpReplace, plan.OpRemovePendingReplace, plan.OpRefresh:
		return nil, nil
	}
	return nil, fmt.Errorf("the operation %q is not known", s.Op)
}

// performSame keeps a resource: it takes outputs, ID and times from the prior state, and everything else from the
// program (E5.20). It calls no provider, unless the resource is itself a provider.
func (x *Executor) performSame(s *execution) (*state.Resource, error) { // E5.20
	if s.Verbatim {
		return s.New.Clone(), nil
	}
	n := s.New.Clone()
	n.ID, n.Outputs, n.Created, n.Modified = s.Old.ID, s.Old.Outputs, s.Old.Created, s.Old.Modified
	if n.IsProvider() {
		// An unchanged provider goes on with its old inputs, not with those just checked (E3.11).
		n.Inputs = s.Old.Inputs
		return n, x.Providers.Keep(s.Old, n)
	}
	return n, nil
}

// performCreate creates a resource (E5.21). A failure that leaves an object behind comes with the resource as far as it
// is there (E5.36). In a preview the outputs may be unknown.
func (x *Executor) performCreate(s *execution) (*state.Resource, error) { // E5.21
	n := s.New.Clone()
	n.Created = x.now()
	n.Modified = n.Created
	n.InitErrors, n.RefreshBeforeUpdate = nil, false
	if !n.Custom {
		return n, nil
	}
	p, err := x.Providers.Of(n)
	if err != nil {
		return nil, err
	}
	r, err := p.Create(x.Calls, provider.CreateRequest{
		Subject: provider.SubjectOf(n.URN), Inputs: n.Inputs, Timeout: n.CustomTimeouts.Create, Preview: x.DryRun,
		Views: s.views.request()})
	if err != nil {
		if failure, ok := errors.AsType[*provider.Error](err); ok && failure.Outcome == provider.Partial &&
			failure.ID != "" { // E5.36
			n.ID, n.Outputs, n.InitErrors = failure.ID, failure.Outputs.MapOrEmpty(), failure.Reasons
			n.RefreshBeforeUpdate = failure.RefreshBeforeUpdate
			return n, err
		}
		return nil, err
	}
	if r.ID == "" && !x.DryRun {
		return nil, &provider.Error{Outcome: provider.Unclear, Lost: true,
			Message: fmt.Sprintf("plugin returned empty resource.ID from create '%s'", n.URN)} // E3.51
	}
	n.ID, n.Outputs, n.RefreshBeforeUpdate = r.ID, r.Outputs.MapOrEmpty(), r.RefreshBeforeUpdate
	return n, nil
}

// performUpdate changes a resource in place (E5.22). After a partial failure the inputs stay the old ones, so that the
// next operation tries again (E5.37).
func (x *Executor) performUpdate(s *execution) (*state.Resource, error) { // E5.22
	n := s.New.Clone()
	n.ID, n.Created, n.Modified = s.Old.ID, s.Old.Created, x.now()
	n.InitErrors = nil
	if !n.Custom { // E5.26
		n.Modified = s.Old.Modified
		return n, nil
	}
	p, err := x.Providers.Of(n)
	if err != nil {
		return nil, err
	}
	r, err := p.Update(x.Calls, provider.UpdateRequest{
		Subject: provider.SubjectOf(n.URN), ID: s.Old.ID, OldInputs: s.Old.Inputs, OldOutputs: s.Old.Outputs, News: n.Inputs,
		Timeout: n.CustomTimeouts.Update, IgnoreChanges: n.IgnoreChanges, Preview: x.DryRun,
		Views: s.views.request()})
	if err != nil {
		if failure, ok := errors.AsType[*provider.Error](err); ok && failure.Outcome == provider.Partial { // E5.37
			n.Inputs, n.Outputs, n.InitErrors = s.Old.Inputs, failure.Outputs.MapOrEmpty(), failure.Reasons
			n.RefreshBeforeUpdate = failure.RefreshBeforeUpdate
			return n, err
		}
		return nil, err
	}
	n.Outputs, n.RefreshBeforeUpdate = r.Outputs.MapOrEmpty(), r.RefreshBeforeUpdate
	if x.DryRun {
		n.Outputs = plan.WithStable(n.Outputs, s.Old.Outputs, s.Stable)
	}
	return n, nil
}

// performDelete deletes the object of a resource (E5.23). The provider is not called in a preview, nor for components,
// external and retained resources, and what goes with another resource (E4.80).
func (x *Executor) performDelete(s *execution) error { // E5.23
	old := s.Old
	if old.Protect && s.Op == plan.OpDelete && !x.IgnoreProtect { // E4.76
		return &protectedDeletion{&s.Step}
	}
	covered := old.DeletedWith != "" && x.Table.Marks.Deleting(old.DeletedWith) // E4.80
	if x.DryRun || !old.Custom || old.External || old.RetainOnDelete || old.PendingReplacement || covered {
		return nil
	}
	p, err := x.Providers.Of(old)
	if err != nil {
		return err
	}
	return p.Delete(x.Calls, provider.DeleteRequest{
		Subject: provider.SubjectOf(old.URN), ID: old.ID, Inputs: old.Inputs, Outputs: old.Outputs,
		Timeout: old.CustomTimeouts.Delete,
		Views:   s.views.request()})
}

// protectedDeletion refuses to delete a protected resource (E4.76). Other deletions go on.
type protectedDeletion struct{ step *plan.Step }

// Error names the resource and the way out.
func (e *protectedDeletion) Error() string {
	return fmt.Sprintf(
		"resource %q cannot be deleted\nbecause it is protected. To allow it, set the option protect of the resource "+
			"to false and run `up`, or use `state unprotect '%s'`", e.step.URN, e.step.URN)
}

// performRead reads a resource that is managed elsewhere (E5.24). The program's inputs stay.
func (x *Executor) performRead(s *execution) (*state.Resource, error) { // E5.24
	n := s.New.Clone()
	if n.ID == "" { // E2.47: not known yet
		return n, nil
	}
	p, err := x.Providers.Of(n)
	if err != nil {
		return nil, err
	}
	r, err := p.Read(x.Calls, provider.ReadRequest{
		Subject: provider.SubjectOf(n.URN), ID: n.ID, Inputs: n.Inputs, Outputs: n.Inputs, Timeout: n.CustomTimeouts.Read,
		Views: s.views.request()}) // E2.48
	if failure, ok := errors.AsType[*provider.Error](err); ok && failure.Outcome == provider.Partial { // E5.38
		r = provider.ReadResponse{ID: failure.ID, Inputs: failure.Inputs, Outputs: failure.Outputs.MapOrEmpty()}
		n.InitErrors = failure.Reasons
	} else if err != nil {
		return nil, err
	}
	if !r.Outputs.Is(value.KindMap) || r.ID == "" && r.Outputs.Len() == 0 { // E2.49
		return nil, fmt.Errorf("resource '%s' does not exist", n.ID)
	}
	n.ID = cmp.Or(r.ID, n.ID)
	n.Outputs, n.RefreshBeforeUpdate = r.Outputs, r.RefreshBeforeUpdate // the program's inputs stay
	if old := s.Old; old != nil && s.Op == plan.OpRead {                // E6.27
		n.Created, n.Modified = old.Created, old.Modified
		if !value.Equal(old.Inputs, n.Inputs) || !value.Equal(old.Outputs, n.Outputs) {
			n.Modified = x.now()
		}
	}
	return n, err
}

// performImport reads an object that exists and takes it under management (E4.86–E4.91). It is an error if there is no
// object with the ID.
func (x *Executor) performImport(s *execution) (*state.Resource, error) { // E4.86–E4.91
	n := s.New.Clone()
	n.Created = x.now()
	n.Modified = n.Created
	p, err := x.Providers.Of(n)
	if err != nil {
		return nil, err
	}
	r, err := p.Read(x.Calls, provider.ReadRequest{
		Subject: provider.SubjectOf(n.URN), ID: n.ImportID, Timeout: n.CustomTimeouts.Read,
		Views: s.views.request()})
	if failure, ok := errors.AsType[*provider.Error](err); ok && failure.Outcome == provider.Partial { // E5.39
		r = provider.ReadResponse{ID: failure.ID, Inputs: failure.Inputs, Outputs: failure.Outputs.MapOrEmpty()}
		n.InitErrors = failure.Reasons
	} else if err != nil {
		return nil, err
	}
	if r.ID == "" && r.Outputs.Len() == 0 || !r.Outputs.Is(value.KindMap) {
		return nil, fmt.Errorf("resource '%s' does not exist", n.ImportID)
	}
	if !r.Inputs.Is(value.KindMap) {
		return nil, fmt.Errorf("provider does not support importing resources; please try updating the '%s' plugin",
			n.URN.Package())
	}
	n.ID, n.Inputs, n.Outputs, n.RefreshBeforeUpdate = cmp.Or(r.ID, n.ImportID), r.Inputs, r.Outputs,
		r.RefreshBeforeUpdate
	return n, nil
}

// now is the present moment, as states keep it.
func (x *Executor) now() *time.Time {
	t := x.Now().UTC()
	return &t
}

// markSecrets marks outputs secret by name: those that the program names, and those whose input is secret (E5.18). It
// changes r, which is not shared yet.
func (x *Executor) markSecrets(s *plan.Step, r *state.Resource) {
	r.Outputs = SecretOutputs(r.Outputs, r.Inputs, r.AdditionalSecretOutputs)
	if slices.Contains(r.AdditionalSecretOutputs, "id") { // E4.71
		x.Report.Tell(Note{URN: s.URN, Severity: diag.Warning, Position: r.SourcePosition,
			Text: "The 'id' property cannot be made secret. See pulumi/pulumi#2717 for more details."})
	}
}

// SecretOutputs returns outputs with the entries named, and those whose input of the same name is secret, marked
// secret.
func SecretOutputs(outputs, inputs value.Value, names []string) value.Value {
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
