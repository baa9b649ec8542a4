package operation

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/dynamic"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/monitor/rpc"
	"github.com/yamlhost/yamlhost/runtime/provider/guard"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// execution is one run of the engine: for the plan of an operation, or for the operation itself.
type execution struct {
	on      *Checked
	phase   phase
	engine  engine.Options
	follows bool               // a plan precedes it in this command
	strict  *engine.UpdatePlan // of --strict: the plan that the engine keeps to; else nil
	watched *backend.Watched   // the operation as shown by a service; nil without one
	listen  func(engine.Event) // called with every event once it is shown; may be nil

	// Features set these.
	steps   []func(*engine.StepStarted) // called with every step that begins, one at a time
	shown   *shownPhase
	address string // of the server of the engine, for components and --monitor-rpc
	aliased bool   // aliases were written into the program
}

// feature is what an execution does beside running the engine: something before it, which may complete the options of
// the engine, and something after it. An error before the engine ends the execution.
type feature func(context.Context, *execution) (after, error)

// after is the second part of a feature; nil for none. It gets the result of the engine and the error so far, and
// returns the error from then on. The result is nil if the engine did not run.
type after func(*engine.Result, error) error

// features are those of all executions. The first parts run in this order, and the second ones in the opposite order:
// what stands above view happens before anything is shown, and after the view has ended.
var features = []feature{
	permitted,     // plugins that the state needs and that may have to be downloaded
	advised,       // advice about probable surprises
	planHolds,     // the conditions of --plan
	passphrases,   // of other stacks, while nothing is drawn yet
	folded,        // a group in the log of a CI system
	renames,       // resources that look renamed, and --write-aliases
	viewed,        // the view, and interrupts in it
	guarded,       // secrets in the answers of providers, and calls that take long
	bound,         // to the steps of a plan
	policed,       // policy packs
	createsSaved,  // --import-file
	planSaved,     // --save-plan
	servedMonitor, // for components and --monitor-rpc
}

// run runs the engine with all features.
func (x *execution) run(ctx context.Context) (result *engine.Result, err error) {
	x.on.describe(&x.engine)
	x.engine.ContinueOnError, x.engine.Retry = x.on.options.ContinueOnError, x.on.pending.retry
	x.on.options.Scope.apply(&x.engine)
	x.engine.Refresh = x.on.options.Refresh == "true" ||
		x.on.options.Refresh == "" && x.on.Workspace.Project.RefreshAlways && x.on.op.program
	for _, begin := range features {
		end, failed := begin(ctx, x)
		if end != nil {
			defer func() { err = end(result, err) }()
		}
		if failed != nil {
			return nil, failed
		}
	}
	var program engine.Program
	if x.on.op.program {
		program = x.runProgram
	}
	if on := x.on.op.On; on != nil {
		return on(ctx, x.on, x.engine)
	}
	return x.on.op.run(ctx, x.engine, program)
}

// complete reports whether the engine has reached its end without a failure.
func complete(result *engine.Result, err error) bool {
	return err == nil && result != nil && !result.Failed && !result.Canceled
}

func permitted(ctx context.Context, x *execution) (after, error) {
	return nil, x.on.Providers.permit(ctx, x.on.Program, x.engine.Base)
}

func advised(ctx context.Context, x *execution) (after, error) {
	if x.follows || x.engine.Base == nil || x.on.Program == nil {
		return nil, nil
	}
	return nil, errors.Join(x.on.Console.Report(aliasAdvice(x.on.Program, x.engine.Base)),
		x.on.Console.Report(versionAdvice(ctx, x.on.Program, x.on.Providers, x.engine.Base)))
}

// planHolds returns an error if the present conditions differ from those of the plan in --plan.
func planHolds(_ context.Context, x *execution) (after, error) {
	if x.on.planFile == nil {
		return nil, nil
	}
	binding := x.on.planFile.Binding
	if err := binding.holds(subject(x.on.Console, x.on.Workspace, x.on.Stack.Ref), true); err != nil {
		return nil, err
	}
	if err := binding.stateHolds(x.engine.Base); err != nil {
		return nil, err
	}
	return nil, binding.pluginsHold(x.on.Providers)
}

func passphrases(ctx context.Context, x *execution) (after, error) {
	if !x.on.Console.Secrets().AsksForPassphrases() {
		return nil, nil
	}
	return nil, x.on.otherStacks().openAhead(ctx, x.on.Program, x.engine.Base)
}

// folded folds a plan before an operation.
func folded(_ context.Context, x *execution) (after, error) {
	if x.phase.final || x.on.options.Json {
		return nil, nil
	}
	unfold := x.on.Console.Reports.LogGroup("yamlhost_plan", x.phase.name+" "+x.on.Stack.Ref.Stack)
	return func(_ *engine.Result, err error) error { unfold(); return err }, nil
}

// renames finds the resources of a plan that look renamed, and reports them or writes their aliases.
func renames(_ context.Context, x *execution) (after, error) {
	if !x.phase.plan || x.on.op.Kind != previewOperation.Kind && x.on.op.Kind != updateOperation.Kind {
		return nil, nil
	}
	found := &createdDeleted{}
	x.steps = append(x.steps, found.note)
	return func(result *engine.Result, err error) error {
		if !complete(result, err) {
			return err
		}
		x.aliased, err = found.renames(x.on.Console, x.on.Program, x.on.options.writeAliases)
		return err
	}, nil
}

