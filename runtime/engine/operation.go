package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Update runs a program and makes the stack what the program asks for; with DryRun it only says what that would take. The
// program's context ends when nothing more is to be started. An error means that the operation could not be carried out
// at all, or that its end could not be put together; what goes wrong with resources is reported by events and in Failed.
func Update(ctx context.Context, o Options, program Program) (*Result, error) {
	return operate(ctx, o, false, func(d *Deployment) {
		d.warnOfPending()
		if d.checkTargets(d.scope.replaces) != nil {
			return
		}
		d.refreshBefore(d.opts.RunProgram)
		if d.running.Err() == nil {
			d.runProgram(program)
		}
		d.deleteRest()
		d.checkLeftovers()
	})
}

// Program asks a monitor for what it wants.
type Program = func(ctx context.Context, m monitor.Monitor) error

// Destroy deletes everything in the stack, dependents first (E7.35). Without a program, providers are configured as the
// state says; a program is run for its providers and components, and everything else that it registers is left as it is
// until it is deleted (E7.41).
func Destroy(ctx context.Context, o Options, program Program) (*Result, error) {
	if program == nil {
		if err := refuseDeleteHooks(o.Base); err != nil {
			return nil, err
		}
	}
	return operate(ctx, o, false, func(d *Deployment) {
		d.warnOfPending()
		if !d.requirePresent() {
			return
		}
		d.refreshBefore(false)
		if program != nil && d.running.Err() == nil {
			d.mode = destroying
			d.runProgram(program)
		}
		d.closeRequests()
		d.deleteRest()
	})
}

// Refresh reads every resource and makes the state tell what there is (E7.13–E7.33). Without a program, providers are
// configured as the state says; with one, as the program says. Resources are neither created nor deleted.
func Refresh(ctx context.Context, o Options, program Program) (*Result, error) {
	return operate(ctx, o, true, func(d *Deployment) {
		if !d.requirePresent() {
			return
		}
		if program == nil {
			d.refreshAll(d.scope.refreshes(d.olds.resources()))
			d.closeRequests()
			return
		}
		d.mode = refreshing
		d.runProgram(program)
		if !d.programHasFailed() {
			d.refreshRest()
		}
	})
}

// requirePresent refuses an operation on resources that the state does not have (E4.103).
func (d *Deployment) requirePresent() bool {
	err := d.scope.requirePresent(d.olds)
	if err == nil {
		return true
	}
	d.report.message(Message{Severity: diag.Error, Code: diag.OperationFailed, Text: err.Error()})
	_ = d.bail()
	return false
}

// refreshBefore reads what has to be read before anything is decided: everything in scope if that was asked for, else what
// its provider wants to have read (E7.13, E4.112). later says that everything is read when the program registers it (E7.29).
func (d *Deployment) refreshBefore(later bool) {
	switch {
	case d.running.Err() != nil:
	case !d.opts.Refresh && d.opts.SkipRefreshBefore:
	case d.opts.Refresh && later:
	case d.opts.Refresh:
		d.refreshAll(d.scope.refreshes(d.olds.resources()))
	default:
		wants := func(r *state.Resource) bool { return r.RefreshBeforeUpdate && !r.Delete }
		if all := d.olds.resources(); slices.ContainsFunc(all, wants) {
			chosen := d.scope.refreshes(all)
			d.refreshAll(func(r *state.Resource) bool { return wants(r) && chosen(r) })
		}
	}
}

func (d *Deployment) programHasFailed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.programFailed
}

