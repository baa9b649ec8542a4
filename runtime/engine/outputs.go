package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// RegisterOutputs records the outputs of a component or of the stack, once (E2.59–E2.62). The stack's outputs are
// written at the end of the operation.
func (d *Deployment) RegisterOutputs(ctx context.Context, u urn.URN, outputs value.Value) error {
	if err := d.gate.enter(); err != nil {
		return err
	}
	defer d.leave()
	if err := value.Storable(outputs); err != nil { // F1.10
		return fmt.Errorf("the outputs of %s: %w", u, err)
	}
	outputs, err := d.opts.withHashes(ctx, outputs.MapOrEmpty().DeepWithoutDeps())
	if err != nil {
		return err
	}
	reg := d.table.Get(u)
	before, ok := reg.Complete()
	if !ok {
		return fmt.Errorf("cannot complete a resource '%s' whose registration isn't pending", u)
	}
	return d.outputs.record(reg, before.MapOrEmpty(), outputs)
}

// outputRecorder writes registered outputs: a component's at once, the stack's at the end of the operation (E2.61).
// It is safe for concurrent use.
type outputRecorder struct {
	*core
	stack atomic.Pointer[value.Value] // the registered outputs of the stack; nil for none
}

// record accepts the outputs of a component or of the stack if they match the plan. before holds the outputs of the
// prior state.
func (o *outputRecorder) record(reg *resources.Registration, before, outputs value.Value) error {
	isStack, skipped := reg == o.table.Root(), reg.Result != monitor.Succeeded || reg.State() == nil
	if isStack { // finish decides whether they are written
		o.stack.Store(&outputs)
	}
	if !skipped {
		if err := o.constraint.outputs(reg.URN, before, outputs); err != nil {
			if o.constraint.violated.Load() { // an earlier violation may have left outputs out
				return monitor.ErrReported
			}
			if isStack {
				o.stack.Store(nil)
			}
			return o.constraint.violation(reg.URN, reg.Goal.Position, err)
		}
	}
	if isStack || skipped {
		return nil
	}
	if o.running.Err() != nil {
		return monitor.ErrShutdown
	}
	if err := o.put(reg, outputs); err != nil {
		return o.executor.JournalFailed(&reg.Step, err)
	}
	if now := reg.State(); now != nil && !now.Custom { // E2.63
		o.executor.AfterHooks(&reg.Step, now)
	}
	return nil
}

// finish writes the stack's outputs (E2.61, E6.55) and returns the stack's own resource before and after the operation,
// nil if there is none. After a failure, outputs that the program did not register keep their values.
func (o *outputRecorder) finish() (before, after *state.Resource) {
	before, left := o.table.Prior.Found(urn.RootStack(o.opts.Stack, o.opts.Project))
	reg := o.table.Root()
	registered := o.stack.Load()
	if reg != nil && reg.Destroyed() { // its outputs are reported nevertheless (E2.61)
		if registered != nil {
			step := reg.Step
			step.New = reg.State().Clone()
			step.New.Outputs = knownOutputs(value.EmptyMap(), *registered)
			o.report.outputs(step)
		}
		return before, nil
	}
	if reg == nil || reg.State() == nil || o.terminated.Load() {
		if left != nil {
			after = before
		}
		return before, after
	}
	if registered == nil {
		return before, reg.State()
	}
	outputs := *registered
	if (o.told.Load() || o.programFailed.Load() || o.report.failed.Load() || o.running.Err() != nil) && before != nil {
		merged := before.Outputs
		for i, key := range outputs.Keys() {
			merged = merged.MapOrEmpty().With(key, outputs.At(i))
		}
		outputs = merged
	}
	if err := o.put(reg, outputs); err != nil {
		o.report.message(operationFailed(reg.URN, "", "could not record the stack's outputs: "+err.Error()))
	}
	return before, reg.State()
}

// put replaces the outputs of a component or of the stack and reports that (E2.60, E6.20).
func (o *outputRecorder) put(reg *resources.Registration, outputs value.Value) error {
	before := reg.State()
	now := before.Clone()
	now.Outputs = outputs
	if !o.opts.DryRun {
		now.Outputs = knownOutputs(before.Outputs, outputs)
	}
	if !value.Equal(before.Outputs, now.Outputs) {
		if err := o.journal.Commit(o.calls, journal.Entry{Amend: []journal.Amended{{ID: reg.ID(),
			Resource: now}}}); err != nil {
			return err
		}
	}
	o.report.outputs(reg.Amend(now))
	return nil
}

// knownOutputs returns outputs without unknown values: an unknown output keeps its value in before or is removed.
func knownOutputs(before, outputs value.Value) value.Value {
	given := outputs
	for i, key := range given.Keys() {
		if !given.At(i).ContainsUnknown() {
			continue
		}
		if former, ok := before.Lookup(key); ok {
			outputs = outputs.With(key, former)
		} else {
			outputs = outputs.Without(key)
		}
	}
	return outputs
}
