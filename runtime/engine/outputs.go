package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// stackOutputs are the outputs of the stack, which are put in place at the end (E2.61). It is safe for concurrent use.
type stackOutputs struct {
	mu         sync.Mutex // guards the rest
	outputs    value.Value
	registered bool
}

func (o *stackOutputs) set(outputs value.Value, registered bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.outputs, o.registered = outputs, registered
}

func (o *stackOutputs) get() (outputs value.Value, registered bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.outputs, o.registered
}

// RegisterOutputs records the outputs of a component or of the stack, once (E2.59–E2.62). Those of the stack are put in
// place when everything else is over.
func (d *Deployment) RegisterOutputs(ctx context.Context, u urn.URN, outputs value.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	if err := value.Storable(outputs); err != nil { // F1.10
		return fmt.Errorf("the outputs of %s: %w", u, err)
	}
	outputs, err := d.withHashes(ctx, plan.WithoutDeps(plan.AsMap(outputs)))
	if err != nil {
		return err
	}
	reg := d.table.Get(u)
	var before value.Value
	ok := false
	if reg != nil {
		before, ok = reg.Complete()
	}
	if !ok {
		return fmt.Errorf("cannot complete a resource '%s' whose registration isn't pending", u)
	}
	before = plan.AsMap(before)
	isStack, skipped := reg == d.table.Root(), reg.Result != monitor.Succeeded || reg.State() == nil
	if isStack {
		d.outputs.set(outputs, true)
	}
	if !skipped {
		if err := d.constraint.outputs(u, before, outputs); err != nil {
			if d.constraint.violated() { // and so outputs are missing
				return monitor.ErrReported
			}
			if isStack {
				d.outputs.set(outputs, false)
			}
			return d.violatesPlan(u, reg.Goal.Position, err)
		}
	}
	if isStack || skipped {
		return nil
	}
	if d.running.Err() != nil {
		return monitor.ErrShutdown
	}
	if err := d.putOutputs(reg, outputs); err != nil {
		return d.executor.JournalFailed(&reg.Step, err)
	}
	if now := reg.State(); now != nil && !now.Custom { // E2.63
		d.executor.AfterHooks(&reg.Step, now)
	}
	return nil
}

// finishStack puts the stack's outputs in place (E2.61, E6.55) and answers with the stack's resource before and after
// the operation, nil where there is none.
func (d *Deployment) finishStack() (before, after *state.Resource) {
	before, left := d.table.Found(urn.RootStack(d.opts.Stack, d.opts.Project))
	reg := d.table.Root()
	outputs, registered := d.outputs.get()
	bailed, failed := d.faults()
	gone := reg != nil && reg.Destroyed()
	if gone { // it was destroyed; people hear of its outputs nevertheless (E2.61)
		if registered {
			step := reg.Step
			step.New = reg.State().Clone()
			step.New.Outputs = knownOutputs(value.EmptyMap(), outputs)
			d.report.outputs(step)
		}
		return before, nil
	}
	if reg == nil || reg.State() == nil || d.isTerminated() {
		if left != nil {
			after = before
		}
		return before, after
	}
	if !registered {
		return before, reg.State()
	}
	if (bailed || failed || d.report.hasFailed() || d.running.Err() != nil) && before != nil {
		merged := before.Outputs
		for i, key := range outputs.Keys() {
			merged = plan.AsMap(merged).With(key, outputs.At(i))
		}
		outputs = merged
	}
	if err := d.putOutputs(reg, outputs); err != nil {
		d.report.message(Message{URN: reg.URN, Severity: diag.Error, Code: diag.OperationFailed,
			Text: "could not record the stack's outputs: " + err.Error()})
	}
	return before, reg.State()
}

// putOutputs replaces the outputs of a component or of the stack and reports it (E2.60, E6.20).
func (d *Deployment) putOutputs(reg *resources.Registration, outputs value.Value) error {
	before := reg.State()
	now := before.Clone()
	now.Outputs = outputs
	if !d.opts.DryRun {
		now.Outputs = knownOutputs(before.Outputs, outputs)
	}
	if !value.Equal(before.Outputs, now.Outputs) {
		if err := d.journal.Commit(d.calls, journal.Entry{Amend: []journal.Amended{{ID: reg.ID(),
			Resource: now}}}); err != nil {
			return err
		}
	}
	step := reg.Amend(now)
	d.report.outputs(step)
	return nil
}