// operate surrounds the phases of an operation with what all have in common. It returns when everything it started is over.
func operate(ctx context.Context, o Options, refreshing bool, phases func(*Deployment)) (*Result, error) {
	if (o.Journal == nil) != o.DryRun {
		return nil, errors.New("an operation needs a journal, and a preview must have none")
	}
	if _, err := deniedPackages(o.Config); err != nil {
		return nil, err
	}
	if err := noDuplicates(o.Base); err != nil {
		return nil, err
	}
	scope, err := newScope(&o)
	if err != nil {
		return nil, err
	}
	naming, err := newNaming(&o)
	if err != nil {
		return nil, err
	}
	d := newDeployment(ctx, o, scope, refreshing)
	d.naming = naming
	defer d.stop()
	calls, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	d.calls = calls
	defer d.guard()

	began := d.opts.Now()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer d.guard()
		d.watch(ctx, giveUp)
	}()
	d.report.emit(&Prelude{Config: d.preludeConfig()})
	if o.Serve != nil {
		endpoint, err := o.Serve(d)
		if err != nil {
			d.report.message(Message{Severity: diag.Error, Code: diag.OperationFailed, Text: err.Error()})
			d.stop()
		}
		d.endpoint = endpoint
	}
	if d.running.Err() == nil {
		d.migrate()
	}
	if d.running.Err() == nil {
		phases(d)
	}
	d.closeRequests()
	before, after := d.finishStack()
	d.finishWaiting()
	d.registry.close()
	close(d.over)
	<-watched

	result := &Result{Snapshot: d.opts.Base, Plan: d.planner.record, Changes: d.report.changes, Failed: d.report.hasFailed(),
		Canceled: ctx.Err() != nil, Terminated: d.isTerminated()}
	if !o.DryRun {
		result.Snapshot, err = d.ledger.snapshot(d.opts.Base)
	}
	d.lastWords(result, refreshing)
	ending := "succeeded"
	switch {
	case result.Terminated:
		ending = "canceled" // E8.10
	case result.Failed || result.Canceled:
		ending = "failed"
	}
	d.report.summary(d.opts.Now().Sub(began), ending, before, after)
	d.report.emit(&Finished{})
	if err != nil {
		return nil, fmt.Errorf("put the state together: %w", err)
	}
	return result, nil
}

// noDuplicates refuses a state in which two resources have one URN (E6.52).
func noDuplicates(base *state.Snapshot) error {
	if base == nil {
		return nil
	}
	seen := make(map[urn.URN]bool, len(base.Resources))
	for _, r := range base.Resources {
		if r.Delete {
			continue
		}
		if seen[r.URN] {
			return fmt.Errorf("unexpected duplicate resource '%s'", r.URN)
		}
		seen[r.URN] = true
	}
	return nil
}

// watch reacts to interrupts until the operation is over: the first asks providers to hurry, the second gives up (E5.50,
// E5.51).
func (d *Deployment) watch(ctx context.Context, giveUp context.CancelFunc) {
	interrupted := ctx.Done()
	var asking sync.WaitGroup
	defer asking.Wait()
	for {
		select {
		case <-interrupted:
			interrupted = nil
			asking.Go(func() { defer d.guard(); d.registry.cancel(d.calls) }) // a frozen provider must not keep the second from being heard
		case <-d.opts.Terminate:
			d.ledger.close()
			d.mu.Lock()
			d.terminated = true
			d.mu.Unlock()
			d.stop()
			giveUp()
			return
		case <-d.over:
			return
		}
	}
}

func (d *Deployment) isTerminated() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.terminated
}

// runProgram runs the program to its end, or to the point where it asks for nothing more (E2.6).
func (d *Deployment) runProgram(program func(ctx context.Context, m monitor.Monitor) error) {
	signal := make(chan struct{})
	d.mu.Lock()
	d.finished = signal
	d.mu.Unlock()
	ended := make(chan error, 1)
	go func() {
		defer d.guard()
		ended <- program(d.running, d)
	}()
	select {
	case err := <-ended:
		d.programEnded(err)
	case <-signal:
		d.closeRequests()
		d.deleteRest()
		// What is left of the operation is what the program waits for; it is over before the stack's outputs are.
		d.finishWaiting()
		d.programEnded(<-ended)
	}
	d.closeRequests()
}

// finishWaiting lets the one who waits for the shutdown go on.
func (d *Deployment) finishWaiting() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !isDone(d.drained) {
		close(d.drained)
	}
}

// programEnded takes note of how the program ended (E2.7).
func (d *Deployment) programEnded(err error) {
	switch {
	case err == nil:
	case errors.Is(err, monitor.ErrReported), errors.Is(err, monitor.ErrShutdown), errors.Is(err, context.Canceled):
		d.mu.Lock()
		d.programFailed = true
		d.mu.Unlock()
		if errors.Is(err, monitor.ErrReported) {
			d.report.fail()
		}
	default:
		d.mu.Lock()
		d.programFailed = true
		d.mu.Unlock()
		d.report.message(Message{Severity: diag.Error, Text: "an unhandled error occurred: " + err.Error()})
	}
}

// closeRequests admits no more requests and waits for those under way.
func (d *Deployment) closeRequests() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.requests.Wait()
}

