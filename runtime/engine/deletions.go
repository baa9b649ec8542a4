package engine

import (
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// deleter deletes, at the end of an operation, the resources that the program did not register and the old objects of
// replacements (E4.118–E4.125).
type deleter struct {
	*core
	scope    *plan.Scope
	targets  *targets
	pending  *pendingCreations
	policies *policies
	begun    bool
}

// deleteRest deletes the unregistered resources and the old objects of replacements (E4.118–E4.125).
func (d *deleter) deleteRest() {
	// After a failure deletions go on only if asked to, and if the program itself ran to its end (E4.125, E5.44).
	begun := d.begun // done already if the program waits for the shutdown
	d.begun = true
	failed := d.programFailed.Load()
	if begun || d.running.Err() != nil || (failed || d.report.failed.Load()) &&
		!(d.opts.ContinueOnError && !failed && !d.incomplete.Load()) {
		return
	}
	if d.targets.check(d.scope.Targets, d.scope.Excludes) != nil { // only now all URNs of the program are known
		return
	}
	end := d.planEnding()
	if end == nil {
		return
	}
	current := make([]*state.Resource, len(end.Steps))
	for i, s := range end.Steps {
		current[i] = s.Old
	}
	current = d.table.Renamed(current)
	if s, err := d.constraint.taken(end.Steps); err != nil {
		m := operationFailed(s.URN, "", err.Error())
		m.Position, m.Recorded = s.Place()
		_ = d.constraint.violates(m)
		return
	}
	if err := d.policies.mayDestroy(end.Steps, analyzer.Deletion, OpDelete); err != nil {
		d.failures.resourceFailed()
		return
	}
	// Delete layer by layer, dependants before dependencies, and within a layer in reverse order of the state.
	keep := &keptBack{needed: end.Keep}
	for _, layer := range plan.Layers(current) {
		slices.Reverse(layer)
		layer = slices.DeleteFunc(layer, func(i int) bool { return keep.keeps(current[i].URN) })
		d.slots.Each(len(layer), func(n int) {
			s := end.Steps[layer[n]]
			if _, err := d.executor.Take(s, nil); err == nil {
				return
			}
			keep.add(current[layer[n]])
			if !(s.Old.Protect && s.Op == OpDelete && !d.opts.IgnoreProtect) { // E5.45
				d.failures.resourceFailed()
			}
		})
	}
}

// keptBack is the set of resources that must stay because a deletion failed (E4.122). It is safe for concurrent use.
type keptBack struct {
	mu     sync.Mutex // guards needed
	needed *plan.Needed
}

// add keeps everything that r needs, because r could not be deleted.
func (k *keptBack) add(r *state.Resource) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.needed.Add(r)
}

// keeps reports whether a resource must stay.
func (k *keptBack) keeps(u urn.URN) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.needed.Kept[u]
}

// planEnding chooses the final deletions of an operation. It returns nil if the operation must not go on.
func (d *deleter) planEnding() *plan.Ending {
	inv := d.table.Inventory(d.mode == destroying)
	for _, op := range d.opts.Base.Pending {
		if op.Kind == state.Creating && !d.pending.retries(op) {
			inv.Pending = append(inv.Pending, op.Resource)
		}
	}
	end := plan.PlanEnding(inv, d.scope)
	d.table.Marks.MarkDeleting(end.Deleting)
	for _, r := range end.Untouched { // E4.109, E4.123
		step := plan.NewStep(OpSame, r, r)
		if step.Left = d.table.Scope.LeftOf(r.URN); step.Left == "" && r.Type != urn.RootStackType {
			step.Left = plan.NeededByExcluded
		}
		d.report.Started(step)
		d.report.Finished(step, OpSame, d.opts.DryRun || r.Custom, 0)
	}
	for _, r := range end.Unnamed {
		m := operationFailed(r.URN, r.SourcePosition, fmt.Sprintf( // E4.105
			"Resource '%s' will be destroyed but was not specified in --target list.\n"+
				"Either include resource in --target list or pass --target-dependents to proceed.", r.URN))
		m.Recorded = true
		d.report.message(m)
	}
	if len(end.Unnamed) > 0 && !d.opts.DryRun {
		_ = d.abort()
		return nil
	}
	return &end
}
