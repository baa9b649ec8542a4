package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/slots"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

var (
	_ monitor.Monitor       = (*Deployment)(nil)
	_ monitor.HookRegistrar = (*Deployment)(nil)
)

// Deployment is one operation on one stack under way: what a program asks for, it plans and carries out. It is made by
// Update, Refresh and Destroy and is of no use after they return. It is safe for concurrent use.
//
// A registration is handled on its caller's goroutine and goes through these stages: its name and old state are claimed
// (mutex), its provider checks and compares (no lock), the steps are decided (decisions), the steps are taken one after
// the other (no lock). Of all that talks to providers, at most Parallel go on at the same time; one slot makes the
// operation serial.
type Deployment struct {
	*lifetime
	opts       Options
	report     *reporter
	journal    *apply.Writer
	executor   *apply.Executor
	registry   *providers.Registry
	slots      *slots.Pool
	endpoint   string
	scope      *plan.Scope
	constraint *planConstraint
	naming     *plan.Naming
	mode       mode

	// decisions makes the choice of steps serial: no resource may settle while another's replacement finds out what it
	// takes with it.
	decisions sync.Mutex

	table *resources.Table

	transforms transforms
	outputs    stackOutputs
	// importing says that the operation is an import without a program, and importError why it failed.
	importing   bool
	importError error
}

// mode is what the registrations of a program are for.
type mode uint8

const (
	updating   mode = iota // to be carried out
	refreshing             // to be read, with the program's providers (E7.30)
	destroying             // to be deleted, with the program's providers (E7.41)
)

// newDeployment prepares an operation. The caller ends it by calling stop and closing the registry. calls is the
// context of provider calls; nil for one that ends with ctx.
func newDeployment(ctx, calls context.Context, o Options, scope *plan.Scope, refreshing bool) *Deployment {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Seed == nil {
		o.Seed = func() []byte {
			seed := make([]byte, 32)
			_, _ = rand.Read(seed) // never fails
			return seed
		}
	}
	if o.NewID == nil {
		o.NewID = newUUID
	}
	if o.Parallel <= 0 {
		o.Parallel = 4 * runtime.GOMAXPROCS(0)
	}
	if o.Base == nil {
		o.Base = &state.Snapshot{}
	}
	d := &Deployment{
		opts:       o,
		report:     &reporter{sink: o.Events, planning: o.DryRun, refreshing: refreshing, changes: map[Op]int{}},
		endpoint:   o.MonitorEndpoint,
		scope:      scope,
		constraint: newPlanConstraint(&o),

		lifetime: newLifetime(ctx, calls, o.Crash),
	}
	d.journal = apply.NewWriter(o.Journal, len(o.Base.Resources))
	d.table = resources.NewTable(o.Stack, o.Project, o.Base.Resources, scope)
	d.slots = slots.NewPool(d.running, o.Parallel)
	d.registry = providers.New(d.registryOptions())
	d.executor = &apply.Executor{Options: d.executorOptions()}
	return d
}

// executorOptions are what takes steps.
func (d *Deployment) executorOptions() apply.Options {
	return apply.Options{
		Project: d.opts.Project, Stack: d.opts.Stack, Calls: d.calls, DryRun: d.opts.DryRun,
		IgnoreProtect:   d.opts.IgnoreProtect,
		ContinueOnError: d.opts.ContinueOnError, Refreshing: d.report.refreshing, Now: d.opts.Now, Seed: d.opts.Seed,
		Table: d.table, Providers: d.registry, Journal: d.journal, Report: d.report, Terminated: d.isTerminated, Stop: d.stop,
		Retried: func(u urn.URN) bool { return pendingOf(d).recorded(u) != nil },
	}
}

// now is the present moment, as states keep it.
func (d *Deployment) now() *time.Time {
	t := d.opts.Now().UTC()
	return &t
}

// registryOptions are what the operation's registry of providers works with.
func (d *Deployment) registryOptions() providers.Options {
	return providers.Options{
		Loader: d.opts.Providers, Calls: d.calls, Config: providers.Config{Values: d.opts.Config,
			Secret: d.opts.ConfigSecretKeys},
		DryRun: d.opts.DryRun, NewID: d.opts.NewID, Table: d.table, Extensions: d.opts.Base.Extensions, Guard: d.guard,
		StackOutputs: d.opts.StackOutputs, StackResources: d.opts.StackResources,
		Record: func(ref string, extension json.RawMessage) error {
			return d.journal.Commit(d.calls, journal.Entry{Extensions: map[string]json.RawMessage{ref: extension}})
		},
		Warn: func(about urn.URN, text string) {
			d.report.message(Message{URN: about, Severity: diag.Warning, Text: text})
		},
	}
}

// newUUID is a random UUID of version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// each runs fn for 0 to n-1, as many at the same time as there are slots; see slots.Pool.Each.
func (d *Deployment) each(n int, fn func(i int)) {
	d.slots.Each(n, func(i int) {
		defer d.guard()
		fn(i)
	})
}

// fail stops the operation because of a failure, unless it is to go on with what does not depend on it (E5.42, E5.44).
func (d *Deployment) fail() {
	if !d.opts.ContinueOnError {
		d.stop()
	}
}

// Info says which deployment this is (E2.3).
func (d *Deployment) Info(context.Context) (monitor.Info, error) {
	return monitor.Info{
		Project: d.opts.Project, Stack: d.opts.Stack, Organization: d.opts.Organization,
		Config: maps.Clone(d.opts.Config), ConfigSecretKeys: d.opts.ConfigSecretKeys,
		DryRun: d.opts.DryRun, Parallel: d.opts.Parallel,
	}, nil
}

// features are the names that SupportsFeature affirms (E2.4).
var features = map[string]bool{
	"secrets": true, "resourceReferences": true, "outputValues": true, "aliasSpecs": true, "replacementTrigger": true,
	"deletedWith": true, "replaceWith": true, "parameterization": true, "resourceHooks": true, "errorHooks": true,
	"transforms": true, "invokeTransforms": true,
}

// SupportsFeature answers for the names of E2.4.
func (d *Deployment) SupportsFeature(_ context.Context, feature string) (bool, error) {
	return features[feature], nil
}

// RegisterHook announces a hook; see apply.Hooks.
func (d *Deployment) RegisterHook(_ context.Context, h monitor.Hook) error {
	return d.executor.Hooks.Register(h)
}

// RegisterPackage announces a package. Equal packages get the same reference (E2.67).
func (d *Deployment) RegisterPackage(_ context.Context, p monitor.Package) (string, error) {
	return d.registry.Packages.Register(p, newUUID)
}

// SignalAndWaitForShutdown says that the program asks for nothing more, and waits until the engine is done (E2.68). The
// program given to Update need not call it: returning says the same.
func (d *Deployment) SignalAndWaitForShutdown(ctx context.Context) error {
	return d.waitForShutdown(ctx)
}

// info is what calls and constructions are told about the deployment.
func (d *Deployment) info() provider.DeploymentInfo {
	return provider.DeploymentInfo{
		Project: d.opts.Project, Stack: d.opts.Stack, Organization: d.opts.Organization,
		Config: d.opts.Config, ConfigSecretKeys: d.opts.ConfigSecretKeys,
		DryRun: d.opts.DryRun, Parallel: d.opts.Parallel, MonitorEndpoint: d.endpoint,
	}
}