// deleteRest deletes what the program did not register, and what replacements have left behind (E4.118–E4.125).
func (d *Deployment) deleteRest() {
	d.mu.Lock()
	done := d.deletionsDone
	d.deletionsDone = true
	failed := d.programFailed
	d.mu.Unlock()
	if done || d.running.Err() != nil || (failed || d.report.hasFailed()) && !d.mayDeleteAfterFailure(failed) {
		return
	}
	if d.checkTargets(d.scope.targets) != nil {
		return
	}
	condemned, steps, keep := d.condemn()
	if condemned == nil {
		return
	}
	current := d.current(condemned)
	if s, err := d.planner.deletions(steps); err != nil {
		_ = d.violatesPlan(s.URN, positionOf(s.Old), err)
		return
	}
	for _, layer := range layers(current) {
		slices.Reverse(layer)
		layer = slices.DeleteFunc(layer, func(i int) bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			return keep.kept[current[i].URN]
		})
		d.parallel(len(layer), func(n int) {
			s := steps[layer[n]]
			if _, err := d.step(s, nil); err == nil {
				return
			}
			d.mu.Lock()
			keep.add(current[layer[n]])
			d.mu.Unlock()
			if !(s.Old.Protect && s.Op == OpDelete && !d.opts.IgnoreProtect) { // E5.45
				d.fail()
			}
		})
	}
}

// condemn chooses what is deleted at the end of an operation, in the order of the state, and with which steps; and what must
// stay because something that was skipped needs it. It is nil when the operation must not go on.
func (d *Deployment) condemn() ([]*state.Resource, []Step, *needed) {
	condemned, steps := []*state.Resource{}, []Step{}
	var untouched []*state.Resource
	d.mu.Lock()
	all := d.olds.resources()
	var produced []*entry
	if d.mode == destroying { // what the program registered goes too (E7.42)
		produced = d.producedEntries()
		left := all
		all = nil
		for _, e := range produced {
			all = append(all, e.resource)
		}
		for i, e := range d.olds.entries {
			if e.now != nil {
				all = append(all, left[i])
			}
		}
	}
	d.mu.Unlock()
	all = d.current(all)
	d.mu.Lock()
	deletes := d.scope.deletes(all)
	var unnamed []*state.Resource
	needed := map[string]bool{}  // provider references of what stays
	wanted := map[urn.URN]bool{} // what depends on it stays, although it was deleted because something in scope was replaced
	if d.mode != destroying {
		for _, reg := range d.resources {
			if reg.state != nil {
				needed[reg.state.Provider] = true
				if d.scope.restricts() {
					reg.state.AllDependencies(func(u urn.URN) { wanted[u] = true })
				}
			}
		}
	}
	if d.mode == destroying {
		for _, e := range produced {
			if !deletes(e.resource) {
				needed[e.resource.Provider] = true
				continue
			}
			if !d.scope.targets.empty() && !d.scope.targets.match(e.resource.URN) && !d.scope.targetDependents {
				unnamed = append(unnamed, e.resource)
			}
			condemned = append(condemned, e.resource)
			steps = append(steps, deletion(e.resource, false))
			d.deleting[e.resource.URN] = true
		}
	}
	for _, e := range d.olds.entries {
		if e.now == nil || e.resource.ViewOf != "" || e.claimed && !e.doomed {
			continue
		}
		about := e.resource
		if e.brought != nil && !e.doomed && wanted[about.URN] {
			continue
		}
		replacedNow := e.claimed && e.doomed
		if !replacedNow && !deletes(about) && !(e.now.PendingReplacement && !about.PendingReplacement) {
			if !e.doomed && !about.PendingReplacement {
				untouched = append(untouched, about)
			}
			needed[about.Provider] = true
			about.AllDependencies(func(u urn.URN) { wanted[u] = true })
			continue
		}
		if !d.scope.targets.empty() && !d.scope.targets.match(about.URN) && !d.scope.targetDependents && !replacedNow && !e.doomed {
			unnamed = append(unnamed, about)
		}
		condemned = append(condemned, about)
		if e.now.PendingReplacement && !about.PendingReplacement {
			// Deleted by a replacement of this operation and not wanted any more (E4.60).
			steps = append(steps, newStep(OpRemovePendingReplace, about, nil))
		} else {
			steps = append(steps, deletion(about, e.doomed))
		}
		if !about.Delete || d.olds.byURN[about.URN] == nil {
			d.deleting[about.URN] = true
		}
	}
	keep := newNeeded(all)
	for _, reg := range d.resources {
		// What was skipped stays as it was, and with it what that needs.
		if isDone(reg.done) && reg.result != monitor.Succeeded {
			if reg.old != nil {
				keep.add(reg.old.resource)
			}
			if reg.goal != nil {
				keep.add(reg.goal.newState(reg.urn, nil))
			}
		}
	}
	d.mu.Unlock()
	d.inStateOrder(condemned, steps)
	for i := len(condemned) - 1; i >= 0; i-- { // a replaced provider waits for what still needs it
		r := condemned[i]
		unmade := steps[i].Op == OpRemovePendingReplace && !r.PendingReplacement && wanted[r.URN]
		if unmade || r.IsProvider() && needed[urn.Reference{URN: r.URN, ID: r.ID}.String()] {
			condemned, steps = slices.Delete(condemned, i, i+1), slices.Delete(steps, i, i+1)
		}
	}
	for _, r := range untouched { // E4.109, E4.123: it stays where it is
		step := newStep(OpSame, r, r)
		d.report.started(step)
		d.report.finished(step, OpSame, d.opts.DryRun || r.Custom, 0)
	}
	for _, r := range unnamed {
		d.report.message(Message{URN: r.URN, Severity: diag.Error, Code: diag.OperationFailed, Position: r.SourcePosition,
			Text: fmt.Sprintf("Resource '%s' will be destroyed but was not specified in --target list.\n"+
				"Either include resource in --target list or pass --target-dependents to proceed.", r.URN)}) // E4.105
	}
	if len(unnamed) > 0 && !d.opts.DryRun {
		_ = d.bail()
		return nil, nil, nil
	}
	return condemned, steps, keep
}