// viewed shows the execution. A service that keeps the stack shows it too.
func viewed(_ context.Context, x *execution) (after, error) {
	x.shown = x.on.display.show(x.phase)
	x.on.Providers.newStack = x.on.Providers.newStack || x.engine.Base == nil || len(x.engine.Base.Resources) == 0
	for _, listen := range []func(engine.Event){x.listen, x.on.display.hosted(x.phase.name, x.watched)} {
		if listen != nil {
			x.shown.also = append(x.shown.also, listen)
		}
	}
	x.on.sink.enter(x.shown.shownView)
	released := x.on.Console.Signals.ShowWith(x.on.sink.interrupt)
	var one sync.Mutex
	x.engine.Events = func(e engine.Event) {
		if started, ok := e.(*engine.StepStarted); ok && len(x.steps) > 0 {
			one.Lock()
			for _, note := range x.steps {
				note(started)
			}
			one.Unlock()
		}
		x.on.sink.event(e)
	}
	return func(_ *engine.Result, err error) error {
		if fault := x.shown.close(); fault != nil {
			err = errors.Join(err, fault)
		}
		released()
		x.on.sink.enter(nil)
		return err
	}, nil
}

// guarded wraps the providers.
func guarded(_ context.Context, x *execution) (after, error) {
	g := guard.New(guard.Options{Secrets: x.on.sink.masker, Open: dynamic.Open, Patience: x.on.Console.World.Patience,
		Slow: func(w guard.Wait) {
			defer x.on.Console.Crashes.Guard()
			x.on.sink.event(&engine.Message{URN: w.URN, Severity: diag.Info, Text: w.String()})
		}})
	x.engine.Providers = g.Loader(x.engine.Providers)
	stop := g.Watch()
	return func(_ *engine.Result, err error) error { stop(); return err }, nil
}

// bound binds the engine to the plan of --plan or --strict, or lets it record one.
func bound(_ context.Context, x *execution) (after, error) {
	x.engine.RecordPlan = x.on.options.savePlan != "" || x.on.options.Strict
	x.engine.Plan = x.strict
	if x.on.planFile == nil || x.strict != nil {
		return nil, nil
	}
	var err error
	x.engine.Plan, err = x.on.planFile.decoded(x.on.StackSecrets)
	return nil, console.ExplainSecret(err, x.on.Stack.Ref.Stack)
}

// policed starts the policy packs.
func policed(ctx context.Context, x *execution) (after, error) {
	if !x.on.op.policies && !x.on.op.destroys {
		return nil, nil
	}
	stop, err := x.startPolicies(ctx)
	if err != nil {
		return nil, err
	}
	return func(_ *engine.Result, err error) error { stop(); return err }, nil
}

// createsSaved writes what a plan would create to the file of --import-file.
func createsSaved(_ context.Context, x *execution) (after, error) {
	if x.on.options.importFile == "" || !x.phase.plan {
		return nil, nil
	}
	wanted := &wantedCreates{providers: map[urn.URN]*state.Resource{}, found: map[urn.URN]bool{}}
	x.steps = append(x.steps, wanted.note)
	return func(result *engine.Result, err error) error {
		if err != nil || result == nil || result.Canceled {
			return err
		}
		return x.saveCreates(wanted)
	}, nil
}

// planSaved writes a plan to the file of --save-plan.
func planSaved(_ context.Context, x *execution) (after, error) {
	if x.on.options.savePlan == "" || !x.phase.plan {
		return nil, nil
	}
	return func(result *engine.Result, err error) error {
		if !complete(result, err) {
			return err
		}
		return x.savePlan(result.Plan, x.engine.Base)
	}, nil
}

// servedMonitor lets the engine start a server for the processes of components when it needs one.
func servedMonitor(ctx context.Context, x *execution) (after, error) {
	stop := func() {}
	x.engine.Serve = func(d *engine.Deployment) (_ string, err error) {
		var end func()
		if x.address, end, err = rpc.Serve(context.WithoutCancel(ctx), d); end != nil {
			stop = end
		}
		return x.address, err
	}
	return func(_ *engine.Result, err error) error { stop(); return err }, nil
}

// savePlan writes a plan to the file that --save-plan names.
func (x *execution) savePlan(plan *engine.UpdatePlan, base *state.Snapshot) error {
	binding := subject(x.on.Console, x.on.Workspace, x.on.Stack.Ref)
	binding.Plugins = x.on.Providers.used.checksums()
	var err error
	if binding.State, err = stateDigest(base); err != nil {
		return err
	}
	m := state.NewManifest("yamlhost/"+x.on.Console.Version(), x.on.Console.Now().UTC())
	binding.Because = x.on.display.reasons(mostPlanned)
	f, err := newPlanFile(plan, m, x.on.config.record(), binding, x.on.StackSecrets)
	if err != nil {
		return console.ExplainSecret(err, x.on.Stack.Ref.Stack)
	}
	if err := f.write(x.on.Console.Path(x.on.options.savePlan)); err != nil || x.on.options.Json {
		return err
	}
	fmt.Fprintf(x.on.Console.Streams.Err,
		"The plan is in %[1]s; `yamlhost plan show %[1]s` shows it.\n`yamlhost run --plan %[1]s` applies "+
			"exactly this plan, or does nothing.\n", x.on.options.savePlan)
	return nil
}

// saveCreates writes the resources that a plan would create to the file that --import-file names.
func (x *execution) saveCreates(w *wantedCreates) error {
	name := x.on.options.importFile
	waiting, err := w.save(x.on.Console, name, x.on.StackSecrets)
	if err != nil || x.on.options.Json {
		return console.ExplainSecret(err, x.on.Stack.Ref.Stack)
	}
	next := fmt.Sprintf("fill in %s for %s, then `yamlhost import --file %s`", diag.Count(waiting, "ID"), ImportPlaceholder,
		name)
	if waiting == 0 {
		next = "nothing of it has an ID"
	}
	fmt.Fprintf(x.on.Console.Streams.Err, "%s: what would be created; %s.\n", name, next)
	return nil
}
