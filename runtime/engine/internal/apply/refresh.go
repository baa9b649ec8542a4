package apply

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Refresh reads one resource and reports the difference from its prior state, which reports know as former: it may have
// had another URN. It returns the current state, which is old itself if there is no difference or the read failed, and
// nil if the resource is gone.
func (x *Executor) Refresh(old, former *state.Resource) (*state.Resource, error) {
	now, v, err := x.RefreshWithViews(old, former)
	if failed := v.keepRefreshed(now == nil); failed != nil && err == nil {
		err = failed
	}
	return now, err
}

// RefreshWithViews is like Refresh, but leaves it to the caller to record what the provider reported about views.
func (x *Executor) RefreshWithViews(old, former *state.Resource) (*state.Resource, *Viewing, error) {
	began := x.Now()
	s := &execution{Step: plan.NewStep(plan.OpRefresh, old, old)}
	x.watchViews(s)
	x.Report.Started(s.Step)
	now, result, err := x.readAgain(s)
	took := x.Now().Sub(began)
	if err != nil {
		if !x.Terminated() {
			x.Report.StepFailed(s.Step, err, took)
		}
		return old, s.views, err
	}
	shown := s.Step
	shown.Old, shown.New = former, now
	if !x.Refreshing {
		result = plan.OpRefresh
	}
	x.Report.Finished(shown, result, true, took)
	return now, s.views, nil
}

// readAgain reads a resource. It returns the current state, nil if it is gone, and the resulting operation.
func (x *Executor) readAgain(s *execution) (*state.Resource, plan.Op, error) {
	old := s.Old
	if !old.Custom || old.IsProvider() || old.PendingReplacement { // E7.15
		return old, plan.OpSame, nil
	}
	now := old.Clone()
	now.InitErrors = nil
	r, err := x.read(s, now, provider.ReadRequest{ID: old.ID, Inputs: old.Inputs, Outputs: old.Outputs}) // E7.16
	if r == nil {
		return old, plan.OpSame, err
	}
	if err != nil { // E5.39
		text := "Refreshed resource is in an unhealthy state:"
		for _, reason := range now.InitErrors {
			text += "\n* " + reason
		}
		x.Report.Tell(Note{URN: old.URN, Severity: diag.Warning, Text: text, Position: old.SourcePosition,
			Recorded: true})
	}
	if r.ID == "" { // E7.17
		return nil, plan.OpDelete, nil
	}
	now.ID, now.Outputs, now.RefreshBeforeUpdate = r.ID, r.Outputs.MapOrEmpty(), r.RefreshBeforeUpdate
	if r.Inputs.Is(value.KindMap) {
		now.Inputs = r.Inputs
	}
	now.Outputs = secretOutputs(now.Outputs, now.Inputs, now.AdditionalSecretOutputs)
	touched := !value.Equal(old.Inputs, now.Inputs) || !value.Equal(old.Outputs, now.Outputs)
	if touched {
		now.Modified = x.Timestamp() // E6.28
	} else if now.ID == old.ID && slices.Equal(now.InitErrors, old.InitErrors) &&
		now.RefreshBeforeUpdate == old.RefreshBeforeUpdate {
		now = old
	}
	if old.External { // E7.19
		if value.SameContent(old.Outputs, now.Outputs) {
			return now, plan.OpSame, nil
		}
		return now, plan.OpUpdate, nil
	}
	// Ask the provider for the diff from the read state back to the old inputs; the inverse is the drift (E7.18).
	p, err := x.Providers.Of(old)
	if err != nil {
		return old, plan.OpSame, err
	}
	answer, err := p.Diff(x.Calls, provider.DiffRequest{
		Subject: provider.SubjectOf(
			old.URN), ID: now.ID, OldInputs: now.Inputs, OldOutputs: now.Outputs, News: old.Inputs,
		IgnoreChanges: old.IgnoreChanges, AllowUnknowns: x.DryRun})
	if err != nil {
		return old, plan.OpSame, err
	}
	v := plan.ProviderDiff(answer, now.Inputs, old.Inputs, old.IgnoreChanges)
	if !v.Change {
		return now, plan.OpSame, nil
	}
	s.Drifted, s.Diffs, s.Detailed = true, v.Diffs, inverted(v.Detailed)
	return now, plan.OpUpdate, nil
}

// inverses are the kinds of changes in the opposite direction; other kinds are their own inverses.
var inverses = map[provider.DiffKind]provider.DiffKind{
	provider.DiffAdd: provider.DiffDelete, provider.DiffAddReplace: provider.DiffDeleteReplace,
	provider.DiffDelete: provider.DiffAdd, provider.DiffDeleteReplace: provider.DiffAddReplace,
}

// inverted is the inverse of a detailed diff: added properties become deleted ones and vice versa. Kinds that
// force a replacement still do.
func inverted(detailed map[string]provider.PropertyDiff) map[string]provider.PropertyDiff {
	if detailed == nil {
		return nil
	}
	turned := make(map[string]provider.PropertyDiff, len(detailed))
	for path, p := range detailed {
		if kind, found := inverses[p.Kind]; found {
			p.Kind = kind
		}
		turned[path] = p
	}
	return turned
}

// ReadAgain reads one resource without reporting anything; see Refresh.
func (x *Executor) ReadAgain(old *state.Resource) (*state.Resource, error) {
	now, _, err := x.readAgain(&execution{Step: plan.NewStep(plan.OpRefresh, old, old)})
	return now, err
}

// Adopt reads the object with an ID and returns the state as if the creation of r had made it; nil if there is no such
// object.
func (x *Executor) Adopt(r *state.Resource, id string) (*state.Resource, error) {
	n := r.Clone()
	n.InitErrors = nil
	answer, err := x.read(&execution{}, n, provider.ReadRequest{ID: id, Inputs: r.Inputs, Outputs: value.EmptyMap()})
	if answer == nil {
		return nil, err
	}
	if answer.ID == "" {
		return nil, nil
	}
	n.ID, n.RefreshBeforeUpdate = answer.ID, answer.RefreshBeforeUpdate
	n.Outputs = secretOutputs(answer.Outputs.MapOrEmpty(), n.Inputs, n.AdditionalSecretOutputs)
	n.Created, n.Modified = x.Timestamp(), x.Timestamp()
	return n, nil
}
