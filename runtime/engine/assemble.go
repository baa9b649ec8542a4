package engine

import (
	"context"
	"encoding/json"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/slots"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/value/urn"
)

// newOperation makes the parts of an operation and tells each what it works with. The caller ends it by calling stop
// and closing the registry. calls is the context of provider calls; nil for one that ends with ctx. naming is nil where
// nothing is registered.
//
// Parts know each other in one direction only: what is made later may use what was made before. So no part can reach
// back into one that uses it.
func newOperation(ctx, calls context.Context, o Options, mode mode, scope *plan.Scope, naming *plan.Naming) *operation {
	o.setDefaults()
	life := newLifetime(ctx, calls, o.Crash)
	report := &reporter{sink: o.Events, planning: o.DryRun, refreshing: mode == refreshing, changes: map[Op]int{}}
	op := &operation{lifetime: life, opts: o, report: report,
		failures:   &failures{life: life, report: report, goOn: o.ContinueOnError},
		journal:    apply.NewWriter(o.Journal, len(o.Base.Resources)),
		constraint: newPlanConstraint(&o, life, report),
		pending: &pendingCreations{base: o.Base, retry: o.Retry, restricted: scope.Restricts(), dryRun: o.DryRun,
			report: report}}
	table := resources.NewTable(o.Stack, o.Project, o.Base.Resources, scope)
	pool := slots.NewPool(life.running, o.Parallel, life.guard)
	op.registry = providers.New(op.registryOptions(table))
	op.executor = &apply.Executor{Options: op.executorOptions(table)}

	opts, fail := &op.opts, op.failures
	kept := &retainer{table: table, journal: op.journal, executor: op.executor, report: report, failures: fail,
		dryRun: o.DryRun}
	registrar := &registrar{opts: opts, mode: mode, life: life, report: report, failures: fail, table: table, slots: pool,
		executor: op.executor, retainer: kept, pending: op.pending, constraint: op.constraint,
		examiner: &examiner{calls: life.calls, dryRun: o.DryRun, registry: op.registry, naming: naming, report: report,
			failures: fail},
		decider: &decider{calls: life.calls, opts: opts, mode: mode, table: table, registry: op.registry, naming: naming,
			replaces: scope.Replaces, constraint: op.constraint, report: report, failures: fail}}
	resolver := &resolver{registry: op.registry, table: table, slots: pool, failures: fail, registrar: registrar,
		rootDir: o.RootDir}
	op.deployment = &Deployment{lifetime: life, transforms: &transforms{}, opts: opts, report: report, failures: fail,
		table: table, registry: op.registry, slots: pool, hooks: &op.executor.Hooks, resolver: resolver,
		registrar: registrar, outputs: &outputRecorder{opts: opts, life: life, report: report, table: table,
			journal: op.journal, executor: op.executor, constraint: op.constraint}}

	op.migration = &migration{opts: opts, failures: fail, life: life, table: table, journal: op.journal,
		config: op.registry.Config}
	op.targets = &targets{scope: scope, table: table, life: life, report: report, failures: fail}
	op.refresher = &refresher{opts: opts, life: life, report: report, failures: fail, table: table, journal: op.journal,
		executor: op.executor, slots: pool}
	op.importer = &importer{opts: opts, life: life, report: report, table: table, packages: &op.registry.Packages,
		slots: pool, executor: op.executor, retainer: kept, resolver: resolver, registrar: registrar}
	op.deleter = &deleter{opts: opts, mode: mode, scope: scope, life: life, report: report, failures: fail, table: table,
		slots: pool, executor: op.executor, targets: op.targets, pending: op.pending, constraint: op.constraint}
	return op
}

// executorOptions returns what the executor works with.
func (op *operation) executorOptions(table *resources.Table) apply.Options {
	o := &op.opts
	return apply.Options{
		Project: o.Project, Stack: o.Stack, Calls: op.calls, DryRun: o.DryRun, IgnoreProtect: o.IgnoreProtect,
		Refreshing: op.report.refreshing, Now: o.Now, Seed: o.Seed,
		Table: table, Providers: op.registry, Journal: op.journal, Report: op.report, Terminated: op.isTerminated,
		Stop: op.stop, Failed: op.failures.resourceFailed,
		Retried: func(u urn.URN) bool { return op.pending.recorded(u) != nil },
	}
}

// registryOptions returns what the registry of providers works with. The registry records extensions in the journal by
// itself: they belong to no step.
func (op *operation) registryOptions(table *resources.Table) providers.Options {
	o := &op.opts
	return providers.Options{
		Loader: o.Providers, Calls: op.calls, Config: providers.Config{Values: o.Config, Secret: o.ConfigSecretKeys},
		DryRun: o.DryRun, NewID: o.NewID, Table: table, Extensions: o.Base.Extensions, Guard: op.guard,
		StackOutputs: o.StackOutputs, StackResources: o.StackResources,
		Record: func(ref string, extension json.RawMessage) error {
			return op.journal.Commit(op.calls, journal.Entry{Extensions: map[string]json.RawMessage{ref: extension}})
		},
		Warn: func(about urn.URN, text string) {
			op.report.message(Message{URN: about, Severity: diag.Warning, Text: text})
		},
	}
}
