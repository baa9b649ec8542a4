package engine

import (
	"context"
	"encoding/json"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/slots"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// newOperation creates the parts of an operation. The caller ends the operation by calling stop and closing the
// registry. calls is the context of provider calls; nil stands for one that ends with ctx. naming may be nil if nothing
// is registered. The caller has set the defaults of o.
//
// A part may only refer to parts that are created before it, so the references form no cycle.
func newOperation(ctx, calls context.Context, o Options, mode mode, scope *plan.Scope, naming *plan.Naming) *operation {
	life := newLifetime(ctx, calls, o.Crash)
	report := &reporter{sink: o.Events, planning: o.DryRun, mode: mode, changes: map[Op]int{},
		crashes: map[crashed]bool{}, produced: map[urn.URN]bool{}}
	c := &core{lifetime: life, opts: &o, mode: mode, report: report,
		failures:   &failures{life: life, report: report, goOn: o.ContinueOnError || o.DryRun},
		table:      resources.NewTable(o.Stack, o.Project, o.Base.Resources, scope),
		slots:      slots.NewPool(life.running, o.Parallel, life.guard),
		journal:    apply.NewWriter(o.Journal, len(o.Base.Resources)),
		constraint: newPlanConstraint(&o, life, report)}
	op := &operation{core: c, pending: &pendingCreations{base: o.Base, retry: o.Retry, restricted: scope.Restricts(),
		dryRun: o.DryRun, report: report}}
	c.registry = providers.New(c.registryOptions())
	c.executor = &apply.Executor{Options: op.executorOptions()}

	op.policies = &policies{core: c, packs: o.Policies}
	retainer := &retainer{c, scope.Left()}
	registrar := &registrar{core: c, retainer: retainer, pending: op.pending,
		examiner: &examiner{core: c, naming: naming, policies: op.policies},
		decider:  &decider{core: c, naming: naming, replaces: scope.Replaces}}
	resolver := &resolver{core: c, registrar: registrar}
	op.deployment = &Deployment{core: c, transforms: &transforms{}, resolver: resolver, registrar: registrar,
		outputs: &outputRecorder{core: c}}

	op.targets = &targets{core: c, scope: scope}
	op.refresher = &refresher{c}
	op.importer = &importer{core: c, retainer: retainer, resolver: resolver, registrar: registrar}
	op.deleter = &deleter{core: c, scope: scope, targets: op.targets, pending: op.pending,
		policies: op.policies}
	return op
}

// executorOptions returns the options of the executor.
func (op *operation) executorOptions() apply.Options {
	o := op.opts
	return apply.Options{
		Project: o.Project, Stack: o.Stack, Calls: op.calls, DryRun: o.DryRun, IgnoreProtect: o.IgnoreProtect,
		Refreshing: op.mode == refreshing, Now: o.Now, Seed: o.Seed,
		Table: op.table, Providers: op.registry, Journal: op.journal, Report: op.report, Terminated: op.terminated.Load,
		Stop: op.stop, Failed: op.failures.resourceFailed,
		Retried: func(u urn.URN) bool { return op.pending.recorded(u) != nil },
	}
}

// registryOptions returns the options of the registry of providers. The registry records extensions in the journal
// itself, because they belong to no step.
func (c *core) registryOptions() providers.Options {
	o := c.opts
	return providers.Options{
		Loader: o.Providers, Calls: c.calls, Config: providers.Config{Values: o.Config, Secret: o.ConfigSecretKeys},
		DryRun: o.DryRun, NewID: o.NewID, Table: c.table, Extensions: o.Base.Extensions, Guard: c.guard,
		StackOutputs: o.StackOutputs, StackResources: o.StackResources,
		Record: func(ref string, extension json.RawMessage) error {
			return c.journal.Commit(c.calls, journal.Entry{Extensions: map[string]json.RawMessage{ref: extension}})
		},
		Warn: func(about urn.URN, text string) {
			c.report.message(Message{URN: about, Severity: diag.Warning, Text: text})
		},
	}
}

// core holds what all parts of an operation share; each part embeds it and adds its own data. The fields are set before
// the operation begins, and each is safe for concurrent use; opts is read-only while a program runs.
type core struct {
	*lifetime
	opts       *Options
	mode       mode
	report     *reporter
	failures   *failures
	table      *resources.Table
	slots      *slots.Pool
	journal    *apply.Writer
	registry   *providers.Registry
	executor   *apply.Executor
	constraint *planConstraint
}
