package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/environments"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Pipeline is a stack with everything that an operation on it needs. prepare creates it, in this order:
//
//	project file -> backend, stack -> settings -> secrets manager -> configuration -> providers -> checked program
//
// and used by plan and apply, which run one of the engine's operations: against the present state, or in a session that
// holds the stack's lock and writes the journal.
type Pipeline struct {
	Console      *console.Console
	options      *Options
	Workspace    *workspace.Workspace
	Stack        *console.Stack
	StackSecrets *console.StackSecrets
	config       configuration
	Providers    *Providers
	Program      *check.Program // nil for operations that run none
	sink         *eventSink
	display      *display
	pending      *pendingWork
	planFile     *planFile          // of --plan; nil without
	bound        *engine.UpdatePlan // of --strict, after the plan; nil without
	watched      *backend.Watched   // the operation as shown by a service; nil without one
	advised      bool               // advice was shown
	leave        func()             // takes back what the environment has changed; nil for nothing
}

// opener opens the stack of a project.
type opener = func(context.Context, *project.Project) (*console.Stack, error)

// withPipeline calls use with the pipeline of an operation, and again with another one if aliases were written into the
// program.
func withPipeline(ctx context.Context, a *console.Console, o *Options, op Operation, open opener,
	use func(context.Context, *Pipeline) error) error {
	attempt := func() error {
		ctx, done := a.Signals.Gentle(ctx)
		defer done()
		p, err := prepare(ctx, a, o, op, open)
		//lint:ignore SA5001 what prepare returns with an error has to be closed too
		defer p.Close()
		if err != nil && p.display.wantsConfig && p.Stack != nil && p.Stack.Missing {
			fmt.Fprintf(a.Streams.Err,
				"The stack '%[1]s' does not exist yet: give the values with -c key=value, or run `yamlhost stack init %[1]s` "+
					"and set them.\n", p.Stack.Ref.Stack)
		}
		if err != nil {
			return err
		}
		return use(ctx, p)
	}
	err := attempt()
	if errors.Is(err, errAliasesWritten) {
		o.writeAliases = false
		err = attempt()
	}
	return err
}

// prepare does everything that precedes an operation. The caller closes the pipeline, also when there is an error.
func prepare(ctx context.Context, a *console.Console, o *Options, op Operation, open opener) (*Pipeline, error) {
	p := newPipeline(a, o, op)
	if err := o.distrust(); err != nil {
		return p, err
	}
	switch o.Causes {
	case "", view.CausesNone, view.CausesShort, view.CausesFull:
	default:
		return p, console.WithCode(console.CodeBadUsage, "--causes takes none, short or full, not %q", o.Causes)
	}
	if a.World.Previews != nil {
		var err error
		if o.Neighbours, err = neighboursOf(a.World.Previews); err != nil {
			return p, err
		}
	}
	dir := a.World.Dir
	if o.Dir != "" {
		dir = a.Path(o.Dir)
		if err := console.MustBeDir(dir); err != nil {
			return p, err
		}
	}
	if err := p.openWorkspace(dir, op); err != nil {
		return p, err
	}
	if err := o.guardProject(&a.World, p.Workspace.Project); err != nil {
		return p, err
	}
	var err error
	if p.Stack, err = open(ctx, p.Workspace.Project); err != nil {
		return p, err
	}
	p.display.stack = p.Stack
	if err := p.configure(ctx); err != nil {
		return p, err
	}
	trust := Trusted
	if o.Untrusted {
		trust = Untrusted
	}
	p.Providers = NewProviders(a, p.Workspace, func(m plugin.Message) {
		defer a.Crashes.Guard()
		p.sink.pluginMessage(m)
	}, trust)
	if o.savePlan != "" {
		p.Providers.used.needed = true
	}
	if o.Untrusted {
		p.Providers.MayReadStack = UntrustedStacks(o.AllowStacks, p.Workspace.Project.Name.Text, p.Stack.Ref.Stack)
	}
	p.Providers.acquireWith(a, lockDir(p.Workspace), acceptor(a, o, p.sink.waiting),
		func(text string) { p.sink.tell(a.Streams.Err, text) })
	if op.Entered != nil {
		op.Entered(p)
	}
	if op.program {
		return p, p.check(ctx)
	}
	return p, nil
}

