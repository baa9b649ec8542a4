package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// Reporter is notified of the start and the end of steps. It is safe for concurrent use.
type Reporter interface {
	Started(plan.Step)
	// Finished reports that a step succeeded. For a refresh, result is the change of the resource; shown reports
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
	Recorded                 bool // see Step.Place
	Unrecorded               bool // the journal could not be written
}

// Options are the dependencies of an executor.
type Options struct {
	Project, Stack string
	// Calls is cancelled when calls in flight are abandoned. It is a field because it bounds the operation, not a
	// single request.
	Calls         context.Context
	DryRun        bool // preview: change nothing
	IgnoreProtect bool // delete protected resources like others (E4.77)
	Refreshing    bool // the operation is a refresh
	Now           func() time.Time
	Seed          func() []byte

	Table     *resources.Table
	Providers *providers.Registry
	Journal   *Writer
	Report    Reporter

	Terminated func() bool        // reports whether the operation was abandoned (E5.51)
	Stop       func()             // prevents new steps from starting
	Failed     func()             // handles a failed resource: calls Stop, unless ContinueOnError is set (E5.42)
	Retried    func(urn.URN) bool // reports whether a pending creation of the resource is repeated
}

// Executor executes steps: it reports the start, journals the operation, calls the provider, journals the result, and
// reports it. It is safe for concurrent use.
//
// The executor journals every changing call before it makes it, and the outcome before anything else may depend on it.
// A process that is killed at any moment therefore leaves at most calls with unknown outcome, which the journal lists.
// A preview has no journal, and its requests to providers carry the preview flag.
type Executor struct {
	Options
	Hooks Hooks
}

// ErrFailed is returned when a resource failed and the failure has been reported.
var ErrFailed = errors.New("the resource failed")

// execution is a step in progress.
type execution struct {
	plan.Step
	// views collects what the provider reports about views during the step; it may be nil.
	views *Viewing
	// command is set for an import without a program.
	command *Import
}

// Take executes one step (5.2). reg is its registration, nil for a deletion. It returns the new state, nil if there is
// none. It returns ErrFailed if the failure was reported, and monitor.ErrReported or monitor.ErrShutdown if the
// operation ends.
func (x *Executor) Take(s plan.Step, reg *resources.Registration) (*state.Resource, error) {
	return x.take(&execution{Step: s}, reg)
}