// inStateOrder sorts what is condemned, and its steps, so that providers which found a new place in the state stand there.
func (d *Deployment) inStateOrder(condemned []*state.Resource, steps []Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	type place struct {
		at       journal.ID // in what this operation put into the state, 0 in what it found there
		resource *state.Resource
		step     Step
	}
	var moved bool
	places := make([]place, len(condemned))
	for i, r := range condemned {
		places[i] = place{resource: r, step: steps[i]}
		if e := d.olds.of[r]; e != nil && (e.position < 0 || e.brought != nil) {
			places[i].at = e.id
			moved = moved || e.brought != nil
		}
	}
	if !moved {
		return
	}
	slices.SortStableFunc(places, func(a, b place) int {
		if (a.at == 0) != (b.at == 0) {
			return cmp.Compare(b.at, a.at) // what is new is first
		}
		return cmp.Compare(a.at, b.at)
	})
	for i, p := range places {
		condemned[i], steps[i] = p.resource, p.step
	}
}

// current are resources with every name as it is now: what was found through an alias has another, also where others still
// name it as it was. A resource for which nothing changes comes back as the same pointer.
func (d *Deployment) current(resources []*state.Resource) []*state.Resource {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.renamed) == 0 {
		return resources
	}
	named := func(u urn.URN) urn.URN {
		if now, ok := d.renamed[u]; ok {
			return now
		}
		return u
	}
	list := func(urns []urn.URN) []urn.URN {
		next := make([]urn.URN, len(urns))
		for i, u := range urns {
			next[i] = named(u)
		}
		return next
	}
	next := make([]*state.Resource, len(resources))
	before := d.oldNames()
	for i, r := range resources {
		if next[i] = r; !dependsOnAny(r, before) && named(r.URN) == r.URN {
			continue
		}
		c := r.Clone()
		c.URN, c.Parent, c.DeletedWith = named(r.URN), named(r.Parent), named(r.DeletedWith)
		c.Dependencies, c.ReplaceWith = list(r.Dependencies), list(r.ReplaceWith)
		c.PropertyDependencies = make(map[string][]urn.URN, len(r.PropertyDependencies))
		for key, urns := range r.PropertyDependencies {
			c.PropertyDependencies[key] = list(urns)
		}
		if ref, err := urn.ParseReference(r.Provider); err == nil {
			ref.URN = named(ref.URN)
			c.Provider = ref.String()
		}
		next[i] = c
	}
	return next
}

// oldNames are the names that are not valid any more. The caller holds mu.
func (d *Deployment) oldNames() map[urn.URN]bool {
	names := make(map[urn.URN]bool, len(d.renamed))
	for u := range d.renamed {
		names[u] = true
	}
	return names
}

