package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Update runs a program and makes the stack what the program asks for; with DryRun it only says what that would take.
// The program's context ends when nothing more is to be started. An error means that the operation could not be carried
// out at all, or that its end could not be put together; what goes wrong with resources is reported by events and in
// Failed.
func Update(ctx context.Context, o Options, program Program) (*Result, error) {
	return operate(ctx, o, false, func(d *Deployment) {
		pendingOf(d).warnOfPending()
		if d.checkTargets(d.scope.Replaces) != nil {
			return
		}
		refresherOf(d).refreshBefore(d.opts.RunProgram)
		if d.running.Err() == nil {
			d.runProgram(program)
		}
		d.deleteRest()
		d.checkMissingSteps()
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
		pendingOf(d).warnOfPending()
		if !d.requirePresent() {
			return
		}
		refresherOf(d).refreshBefore(false)
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
			refresherOf(d).refreshAll(d.table.Refreshes(d.table.Base().Resources))
			d.closeRequests()
			return
		}
		d.mode = refreshing
		d.runProgram(program)
		if _, failed := d.faults(); !failed {
			refresherOf(d).refreshRest()
		}
	})
}

// scopeOptions are what the options confine an operation to.
func scopeOptions(o *Options) plan.ScopeOptions {
	s := plan.ScopeOptions{Targets: o.Targets, Excludes: o.Excludes, Replace: o.Replace,
		TargetDependents: o.TargetDependents, ExcludeDependents: o.ExcludeDependents, ExcludeProtected: o.ExcludeProtected}
	if o.Base != nil {
		s.Base = o.Base.Resources
	}
	return s
}

// requirePresent refuses an operation on resources that the state does not have (E4.103).
func (d *Deployment) requirePresent() bool {
	err := d.missingFromState()
	if err == nil {
		return true
	}
	d.report.message(Message{Severity: diag.Error, Code: diag.OperationFailed, Text: err.Error()})
	_ = d.bail()
	return false
}

// refreshBefore reads what has to be read before anything is decided: everything in scope if that was asked for, else
// what its provider wants to have read (E7.13, E4.112). later says that everything is read when the program registers
// it (E7.29).
func (d refresher) refreshBefore(later bool) {
	switch {
	case d.running.Err() != nil:
	case !d.opts.Refresh && d.opts.SkipRefreshBefore:
	case d.opts.Refresh && later:
	case d.opts.Refresh:
		d.refreshAll(d.table.Refreshes(d.table.Base().Resources))
	default:
		wants := func(r *state.Resource) bool { return r.RefreshBeforeUpdate && !r.Delete }
		if all := d.table.Base().Resources; slices.ContainsFunc(all, wants) {
			chosen := d.table.Refreshes(all)
			d.refreshAll(func(r *state.Resource) bool { return wants(r) && chosen(r) })
		}
	}
}

// operate surrounds the phases of an operation with what all have in common. It returns when everything it started is
// over.
func operate(ctx context.Context, o Options, refreshing bool, phases func(*Deployment)) (*Result, error) {
	if (o.Journal == nil) != o.DryRun {
		return nil, errors.New("an operation needs a journal, and a preview must have none")
	}
	if _, err := providers.DeniedPackages(o.Config); err != nil {
		return nil, err
	}
	if err := noDuplicates(o.Base); err != nil {
		return nil, err
	}
	scope, err := plan.NewScope(scopeOptions(&o))
	if err != nil {
		return nil, err
	}
	naming, err := plan.NewNaming(plan.NamingOptions{Project: o.Project, Stack: o.Stack, Organization: o.Organization,
		Config: o.Config, ConfigSecretKeys: o.ConfigSecretKeys})
	if err != nil {
		return nil, err
	}
	calls, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	d := newDeployment(ctx, calls, o, scope, refreshing)
	d.naming = naming
	defer d.stop()
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
	d.registry.Close()
	close(d.over)
	<-watched

	result := &Result{Snapshot: d.opts.Base, Plan: d.constraint.record, Changes: d.report.changes,
		Failed:   d.report.hasFailed(),
		Canceled: ctx.Err() != nil, Terminated: d.isTerminated(), PlanViolated: d.constraint.violated()}
	if !o.DryRun {
		result.Snapshot, err = d.journal.Snapshot(d.opts.Base)
	}
	if !o.DryRun && !result.Failed && !result.Canceled && !result.Terminated {
		result.Snapshot = pendingOf(d).withoutRetried(result.Snapshot)
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

// watch reacts to interrupts until the operation is over: the first asks providers to hurry, the second gives up
// (E5.50, E5.51).
func (d *Deployment) watch(ctx context.Context, giveUp context.CancelFunc) {
	interrupted := ctx.Done()
	var asking sync.WaitGroup
	defer asking.Wait()
	for {
		select {
		case <-interrupted:
			interrupted = nil
			// a frozen provider must not keep the second from being heard
			asking.Go(func() { defer d.guard(); d.registry.Cancel(d.calls) })
		case <-d.opts.Terminate:
			d.journal.Close()
			d.terminate()
			giveUp()
			return
		case <-d.over:
			return
		}
	}
}

// runProgram runs the program to its end, or to the point where it asks for nothing more (E2.6).
func (d *Deployment) runProgram(program func(ctx context.Context, m monitor.Monitor) error) {
	signal := d.beginProgram()
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
	case <-d.interrupted:
		d.closeRequests()
		d.programEnded(d.lastOf(ended))
	}
	d.closeRequests()
}

// programGrace is how long a program may take to end once it is interrupted and nothing that it asked for is under way.
const programGrace = time.Second

// lastOf waits for a program that was interrupted. One that does not look at its context is left alone: it cannot ask
// for anything any more.
func (d *Deployment) lastOf(ended <-chan error) error {
	timer := time.NewTimer(programGrace)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return context.Canceled
	}
}

// programEnded takes note of how the program ended (E2.7).
func (d *Deployment) programEnded(err error) {
	switch {
	case err == nil:
	case errors.Is(err, monitor.ErrReported), errors.Is(err, monitor.ErrShutdown), errors.Is(err, context.Canceled):
		d.failProgram()
		if errors.Is(err, monitor.ErrReported) {
			d.report.fail()
		}
	default:
		d.failProgram()
		d.report.message(Message{Severity: diag.Error, Text: "an unhandled error occurred: " + err.Error()})
	}
}

// lastWords says how the operation ended when it did not end well (E5.48).
func (d *Deployment) lastWords(r *Result, refreshing bool) {
	word := "update"
	if d.opts.DryRun {
		word = "preview"
	}
	bailed, _ := d.faults()
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

// refuseDeleteHooks refuses to destroy, without the program that has them, resources that want hooks to run when they
// are deleted (E2.80).
func refuseDeleteHooks(base *state.Snapshot) error {
	if base == nil {
		return nil
	}
	for _, r := range base.Resources {
		for _, kind := range []string{"BeforeDelete", "AfterDelete"} {
			if len(r.ResourceHooks[kind]) > 0 {
				return fmt.Errorf("resource %s has hooks that run when it is deleted, and the program has them: "+
					"you must run with the --run-program flag to use delete hooks during destroy", r.URN)
			}
		}
	}
	return nil
}
