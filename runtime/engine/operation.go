package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Program registers resources with a monitor. Its context ends when the operation starts nothing more.
type Program = func(ctx context.Context, m monitor.Monitor) error

// Update runs a program and makes the stack what the program asks for; with DryRun it only says what that would take.
// An error means that the operation could not be carried out at all, or that its end could not be put together; what
// goes wrong with resources is reported by events and in Failed.
func Update(ctx context.Context, o Options, program Program) (*Result, error) {
	return operate(ctx, o, updating, func(op *operation) {
		op.pending.warn()
		if op.targets.check(op.targets.scope.Replaces) != nil {
			return
		}
		op.refresher.before(op.opts.RunProgram)
		if op.running.Err() == nil {
			op.runProgram(program)
		}
		if op.running.Err() == nil {
			op.policies.analyzeStack()
		}
		op.deleter.deleteRest()
		op.constraint.checkMissing(op.opts.Base)
	})
}

// Destroy deletes everything in the stack, dependents first (E7.35). Without a program, providers get the
// configuration that the state holds. A program runs for its providers and components only: other resources that it
// registers stay as they are until they are deleted (E7.41). It returns the errors of Update.
func Destroy(ctx context.Context, o Options, program Program) (*Result, error) {
	mode := destroying
	if program == nil {
		mode = updating // what the operation itself registers is not the program's
		if err := refuseDeleteHooks(o.Base); err != nil {
			return nil, err
		}
	}
	return operate(ctx, o, mode, func(op *operation) {
		op.pending.warn()
		if !op.targets.requirePresent() {
			return
		}
		op.refresher.before(false)
		if program != nil && op.running.Err() == nil {
			op.runProgram(program)
		}
		op.closeRequests()
		op.deleter.deleteRest()
	})
}

// Refresh reads every resource and makes the state tell what there is (E7.13–E7.33). Providers get the configuration
// of the program, or that of the state if there is no program. No resource is created or deleted. It returns the
// errors of Update.
func Refresh(ctx context.Context, o Options, program Program) (*Result, error) {
	return operate(ctx, o, refreshing, func(op *operation) {
		if !op.targets.requirePresent() {
			return
		}
		if program == nil {
			op.refresher.inScope()
			op.closeRequests()
			return
		}
		op.runProgram(program)
		if !op.programFailed.Load() {
			op.refresher.rest()
		}
	})
}

// operation is one run on a stack, from its first event to its last: it runs the phases, listens to interrupts, and
// returns the result. The work of the phases is in its parts, each with its own data; the program sees only
// Deployment.
type operation struct {
	*core
	deployment *Deployment

	pending   *pendingCreations
	targets   *targets
	refresher *refresher
	importer  *importer
	deleter   *deleter
	policies  *policies

	importError error // why an import without a program failed (E7.57)
}

// operate surrounds the phases of an operation with what all have in common. It returns when everything that it started
// is over.
func operate(ctx context.Context, o Options, mode mode, phases func(*operation)) (*Result, error) {
	scope, naming, err := prepare(&o)
	if err != nil {
		return nil, err
	}
	// An interrupt ends ctx: nothing new begins. Calls in flight go on until they are done, or the user gives up (E5.51).
	calls, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	op := newOperation(ctx, calls, o, mode, scope, naming)
	defer op.stop()
	defer op.guard()

	began := op.opts.Now()
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		defer op.guard()
		op.watch(ctx, giveUp, done)
	}()
	op.report.emit(&Prelude{Config: op.opts.shownConfig()})
	op.serve()
	if op.running.Err() == nil {
		op.migrate()
	}
	if op.running.Err() == nil {
		phases(op)
	}
	// Nobody can ask for anything any more; the last entries are written; then providers end, and at last the watcher.
	op.closeRequests()
	before, after := op.deployment.outputs.finish()
	op.finishWaiting()
	op.registry.Close()
	close(done)
	<-watched

	result, err := op.result(ctx.Err() != nil)
	op.reportEnd(result)
	op.report.summary(op.opts.Now().Sub(began), result.word(), before, after)
	op.report.emit(&Finished{})
	if err != nil {
		return nil, fmt.Errorf("put the state together: %w", err)
	}
	return result, nil
}