// producedEntries makes entries of what the operation has put into the state, in the order of that, so that it can be
// deleted. The caller holds mu.
func (d *Deployment) producedEntries() []*entry {
	var produced []*entry
	for _, reg := range d.resources {
		if reg.state == nil {
			continue
		}
		reg.gone = true
		e := &entry{id: reg.id, position: -1, resource: reg.state, now: reg.state, claimed: true, doomed: false}
		d.olds.of[reg.state] = e
		produced = append(produced, e)
	}
	slices.SortFunc(produced, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	return produced
}

// mayDeleteAfterFailure decides whether deletions go on although something failed: only if asked to go on, and if the
// program itself ran to its end (E4.125, E5.44).
func (d *Deployment) mayDeleteAfterFailure(programFailed bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opts.ContinueOnError && !programFailed && !d.bailed
}

// finishStack puts the stack's outputs in place (E2.61, E6.55) and answers with the stack's resource before and after the
// operation, nil where there is none.
func (d *Deployment) finishStack() (before, after *state.Resource) {
	d.mu.Lock()
	root := urn.RootStack(d.opts.Stack, d.opts.Project)
	if e := d.olds.byURN[root]; e != nil {
		before = e.resource
	}
	reg, outputs, registered := d.stack, d.outputs, d.stackDone
	failed := d.bailed || d.programFailed
	gone := reg != nil && reg.gone && d.olds.of[reg.state] != nil && d.olds.of[reg.state].now == nil
	d.mu.Unlock()
	if gone { // it was destroyed; people hear of its outputs nevertheless (E2.61)
		if registered {
			step := reg.step
			step.New = reg.state.Clone()
			step.New.Outputs = knownOutputs(value.EmptyMap(), outputs)
			d.report.outputs(step)
		}
		return before, nil
	}
	if reg == nil || reg.state == nil || d.isTerminated() {
		if e := d.olds.byURN[root]; e != nil && e.now != nil {
			after = before
		}
		return before, after
	}
	if !registered {
		return before, reg.state
	}
	if (failed || d.report.hasFailed() || d.running.Err() != nil) && before != nil {
		merged := before.Outputs
		for i, key := range outputs.Keys() {
			merged = asMap(merged).With(key, outputs.At(i))
		}
		outputs = merged
	}
	if err := d.putOutputs(reg, outputs); err != nil {
		d.report.message(Message{URN: reg.urn, Severity: diag.Error, Code: diag.OperationFailed,
			Text: "could not record the stack's outputs: " + err.Error()})
	}
	return before, reg.state
}

// putOutputs replaces the outputs of a component or of the stack and reports it (E2.60, E6.20).
func (d *Deployment) putOutputs(reg *registered, outputs value.Value) error {
	d.mu.Lock()
	before := reg.state
	d.mu.Unlock()
	now := before.Clone()
	now.Outputs = outputs
	if !d.opts.DryRun {
		now.Outputs = knownOutputs(before.Outputs, outputs)
	}
	if !value.Equal(before.Outputs, now.Outputs) {
		if err := d.ledger.commit(d.calls, journal.Entry{Amend: []journal.Amended{{ID: reg.id, Resource: now}}}); err != nil {
			return err
		}
	}
	d.mu.Lock()
	reg.state = now
	step := reg.step
	d.mu.Unlock()
	step.New = now
	d.report.outputs(step)
	return nil
}

// lastWords says how the operation ended when it did not end well (E5.48).
func (d *Deployment) lastWords(r *Result, refreshing bool) {
	word := "update"
	if d.opts.DryRun {
		word = "preview"
	}
	d.mu.Lock()
	bailed := d.bailed
	d.mu.Unlock()
	switch {
	case r.Terminated:
		d.report.message(Message{Severity: diag.Error, Text: word + " cancelled"})
	case r.Failed && d.importing && d.importError != nil && !errors.Is(d.importError, monitor.ErrReported): // E7.57
		d.report.message(Message{Severity: diag.Error, Text: word + " failed: " + d.importError.Error()})
	case r.Failed && bailed:
	case r.Failed:
		d.report.message(Message{Severity: diag.Error, Text: word + " failed"})
	case r.Canceled:
		d.report.message(Message{Severity: diag.Error, Text: word + " canceled"})
	}
}