// newPipeline returns a pipeline before anything is read.
func newPipeline(a *console.Console, o *Options, op Operation) *Pipeline {
	p := &Pipeline{Console: a, options: o, sink: &eventSink{masker: mask.New()}}
	document := o.PlanOnly || o.PreviewOnly || op.Kind == previewOperation.Kind
	p.display = &display{console: a, options: o, sink: p.sink, document: document, config: &p.config}
	p.pending = &pendingWork{console: a, out: a.Streams.Err, options: o, document: document,
		hide:    func(text string) string { return p.sink.masker.Hide(text) },
		answers: map[urn.URN]engine.Decision{},
		resolve: func(ctx context.Context, base *state.Snapshot, decisions map[urn.URN]engine.Decision) (*state.Snapshot,
			[]engine.Resolution, error) {
			o := engine.Options{Base: base}
			p.describe(&o)
			return engine.ResolvePending(ctx, o, decisions)
		}}
	return p
}

// openWorkspace reads the project and its program. It returns at once if the project file is invalid.
func (p *Pipeline) openWorkspace(dir string, op Operation) error {
	var err error
	if !op.program {
		p.Workspace, err = workspace.OpenWithoutProgram(dir, p.options.opening(p.Console, nil))
	} else {
		p.Workspace, err = workspace.Open(dir, p.options.opening(p.Console, p.display.compilerSays))
	}
	if err != nil {
		return console.AdviseProject(err)
	}
	p.display.workspace = p.Workspace
	p.pending.reads = p.options.unasked && p.Workspace.Project.ReadsPending
	if !op.program {
		return p.Console.Report(p.Workspace.Diags)
	}
	if !p.Workspace.Diags.HasErrors() {
		return nil
	}
	// Report the findings of the program together with these.
	found := p.Workspace.Diags
	if p.Workspace.Source != nil {
		_, found = p.Workspace.Parse(nil)
	}
	return p.display.fail(found)
}

// configure reads the stack's settings and opens its configuration.
func (p *Pipeline) configure(ctx context.Context) error {
	diags, err := p.readSettings()
	if err != nil {
		return err
	}
	name := p.Stack.Ref.Stack
	own := p.Console.Secrets().Of(p.Stack.Backend, p.Stack.Ref)
	if p.StackSecrets, err = own.Manager(p.config.settings, name); err != nil {
		return err
	}
	opened, err := p.openEnvironment(ctx)
	if err != nil {
		return err
	}
	found, err := p.openConfig()
	if err != nil {
		return err
	}
	if p.options.plan != "" && p.planFile == nil { // use the plan's configuration, not the present one
		f, err := readPlanFile(p.Console.Path(p.options.plan), p.options.plan)
		if err != nil {
			return err
		}
		if err := f.Binding.holds(p.subject()); err != nil {
			return err
		}
		p.planFile = f
		if err := f.configure(&p.config, p.options.plan, p.Workspace.Project.Name.Text); err != nil {
			return err
		}
		if found, err = p.openConfig(); err != nil {
			return err
		}
	}
	p.Workspace.Diags.Add(slices.Concat(diags, opened, found)...)
	return nil
}

