package engine

import (
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// RegisterOutputs records the outputs of a component or of the stack, once (E2.59–E2.62). Those of the stack are put in
// place when everything else is over.
func (d *Deployment) RegisterOutputs(ctx context.Context, u urn.URN, outputs value.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	outputs, err := d.withHashes(ctx, withoutDeps(asMap(outputs)))
	if err != nil {
		return err
	}
	d.mu.Lock()
	reg := d.resources[u]
	if reg == nil || !isDone(reg.done) || reg.read || reg.complete {
		d.mu.Unlock()
		return fmt.Errorf("cannot complete a resource '%s' whose registration isn't pending", u)
	}
	reg.complete = true
	isStack, skipped := reg == d.stack, reg.result != monitor.Succeeded || reg.state == nil
	if isStack {
		d.outputs, d.stackDone = outputs, true
	}
	before := value.EmptyMap()
	if reg.old != nil {
		before = asMap(reg.old.resource.Outputs)
	}
	d.mu.Unlock()
	if !skipped {
		if err := d.planner.outputs(u, before, outputs); err != nil {
			d.mu.Lock()
			d.stackDone = d.stackDone && !isStack
			d.mu.Unlock()
			return d.violatesPlan(u, reg.goal.position, err)
		}
	}
	if isStack || skipped {
		return nil
	}
	if d.running.Err() != nil {
		return monitor.ErrShutdown
	}
	if err := d.putOutputs(reg, outputs); err != nil {
		return d.journalFailed(&reg.step, err)
	}
	if reg.state != nil && !reg.state.Custom { // E2.63
		d.afterHooks(&reg.step, reg.state)
	}
	return nil
}
