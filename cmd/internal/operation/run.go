package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/dynamic"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/rpc"
	"github.com/yamlhost/yamlhost/runtime/provider/guard"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// plan runs an operation as a preview.
func (p *Pipeline) plan(ctx context.Context, op Operation) (*engine.Result, error) {
	var base *state.Snapshot
	if p.Stack.Missing {
		if _, err := pendingAnswersOf(p.options.SettlePending, nil); err != nil {
			return nil, err
		}
	} else {
		sound, underWay, err := p.load(ctx)
		if err != nil {
			return nil, err
		}
		if err := p.lossHolds(op, p.display.document); err != nil {
			return nil, err
		}
		if base = sound; !underWay { // otherwise the pending operations are those of the other run
			if base, err = p.pending.resolveAll(ctx, sound, op); err != nil {
				return nil, err
			}
		}
		if p.watched, err = p.Stack.Backend.Watch(ctx, p.Stack.Ref, p.beginRecord(op)); err != nil {
			return nil, err
		}
	}
	p.Console.Signals.Announce("")
	result, err := p.operate(ctx, op, engine.Options{Base: base, DryRun: true})
	status := "succeeded"
	if err != nil || result.Failed || result.Canceled {
		status = "failed"
	}
	p.watched.Close(status)
	p.watched = nil
	return result, err
}

