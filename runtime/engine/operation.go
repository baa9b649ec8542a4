package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Program registers resources with a monitor. Its context is cancelled when the operation starts no new work.
type Program = func(ctx context.Context, m monitor.Monitor) error

// Update runs program and brings the stack to the state that it declares. With DryRun it only reports the changes. It
// returns an error only if the operation cannot run at all or the resulting state cannot be assembled. Resource
// failures are reported as events and in Result.Failed.
func Update(ctx context.Context, o Options, program Program) (*Result, error) {
	op, err := begin(ctx, o, updating)
	if err != nil {
		return nil, err
	}
	defer op.release()
	defer op.guard()
	if !op.start() {
		return op.finish()
	}
	op.pending.warn()
	if op.targets.check(op.targets.scope.Replaces) != nil {
		return op.finish()
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
	return op.finish()
}

// Destroy deletes every resource of the stack, dependants first (E7.35). Without a program, providers get the
// configuration that is recorded in the state. A program runs only for its providers and components: the other
// resources that it registers stay unchanged until they are deleted (E7.41). It returns an error in the same cases as
// Update.
func Destroy(ctx context.Context, o Options, program Program) (*Result, error) {
	mode := destroying
	if program == nil {
		mode = updating // the registrations of the operation itself are not restricted as a program's are
		if err := refuseDeleteHooks(o.Base); err != nil {
			return nil, err
		}
	}
	op, err := begin(ctx, o, mode)
	if err != nil {
		return nil, err
	}
	defer op.release()
	defer op.guard()
	if !op.start() {
		return op.finish()
	}
	op.pending.warn()
	if !op.targets.requirePresent() {
		return op.finish()
	}
	op.refresher.before(false)
	if program != nil && op.running.Err() == nil {
		op.runProgram(program)
	}
	op.gate.closeRequests()
	op.deleter.deleteRest()
	return op.finish()
}

// Refresh reads every resource and updates the state to match the real resources (E7.13–E7.33). Providers get the
// configuration from the program, or from the state if there is no program. No resource is created or deleted. It
// returns an error in the same cases as Update.
func Refresh(ctx context.Context, o Options, program Program) (*Result, error) {
	op, err := begin(ctx, o, refreshing)
	if err != nil {
		return nil, err
	}
	defer op.release()
	defer op.guard()
	switch {
	case !op.start(), !op.targets.requirePresent():
	case program == nil:
		op.refresher.inScope()
	default:
		op.runProgram(program)
		if !op.programFailed.Load() {
			op.refresher.rest()
		}
	}
	return op.finish()
}

// operation is one run on a stack, from the first event to the last: it runs the phases, handles interrupts and returns
// the result. Its parts do the work of the phases, each with its own data; the program sees only deployment.
type operation struct {
	*core
	deployment *Deployment

	pending   *pendingCreations
	targets   *targets
	refresher *refresher
	importer  *importer
	deleter   *deleter
	policies  *policies

	giveUp   context.CancelFunc // ends the calls in flight
	began    time.Time
	done     chan struct{}  // closed at the end
	watching sync.WaitGroup // watch

	importError error // why an import without a program failed (E7.57)
}

// begin makes an operation. The caller defers release and guard, in this order, then starts the operation, runs its
// phases if start allows it, and returns what finish returns.
func begin(ctx context.Context, o Options, mode mode) (*operation, error) {
	o.setDefaults()
	scope, naming, err := prepare(&o)
	if err != nil {
		return nil, err
	}
	// An interrupt cancels ctx: no new work begins. Calls in flight run to their end, or until the user gives up
	// (E5.51).
	calls, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	op := newOperation(ctx, calls, o, mode, scope, naming)
	op.giveUp, op.began, op.done = giveUp, o.Now(), make(chan struct{})
	return op, nil
}

// release ends what an operation has begun, also after a fault.
func (op *operation) release() {
	op.stop()
	op.giveUp()
}

// start does what all operations do before their phases. It reports whether the phases may run.
func (op *operation) start() bool {
	op.watching.Go(func() {
		defer op.guard()
		op.watch()
	})
	op.report.emit(&Prelude{Config: op.opts.shownConfig()})
	op.serve()
	if op.running.Err() == nil {
		op.migrate()
	}
	return op.running.Err() == nil
}

// finish shuts down in order: it refuses further requests, records the stack's outputs, closes the providers, and stops
// the watcher. Then everything that the operation has started has ended, and finish returns the result.
func (op *operation) finish() (*Result, error) {
	op.gate.closeRequests()
	before, after := op.deployment.outputs.finish()
	op.gate.finishWaiting()
	op.registry.Close()
	close(op.done)
	op.watching.Wait()

	result, err := op.result(op.isInterrupted())
	op.reportEnd(result)
	result.Duration = op.opts.Now().Sub(op.began)
	op.report.summary(result, before, after)
	op.report.emit(&Finished{})
	if err != nil {
		return nil, fmt.Errorf("put the state together: %w", err)
	}
	return result, nil
}

// prepare validates o and parses its target patterns and naming settings.
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

// noDuplicates returns an error if two resources in base share a URN (E6.52).
func noDuplicates(base *state.Snapshot) error {
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

// refuseDeleteHooks returns an error if a resource in base has delete hooks: a destroy without the program cannot run
// them (E2.80).
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

// shownConfig returns the configuration for display, with secrets replaced by "[secret]" (E8.8).
func (o *Options) shownConfig() map[string]string {
	shown := maps.Clone(o.Config)
	for _, key := range o.ConfigSecretKeys {
		if _, ok := shown[key]; ok {
			shown[key] = "[secret]"
		}
	}
	return shown
}

// serve makes the monitor reachable for other processes if Options.Serve is set.
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

// watch reacts to interrupts until the end: at the first it asks providers to cancel their calls, at the second it
// abandons them (E5.50, E5.51).
func (op *operation) watch() {
	interrupted := op.interrupted
	var asking sync.WaitGroup
	defer asking.Wait()
	for {
		select {
		case <-interrupted:
			interrupted = nil
			// Cancel may block on a frozen provider; the second interrupt must still be noticed.
			asking.Go(func() { defer op.guard(); op.registry.Cancel(op.calls) })
		case <-op.opts.Terminate:
			op.journal.Close()
			op.terminated.Store(true)
			op.release()
			return
		case <-op.done:
			return
		}
	}
}

// result returns the outcome of the operation. It returns an error if the state cannot be assembled.
func (op *operation) result(interrupted bool) (r *Result, err error) {
	terminated := op.terminated.Load() // the second interrupt may be noticed before the first
	r = &Result{Snapshot: op.opts.Base, Plan: op.constraint.record, Changes: op.report.counted(),
		Failed: op.report.failed.Load(), Canceled: interrupted || terminated, Terminated: terminated,
		Interrupted:  terminated || interrupted && !op.report.faulty.Load(),
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

// word returns the outcome as the summary event names it.
func (r *Result) word() string {
	switch {
	case r.Terminated:
		return "canceled" // E8.10
	case r.Failed || r.Canceled:
		return "failed"
	}
	return "succeeded"
}

// reportEnd reports a failed or interrupted operation (E5.48), unless an earlier message already gave the full reason.
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
	case r.Failed && op.told.Load():
		return
	case r.Failed:
		text = word + " failed"
	case r.Canceled:
		text = word + " canceled"
	default:
		return
	}
	op.report.message(Message{Severity: diag.Error, Text: text, Interrupted: r.Canceled})
}