// prepare refuses options that no operation can be made of, and reads those that are patterns or settings.
func prepare(o *Options) (*plan.Scope, *plan.Naming, error) {
	if (o.Journal == nil) != o.DryRun {
		return nil, nil, errors.New("an operation needs a journal, and a preview must have none")
	}
	if _, err := providers.DeniedPackages(o.Config); err != nil {
		return nil, nil, err
	}
	if err := noDuplicates(o.Base); err != nil {
		return nil, nil, err
	}
	scope, err := plan.NewScope(scopeOptions(o))
	if err != nil {
		return nil, nil, err
	}
	naming, err := plan.NewNaming(plan.NamingOptions{Project: o.Project, Stack: o.Stack, Organization: o.Organization,
		Config: o.Config, ConfigSecretKeys: o.ConfigSecretKeys})
	return scope, naming, err
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

// shownConfig returns the configuration for people: secrets are hidden (E8.8).
func (o *Options) shownConfig() map[string]string {
	shown := maps.Clone(o.Config)
	for _, key := range o.ConfigSecretKeys {
		if _, ok := shown[key]; ok {
			shown[key] = "[secret]"
		}
	}
	return shown
}

// serve lets other processes reach the monitor, where that is wanted.
func (op *operation) serve() {
	if op.opts.Serve == nil {
		return
	}
	endpoint, err := op.opts.Serve(op.deployment)
	if err != nil {
		op.report.message(operationFailed("", "", err.Error()))
		op.stop()
	}
	op.opts.MonitorEndpoint = endpoint
}

// watch reacts to interrupts until done is closed: the first asks providers to hurry, the second gives up (E5.50,
// E5.51).
func (op *operation) watch(ctx context.Context, giveUp context.CancelFunc, done <-chan struct{}) {
	interrupted := ctx.Done()
	var asking sync.WaitGroup
	defer asking.Wait()
	for {
		select {
		case <-interrupted:
			interrupted = nil
			// a frozen provider must not keep the second from being heard
			asking.Go(func() { defer op.guard(); op.registry.Cancel(op.calls) })
		case <-op.opts.Terminate:
			op.journal.Close()
			op.terminated.Store(true)
			op.stop()
			giveUp()
			return
		case <-done:
			return
		}
	}
}

// result returns how the operation ended. The error says that the state could not be put together.
func (op *operation) result(interrupted bool) (r *Result, err error) {
	r = &Result{Snapshot: op.opts.Base, Plan: op.constraint.record, Changes: op.report.changes,
		Failed: op.report.failed.Load(), Canceled: interrupted, Terminated: op.terminated.Load(),
		PlanViolated: op.constraint.violated.Load()}
	if op.opts.DryRun {
		return r, nil
	}
	r.Snapshot, err = op.journal.Snapshot(op.opts.Base)
	if !r.Failed && !r.Canceled && !r.Terminated {
		r.Snapshot = op.pending.withoutRetried(r.Snapshot)
	}
	return r, err
}

// word is the word of the summary for how the operation ended.
func (r *Result) word() string {
	switch {
	case r.Terminated:
		return "canceled" // E8.10
	case r.Failed || r.Canceled:
		return "failed"
	}
	return "succeeded"
}

// reportEnd reports that the operation did not end well (E5.48), unless the reason was told in full.
func (op *operation) reportEnd(r *Result) {
	word := "update"
	if op.opts.DryRun {
		word = "preview"
	}
	text := ""
	switch {
	case r.Terminated:
		text = word + " cancelled"
	case r.Failed && op.importError != nil && !errors.Is(op.importError, monitor.ErrReported): // E7.57
		text = word + " failed: " + op.importError.Error()
	case r.Failed && op.aborted.Load():
		return
	case r.Failed:
		text = word + " failed"
	case r.Canceled:
		text = word + " canceled"
	default:
		return
	}
	op.report.message(Message{Severity: diag.Error, Text: text})
}