// load reads the stack's state, in a sound order. underWay reports whether another run is changing it: a plan alone
// warns of that, while a plan before an operation waits for the stack's lock as the operation does.
func (p *Pipeline) load(ctx context.Context) (_ *state.Snapshot, underWay bool, err error) {
	var loaded *backend.Loaded
	err = awaitLock(ctx, p.Console.Streams.Err, p.Stack, p.options.LockTimeout, func() error {
		loaded, err = p.Stack.Backend.Load(ctx, p.Stack.Ref, p.StackSecrets.Opener)
		if err == nil && len(loaded.Held) > 0 && !p.display.document {
			return &backend.LockedError{Ref: p.Stack.Ref, Locks: loaded.Held}
		}
		return err
	})
	if err != nil {
		return nil, false, console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	if len(loaded.Held) > 0 {
		warnOfHolder(p.Console, loaded)
	} else {
		warnOfRecovery(p.Console, loaded.Recovered, false)
	}
	sound, moved, err := loaded.Snapshot.InOrder()
	if err != nil {
		return nil, false, adviseRepair(err)
	}
	warnOfOrder(p.Console, loaded.Altered, moved)
	return sound, len(loaded.Held) > 0, nil
}

// apply runs an operation in a session, and writes state and history.
func (p *Pipeline) apply(ctx context.Context, op Operation) (_ *engine.Result, err error) {
	session, err := beginSession(ctx, p.Console.Streams.Err, p.Stack, p.options.LockTimeout,
		backend.BeginOptions{Command: op.Kind, Secrets: p.StackSecrets, Open: p.StackSecrets.Opener,
			Record: p.beginRecord(op)})
	if err != nil {
		return nil, adviseRepair(console.ExplainSecret(err, p.Stack.Ref.Stack))
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	p.watched = session.Watched()
	defer func() { p.watched = nil }()
	warnOfRecovery(p.Console, session.Recovered(), true)
	warnOfOrder(p.Console, session.Altered(), session.Moved())
	if err := p.lossHolds(op, false); err != nil {
		return nil, err
	}
	base, err := p.pending.begin(ctx, session, op)
	if err != nil {
		return nil, console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	p.Console.Signals.Announce("Terminating immediately may lose track of resources that are being created.")
	started := p.Console.Now()
	result, err := p.operate(ctx, op, engine.Options{Base: base, Journal: session})
	if err != nil {
		return nil, console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	final := result.Snapshot
	if result.Terminated {
		final = nil // the journal has everything, also pending operations
	}
	if err := p.lossEnds(session, op, result); err != nil {
		return result, err
	}
	record := finishRecord(p.beginRecord(op), result, started, p.Console.Now())
	if err := p.Commit(ctx, session, final, record); err != nil {
		return result, console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	return result, nil
}

// canSeal returns an error, before anything is done, if the program makes secrets that cannot be sealed. A program
// without secrets never asks for a passphrase (D3).
func (p *Pipeline) canSeal() error {
	if p.Program == nil {
		return nil
	}
	secret := p.Program.FirstSecret()
	if secret == nil {
		return nil
	}
	_, err := p.StackSecrets.Encrypt("")
	if err == nil {
		return nil
	}
	return p.Console.Report(diag.Diagnostics{{
		Severity: diag.Error,
		Summary:  "the stack needs a passphrase, because `" + secret.What + "` is secret",
		Detail:   console.ExplainSecret(err, p.Stack.Ref.Stack).Error() + "\nnothing was done",
		Subject:  secret.Range,
	}})
}

// operate runs one of the engine's operations and shows it.
func (p *Pipeline) operate(ctx context.Context, op Operation, o engine.Options) (*engine.Result, error) {
	if err := p.Providers.permit(ctx, p.Program, o.Base); err != nil {
		return nil, err
	}
	if err := p.advise(ctx, o.Base); err != nil {
		return nil, err
	}
	if err := p.planHolds(o.Base); err != nil {
		return nil, err
	}
	if p.Console.Secrets().AsksForPassphrases() {
		if err := p.others().openAhead(ctx, p.Program, o.Base); err != nil {
			return nil, err
		}
	}
	name, final := op.Applying, true
	if o.DryRun {
		name, final = op.Planning, p.display.document
	}
	unfold := func() {}
	if !final && !p.options.Json { // only a plan before an operation is folded
		unfold = p.Console.Reports.LogGroup("yamlhost_plan", name+" "+p.Stack.Ref.Stack)
	}
	defer unfold()
	shown := p.display.show(name, o.DryRun, final)
	p.showHosted(shown, name)
	p.sink.enter(shown)
	defer p.sink.enter(nil)
	defer p.Console.Signals.ShowWith(p.sink.interrupt)()

	p.describe(&o)
	o.Events = p.sink.event
	guarded := guard.New(guard.Options{Secrets: p.sink.masker, Open: dynamic.Open, Patience: p.Console.World.Patience,
		Slow: func(w guard.Wait) {
			defer p.Console.Crashes.Guard()
			p.sink.event(&engine.Message{URN: w.URN, Severity: diag.Info, Text: w.String()})
		}})
	o.Providers = guarded.Loader(o.Providers)
	defer guarded.Watch()()
	o.ContinueOnError, o.Retry = p.options.ContinueOnError, p.pending.retry
	p.options.Scope.apply(&o)
	if p.planFile != nil {
		plan, err := p.planFile.decoded(p.StackSecrets)
		if err != nil {
			return nil, console.ExplainSecret(err, p.Stack.Ref.Stack)
		}
		o.Plan = plan
	}
	if p.bound != nil {
		o.Plan = p.bound
	}
	o.Refresh = p.options.Refresh == "true" || p.options.Refresh == "" && p.Workspace.Project.RefreshAlways && op.program

	if op.policies || op.destroys {
		stop, err := p.startPolicies(ctx, &o, op.destroys)
		if err != nil {
			return nil, errors.Join(err, shown.close())
		}
		defer stop()
	}
	var wanted *wantedCreates
	if p.options.importFile != "" && o.DryRun {
		wanted = &wantedCreates{providers: map[urn.URN]*state.Resource{}, found: map[urn.URN]bool{}}
		watchSteps(&o, wanted.note)
	}
	var swapped *exchange
	if o.DryRun && (op.Kind == previewOperation.Kind || op.Kind == updateOperation.Kind) {
		swapped = &exchange{}
		watchSteps(&o, swapped.note)
	}
	address, stop := "", func() {} // of a server of the engine for components and, with --monitor-rpc, the program
	defer func() { stop() }()
	o.Serve = func(d *engine.Deployment) (_ string, err error) {
		var end func()
		if address, end, err = rpc.Serve(context.WithoutCancel(ctx), d); end != nil {
			stop = end
		}
		return address, err
	}
	var program engine.Program
	if op.program {
		program = func(ctx context.Context, m monitor.Monitor) error { return p.runProgram(ctx, m, address) }
	}
	result, err := op.Run(ctx, o, program)
	if err == nil && p.options.savePlan != "" && o.DryRun && !result.Failed && !result.Canceled {
		err = p.savePlan(result.Plan, o.Base)
	}
	if err == nil && wanted != nil && !result.Canceled {
		err = p.saveCreates(wanted)
	}
	if closing := shown.close(); err == nil {
		err = closing
	}
	if err == nil && swapped != nil && !result.Failed && !result.Canceled {
		err = swapped.renames(p.Console, p.Program, p.options.writeAliases)
	}
	return result, err
}

// planHolds returns an error if the present conditions differ from those of the plan in --plan.
func (p *Pipeline) planHolds(base *state.Snapshot) error {
	if p.planFile == nil {
		return nil
	}
	binding := p.planFile.Binding
	if err := binding.holds(p.subject()); err != nil {
		return err
	}
	if err := binding.stateHolds(base); err != nil {
		return err
	}
	return binding.pluginsHold(p.Providers)
}

// savePlan writes a plan to the file that --save-plan names.
func (p *Pipeline) savePlan(plan *engine.UpdatePlan, base *state.Snapshot) error {
	binding := p.subject()
	binding.Plugins = p.Providers.used.checksums()
	var err error
	if binding.State, err = stateDigest(base); err != nil {
		return err
	}
	m := state.NewManifest("yamlhost/"+p.Console.Version(), p.Console.Now().UTC())
	f, err := newPlanFile(plan, m, p.config.record(), binding, p.StackSecrets)
	if err != nil {
		return console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	if err := f.write(p.Console.Path(p.options.savePlan)); err != nil || p.options.Json {
		return err
	}
	fmt.Fprintf(p.Console.Streams.Err,
		"The plan is in %[1]s; `yamlhost plan show %[1]s` shows it, and `yamlhost run --plan %[1]s` applies "+
			"exactly this plan, or does nothing.\n", p.options.savePlan)
	return nil
}

// saveCreates writes the resources that a plan would create to the file that --import-file names.
func (p *Pipeline) saveCreates(w *wantedCreates) error {
	name := p.options.importFile
	waiting, err := w.save(p.Console, name, p.StackSecrets)
	if err != nil || p.options.Json {
		return console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	fmt.Fprintf(p.Console.Streams.Err, "%s: what would be created; fill in %s for %s, then `yamlhost import --file %s`.\n",
		name, diag.Count(waiting, "ID"), ImportPlaceholder, name)
	return nil
}

// others returns the reader of other stacks.
func (p *Pipeline) others() otherStacks {
	return otherStacks{backend: p.Stack.Backend, project: p.Workspace.Project.Name.Text, manager: p.StackSecrets,
		mayRead: p.Providers.MayReadStack, planned: p.options.Neighbours,
		read: &parallel.Memo[string, value.Value, error]{}}
}

// describe sets the options of an engine that all operations of the pipeline share.
func (p *Pipeline) describe(o *engine.Options) {
	o.Project, o.Stack, o.Organization = p.Workspace.Project.Name.Text, p.Stack.Ref.Stack, p.Stack.Ref.Organization()
	o.RootDir, o.ProgramDir = p.Workspace.Project.Dir, p.Workspace.Dir()
	o.Config, o.ConfigSecretKeys = p.config.engine()
	o.Providers, o.Parallel = p.Providers, p.options.Parallel
	o.Terminate = p.Console.Signals.Terminate()
	others := p.others()
	o.StackOutputs, o.StackResources = others.outputs, others.resources
	o.SkipRefreshBefore = p.Console.World.Enabled("PULUMI_DISABLE_REFRESH_BEFORE_UPDATE")
	content := contents{client: p.Console.World.HTTP, root: o.RootDir, untrusted: p.options.Untrusted}
	o.Open, o.Now = content.open, p.Console.World.Now
	o.Door = p.Workspace.Project.Door
	o.Crash = p.Console.Crashes.Crash
	p.Console.Crashes.HideWith(p.sink.masker.Hide)
}

// runProgram evaluates the checked program with the engine, directly or with --monitor-rpc through the server at an
// address, and turns findings into messages.
func (p *Pipeline) runProgram(ctx context.Context, m monitor.Monitor, address string) error {
	if p.options.MonitorRPC {
		client, err := rpc.Dial(address)
		if err != nil {
			return err
		}
		defer client.Close()
		m = client
	}
	result, diags := eval.Run(ctx, p.Program, m, eval.Options{
		Cwd: p.Workspace.Dir(), RootDirectory: p.Workspace.Project.Dir, Workers: p.options.Parallel,
		EngineVersion: PulumiVersion,
		Getenv:        p.options.variables(&p.Console.World), AllowEnv: p.options.AllowEnv,
		RestrictPaths: p.options.RestrictPaths, Untrusted: p.options.Untrusted, SourcePath: p.Console.Path,
		ParseData: parser.Data,
		Command:   eval.RunCommand(p.Console.ChildEnv(), p.Console.World.Supervisor()), Says: p.display.hookSays,
		Bundle: p.Providers.Sources.Texts, Message: p.display.programSays, Crash: p.Console.Crashes.Crash,
		Limits: p.options.limits(),
	})
	p.display.found(diags)
	p.sink.leftOut(p.Stack.Ref.Stack, p.Workspace.Project.Name.Text, result)
	if result.Failed > 0 || diags.HasErrors() {
		return monitor.ErrReported
	}
	return nil
}

// beginRecord returns the part of the history record of an operation that is known when it begins.
func (p *Pipeline) beginRecord(op Operation) *backend.Record {
	return &backend.Record{Kind: op.Kind, StartTime: p.Console.Now().Unix(), Message: p.options.Message,
		Environment: environmentRecord(p.Console, p.options, p.Workspace.Project.Dir), Config: p.config.record()}
}

// finishRecord adds the end of an operation to its history record (F6.11, F6.12).
func finishRecord(r *backend.Record, result *engine.Result, started, ended time.Time) *backend.Record {
	r.StartTime, r.EndTime, r.Result, r.ResourceChanges = started.Unix(), ended.Unix(), "succeeded", map[string]int{}
	if result.Failed || result.Canceled {
		r.Result = "failed"
	}
	for kind, n := range result.Changes {
		r.ResourceChanges[string(kind)] = n
	}
	return r
}

// environmentRecord returns the part of a history record that describes how the operation on the project in dir was
// started.
func environmentRecord(a *console.Console, o *Options, dir string) map[string]string {
	env := map[string]string{
		"exec.kind": cmp.Or(o.ExecKind, "cli"), "pulumi.arch": runtime.GOARCH, "pulumi.os": runtime.GOOS, "pulumi.version": "yamlhost/" +
			a.Version(),
		"runtime.name": "yaml", "stack.environments": "[]", "updatePlan": "false",
	}
	if o.ExecAgent != "" {
		env["exec.agent"] = o.ExecAgent
	}
	for _, property := range report.OriginOf(a.World.Getenv, dir) {
		env[property[0]] = property[1]
	}
	for name, text := range o.Flags {
		env["pulumi.flag."+name] = text
	}
	for _, variable := range a.World.Env {
		name, text, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "PULUMI_") {
			continue
		}
		if text != "true" && text != "false" {
			text = "set"
		}
		env["pulumi.env."+name] = text
	}
	return env
}