// take executes one step: it journals the operation, calls the provider, and journals the outcome, so that a crash in
// between leaves a pending operation (E5.11). It returns the new state and the errors of Take.
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
	if x.Terminated() { // E5.51: nothing is written any more, so the operation stays pending
		return nil, monitor.ErrShutdown
	}
	if lost, ok := errors.AsType[*notHeldError](err); ok {
		_ = x.Journal.Commit(x.Calls, journal.Entry{Step: number}) // nothing changed; the error to report is lost
		return nil, x.JournalFailed(&s.Step, lost.error)
	}
	if result != nil && !s.Verbatim {
		x.markSecrets(&s.Step, result)
	}
	failure, ok := errors.AsType[*provider.Error](err)
	partial := ok && failure.Outcome == provider.Partial && result != nil
	if s.New == nil { // E4.115: views are removed before their owner
		if err := s.views.write(true, err == nil); err != nil {
			return nil, x.JournalFailed(&s.Step, err)
		}
	}
	if err == nil || partial { // a partial failure leaves an object that must be recorded
		if err := x.Record(&s.Step, result, pos, number, reg); err != nil {
			return nil, x.JournalFailed(&s.Step, err)
		}
	} else if number != 0 && !outcomeUnknown(err) {
		if err := x.Commit(&s.Step, journal.Entry{Step: number}); err != nil { // nothing changed
			return nil, err
		}
	}
	took := x.Now().Sub(began)
	shown := s.Step
	shown.New = cmp.Or(result, s.New)
	if err != nil {
		x.Report.StepFailed(shown, err, took)
		if err := s.views.write(partial || s.Op == plan.OpUpdate || s.Op == plan.OpRead && s.Old != nil,
			false); err != nil {
			return nil, x.JournalFailed(&s.Step, err)
		}
		return nil, ErrFailed
	}
	res := s.About()
	x.Report.Finished(shown, s.Op, x.DryRun || res.Custom || s.Op == plan.OpDelete, took)
	if res.Custom || s.New == nil {
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

// notHeldError is returned for a call that was not made because the run no longer holds the stack.
type notHeldError struct{ error }

// held returns a *notHeldError unless the run still holds the stack. It comes right before a call that changes
// something, so that nothing but the call itself can happen after the stack was lost.
func (x *Executor) held() error {
	if err := x.Journal.Held(x.Calls); err != nil {
		return &notHeldError{err}
	}
	return nil
}

// outcomeUnknown reports whether the effect of a failed call is unknown, because the plugin died during the call or its
// answer was invalid. The operation then stays pending until the next run resolves it (D10).
func outcomeUnknown(err error) bool {
	failure, ok := errors.AsType[*provider.Error](err)
	return ok && failure.Lost || errors.As(err, new(*provider.CrashError))
}

// tell reports a diagnostic about a step's resource.
func (x *Executor) tell(s *plan.Step, severity diag.Severity, code diag.Code, text string) {
	n := Note{URN: s.URN, Severity: severity, Code: code, Text: text}
	n.Position, n.Recorded = s.Place()
	x.Report.Tell(n)
}

// JournalFailed reports an error of the journal and stops the operation: without a journal nothing may change.
func (x *Executor) JournalFailed(s *plan.Step, err error) error {
	if x.Terminated() {
		return monitor.ErrShutdown
	}
	n := Note{URN: s.URN, Severity: diag.Error, Code: diag.OperationFailed,
		Text: "could not record the state: " + err.Error(), Unrecorded: true}
	n.Position, n.Recorded = s.Place()
	x.Report.Tell(n)
	x.Stop()
	return monitor.ErrReported
}

// Commit journals a change that is not the success of a step. An error is reported for s; see JournalFailed.
func (x *Executor) Commit(s *plan.Step, e journal.Entry) error {
	if err := x.Journal.Commit(x.Calls, e); err != nil {
		return x.JournalFailed(s, err)
	}
	return nil
}

// Positions returns the journal positions that a step reads and writes.
func (x *Executor) Positions(s *plan.Step) resources.Positions {
	pos := x.Table.Positions(s)
	if pos.Moving != nil { // its new position must be journaled first
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

// Record journals the success of a step and updates the table accordingly.
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
	// Most steps change nothing; journaling them at once would make the journal as long as the stack.
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

// perform executes a step and returns the new state, nil if there is none. After a partial failure it returns both a
// state and an error.
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

// performSame keeps a resource: outputs, ID and timestamps come from the prior state, everything else from the program
// (E5.20). It calls no provider, unless the resource is itself a provider.
func (x *Executor) performSame(s *execution) (*state.Resource, error) { // E5.20
	if s.Verbatim {
		return s.New.Clone(), nil
	}
	n := s.New.Clone()
	n.ID, n.Outputs, n.Created, n.Modified = s.Old.ID, s.Old.Outputs, s.Old.Created, s.Old.Modified
	if n.IsProvider() {
		// An unchanged provider keeps its prior inputs, rather than those just checked (E3.11).
		n.Inputs = s.Old.Inputs
		return n, x.Providers.Keep(s.Old, n)
	}
	return n, nil
}

// performCreate creates a resource (E5.21). If creation fails but leaves an object, it returns the partial state and
// the error (E5.36). In a preview the outputs may be unknown.
func (x *Executor) performCreate(s *execution) (*state.Resource, error) { // E5.21
	n := s.New.Clone()
	n.Created = x.Timestamp()
	n.Modified = n.Created
	n.InitErrors, n.RefreshBeforeUpdate = nil, false
	if !n.Custom {
		return n, nil
	}
	p, err := x.Providers.Of(n)
	if err != nil {
		return nil, err
	}
	if err := x.held(); err != nil {
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

// performUpdate changes a resource in place (E5.22). After a partial failure the inputs stay the prior ones, so that
// the next operation tries again (E5.37).
func (x *Executor) performUpdate(s *execution) (*state.Resource, error) { // E5.22
	n := s.New.Clone()
	n.ID, n.Created, n.Modified = s.Old.ID, s.Old.Created, x.Timestamp()
	n.InitErrors = nil
	if !n.Custom { // E5.26
		n.Modified = s.Old.Modified
		return n, nil
	}
	p, err := x.Providers.Of(n)
	if err != nil {
		return nil, err
	}
	if err := x.held(); err != nil {
		return nil, err
	}
	r, err := p.Update(x.Calls, provider.UpdateRequest{
		Subject: provider.SubjectOf(
			n.URN), ID: s.Old.ID, OldInputs: s.Old.Inputs, OldOutputs: s.Old.Outputs, News: n.Inputs,
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

// performDelete deletes the object of a resource (E5.23). It does not call the provider in a preview, for components,
// external, retained and already deleted resources, and for those whose owner is deleted (E4.80).
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
	if err := x.held(); err != nil {
		return err
	}
	return p.Delete(x.Calls, provider.DeleteRequest{
		Subject: provider.SubjectOf(old.URN), ID: old.ID, Inputs: old.Inputs, Outputs: old.Outputs,
		Timeout: old.CustomTimeouts.Delete,
		Views:   s.views.request()})
}

// protectedDeletion is the error for the deletion of a protected resource (E4.76). Other deletions go on.
type protectedDeletion struct{ step *plan.Step }

// Error names the resource and the remedy.
func (e *protectedDeletion) Error() string {
	return fmt.Sprintf(
		"resource %q cannot be deleted\nbecause it is protected. To allow it, set the option protect of the resource "+
			"to false and run `up`, or use `state unprotect '%s'`", e.step.URN, e.step.URN)
}

// performRead reads a resource that is managed elsewhere (E5.24). The inputs remain the program's.
func (x *Executor) performRead(s *execution) (*state.Resource, error) { // E5.24
	n := s.New.Clone()
	if n.ID == "" { // E2.47: not known yet
		return n, nil
	}
	r, err := x.read(s, n, provider.ReadRequest{ID: n.ID, Inputs: n.Inputs, Outputs: n.Inputs}) // E2.48
	if r == nil {
		return nil, err
	}
	if !r.Outputs.Is(value.KindMap) || r.ID == "" && r.Outputs.Len() == 0 { // E2.49
		return nil, fmt.Errorf("resource '%s' does not exist", n.ID)
	}
	n.ID = cmp.Or(r.ID, n.ID)
	n.Outputs, n.RefreshBeforeUpdate = r.Outputs, r.RefreshBeforeUpdate // the inputs remain the program's
	if old := s.Old; old != nil && s.Op == plan.OpRead {                // E6.27
		n.Created, n.Modified = old.Created, old.Modified
		if !value.Equal(old.Inputs, n.Inputs) || !value.Equal(old.Outputs, n.Outputs) {
			n.Modified = x.Timestamp()
		}
	}
	return n, err
}

// read reads the object of a resource. If it is only partially created, read sets the resource's InitErrors and returns
// the object with an error (E5.38, E5.39). After any other error it returns no object.
func (x *Executor) read(s *execution, n *state.Resource, q provider.ReadRequest) (*provider.ReadResponse, error) {
	p, err := x.Providers.Of(n)
	if err != nil {
		return nil, err
	}
	q.Subject, q.Timeout, q.Views = provider.SubjectOf(n.URN), n.CustomTimeouts.Read, s.views.request()
	r, err := p.Read(x.Calls, q)
	if failure, ok := errors.AsType[*provider.Error](err); ok && failure.Outcome == provider.Partial {
		r = provider.ReadResponse{ID: failure.ID, Inputs: failure.Inputs, Outputs: failure.Outputs.MapOrEmpty(),
			RefreshBeforeUpdate: failure.RefreshBeforeUpdate}
		n.InitErrors = failure.Reasons
	} else if err != nil {
		return nil, err
	}
	return &r, err
}

// performImport imports an existing object into the state (E4.86–E4.91). It returns an error if no object has the ID.
func (x *Executor) performImport(s *execution) (*state.Resource, error) { // E4.86–E4.91
	n := s.New.Clone()
	n.Created = x.Timestamp()
	n.Modified = n.Created
	r, err := x.read(s, n, provider.ReadRequest{ID: n.ImportID})
	if r == nil {
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

// Timestamp returns the current time in UTC, as a state records it.
func (x *Executor) Timestamp() *time.Time {
	t := x.Now().UTC()
	return &t
}

// markSecrets marks outputs secret that the program names or whose input of the same name is secret (E5.18). It
// modifies r, which must not be shared yet.
func (x *Executor) markSecrets(s *plan.Step, r *state.Resource) {
	r.Outputs = secretOutputs(r.Outputs, r.Inputs, r.AdditionalSecretOutputs)
	if slices.Contains(r.AdditionalSecretOutputs, "id") { // E4.71
		x.tell(s, diag.Warning, "", "The 'id' property cannot be made secret. See pulumi/pulumi#2717 for more details.")
	}
	if x.DryRun || s.Old != nil && s.Old.ID == r.ID {
		return
	}
	if name, found := inputInID(r.ID, r.Inputs); found {
		x.tell(s, diag.Warning, "", fmt.Sprintf("the ID of the resource has the text of the secret input `%s`. IDs cannot "+
			"be secret: the state has them in plain text", name))
	}
}

// inputInID returns the input with a secret text that id contains. Texts of fewer than four bytes do not count: any ID
// may have them.
func inputInID(id string, inputs value.Value) (name string, found bool) {
	inID := func(part value.Value) bool {
		text, _ := part.AsString()
		return len(text) >= 4 && strings.Contains(id, text)
	}
	for i, name := range inputs.Keys() {
		if inputs.At(i).Any(func(part value.Value) bool { return part.IsSecret() && part.Any(inID) }) {
			return name, true
		}
	}
	return "", false
}

// secretOutputs returns outputs with the named entries, and those whose input of the same name is secret, marked
// secret.
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