// readSettings reads the settings file of the stack and applies the flags to it.
func (p *Pipeline) readSettings() (diag.Diagnostics, error) {
	own, name, file := p.Workspace.Project, p.Stack.Ref.Stack, p.options.ConfigFile
	path := p.Console.Stacks().SettingsPath(own, name, file)
	if err := p.options.guardSettings(p.Console, own, path); err != nil {
		return nil, err
	}
	if p.options.setsConfig() {
		release, err := p.Console.Hold(path)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	settings, diags, err := p.Console.LoadSettings(own, name, file)
	if err != nil {
		return nil, err
	}
	p.config.settings = settings
	if diags.HasErrors() {
		return nil, p.display.fail(diags)
	}
	if faults := p.options.guardKey(&p.Console.World, own, settings); len(faults) > 0 {
		return nil, p.display.fail(faults)
	}
	return diags, setFromFlags(p.Console, p.options, p.Workspace, settings, p.Stack)
}

// openConfig opens the configuration in the settings.
func (p *Pipeline) openConfig() (diag.Diagnostics, error) {
	name := p.Stack.Ref.Stack
	values, found, err := project.Merge(p.Workspace.Project, p.config.settings, name, p.StackSecrets)
	if err != nil {
		return nil, console.ExplainSecret(err, name)
	}
	p.config.values = values
	for _, text := range p.config.secrets() {
		p.sink.masker.LearnText(text)
	}
	return found, nil
}

// environmentOptions returns the options for environments that are opened for the operation.
func (p *Pipeline) environmentOptions() (environments.Options, error) {
	o, err := p.Console.Environments(p.Workspace.Project, p.Stack.Ref.QualifiedName())
	o.Outputs = otherStacks{backend: p.Stack.Backend, project: p.Workspace.Project.Name.Text, manager: p.StackSecrets,
		planned: p.options.Neighbours, read: &parallel.Memo[string, value.Value, error]{}}.outputs
	if p.options.Untrusted {
		o.Denied = "the run is --untrusted"
	}
	return o, err
}

// openEnvironment opens the environments of the stack: openConfig merges their configuration, and all processes of the
// operation see their variables and files, until Close.
func (p *Pipeline) openEnvironment(ctx context.Context) (diag.Diagnostics, error) {
	a := p.Console
	o, err := p.environmentOptions()
	if err != nil {
		return nil, err
	}
	env, diags := console.InheritBy(ctx, o, p.config.settings)
	if env != nil {
		p.sink.masker.Learn(env.Values)
	}
	if diags.HasErrors() {
		return nil, p.display.fail(diags)
	}
	variables, remove, err := console.Export(env)
	before := a.World.Env
	a.World.Env = slices.Concat(before, variables)
	p.leave = func() {
		a.World.Env = before
		remove()
	}
	if err != nil {
		return nil, fmt.Errorf("write the files of the environment: %w", err)
	}
	return diags, nil
}

// check compiles the program and reports all findings. It returns an error if any of them is an error.
func (p *Pipeline) check(ctx context.Context) error {
	texts, _ := p.config.engine()
	uncompiled := p.Workspace.Compile(ctx, workspace.Run{
		Stack: p.Stack.Ref.Stack, Organization: p.Stack.Ref.Organization(), Project: p.Workspace.Project.Name.Text,
		Config: texts,
	})
	program, diags := checkFor(ctx, p.Workspace, p.Providers, p.config.values,
		check.Options{AllowEnv: p.options.AllowEnv, RestrictPaths: p.options.RestrictPaths})
	diags.Add(uncompiled...)
	if p.options.Untrusted {
		diags.Add(p.Providers.Paths.Unseen()...)
		for i := range diags { // a program that was not checked cannot be run
			if diags[i].Severity == diag.Warning && (diags[i].Code == diag.PackageMissing || diags[i].Code == diag.NoProgram) {
				diags[i].Severity, diags[i].Detail = diag.Error,
					"the run is --untrusted, and starts nothing from the project"
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return p.Console.Signals.Ended()
	}
	if diags.HasErrors() {
		return p.display.fail(diags)
	}
	p.Program, p.display.program, p.display.warned = program, program, diags
	if p.Console.StandIn.OperationWarns() {
		p.Console.Reports.Find(p.display.shownWarnings())
		return nil
	}
	return p.Console.Report(diags)
}

// Close ends all providers.
func (p *Pipeline) Close() {
	if p.leave != nil {
		defer p.leave()
	}
	if p.Providers != nil {
		_ = p.Providers.Close() // a plugin that does not end is killed: no error to report
	}
}

// CheckWorkspace checks a program against the schemas of providers. config is nil without a stack.
func CheckWorkspace(ctx context.Context, ws *workspace.Workspace, providers *Providers,
	config map[project.Key]project.Text) (*check.Program, diag.Diagnostics) {
	return checkFor(ctx, ws, providers, config, check.Options{})
}

// checkFor calls CheckWorkspace with the permissions of a run.
func checkFor(ctx context.Context, ws *workspace.Workspace, providers *Providers, config map[project.Key]project.Text,
	run check.Options) (*check.Program, diag.Diagnostics) {
	run.Untrusted, run.MayReadStack = providers.trust == Untrusted, providers.MayReadStack
	run.Config, run.ConfigKnown = ws.ConfigTexts(config), config != nil
	run.Stat, run.Bundle, run.Handler = ws.Project.Door.Stat, providers.Sources.Bundle, providers.Sources.Handler
	return ws.Check(ctx, workspace.CheckOptions{Schemas: providers.WatchedSchemas, Parameterize: providers.Parameterize,
		Options: run})
}
