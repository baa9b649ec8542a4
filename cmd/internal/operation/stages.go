package operation

import (
	"context"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/memory"
	"github.com/yamlhost/yamlhost/internal/parallel"
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

// An operation passes stages. Each is a value that only the stage before it can make, has what later ones need of it
// in fields of its own, is not changed afterwards, and closes what it has opened; a stage that cannot be made leaves
// nothing open:
//
//	request -> opened: the project and its stack
//	        -> configured: settings, secrets manager, environments and configuration
//	        -> Checked: providers and the checked program
//	        -> planned: the result of the plan; nothing is changed so far
//	        -> applied: the operation has run in a session, and state and history are written
//
// The order follows from what each needs: the project names the backend, the backend keeps the stack, settings name the
// manager of the secrets, configuration may be secret, providers get the environment's variables, and the checker asks
// the providers for schemas.

// request is what a command asks for. All stages have it.
type request struct {
	console  *console.Console // without the variables of environments
	options  *Options
	op       Operation
	find     finder
	sink     *eventSink
	document bool // only a plan, which with --json is one document
}

// finder opens the stack of a project.
type finder = func(context.Context, *project.Project) (*console.Stack, error)

// opened is a project with its stack.
type opened struct {
	request   *request
	workspace *workspace.Workspace
	stack     *console.Stack
}

// configured is a stack with its settings, secrets and configuration. It owns the files of the environments.
type configured struct {
	request   *request
	workspace *workspace.Workspace
	stack     *console.Stack
	console   *console.Console // with the variables of the stack's environments
	secrets   *console.StackSecrets
	config    *configuration
	planFile  *planFile   // of --plan; nil without
	others    otherStacks // that environments read
	remove    func()      // removes the files of the environments
}

// Checked is a stack whose program is checked. It owns the providers and the files of the environments.
type Checked struct {
	Console      *console.Console // with the variables of the stack's environments
	Workspace    *workspace.Workspace
	Stack        *console.Stack
	StackSecrets *console.StackSecrets
	Providers    *Providers
	Program      *check.Program // nil for operations that run none

	request  *request
	options  *Options
	op       Operation
	sink     *eventSink
	document bool // only a plan, which with --json is one document
	config   *configuration
	planFile *planFile   // of --plan; nil without
	others   otherStacks // that environments read
	display  *display
	pending  *pendingWork
	remove   func() // removes the files of the environments
}

// prepare returns the stage before the plan. The caller closes it.
func prepare(ctx context.Context, a *console.Console, o *Options, op Operation, find finder) (*Checked, error) {
	op.program = op.program || o.Scope.runProgram
	r := &request{console: a, options: o, op: op, find: find, sink: &eventSink{masker: mask.New()},
		document: o.PlanOnly || o.PreviewOnly || op.Kind == previewOperation.Kind}
	opened, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	configured, err := opened.configure(ctx)
	if err != nil {
		return nil, err
	}
	return configured.check(ctx)
}

// open reads the project and its program, and opens the stack.
func (r *request) open(ctx context.Context) (*opened, error) {
	a, o := r.console, r.options
	o.distrust()
	if a.World.Previews != nil {
		var err error
		if o.Neighbours, err = neighboursOf(a.World.Previews); err != nil {
			return nil, err
		}
	}
	dir := a.World.Dir
	if o.Dir != "" {
		dir = a.Path(o.Dir)
		if err := console.MustBeDir(a, dir); err != nil {
			return nil, err
		}
	}
	ws, err := r.openWorkspace(dir)
	if err != nil {
		return nil, err
	}
	if err := o.guardProject(&a.World, ws.Project); err != nil {
		return nil, err
	}
	stack, err := r.find(ctx, ws.Project)
	return &opened{request: r, workspace: ws, stack: stack}, err
}

// openWorkspace reads the project and its program. It returns at once if the project file is invalid.
func (r *request) openWorkspace(dir string) (ws *workspace.Workspace, err error) {
	if r.op.program {
		ws, err = workspace.Open(dir, r.options.opening(r.console, r.compilerSays))
	} else {
		ws, err = workspace.OpenWithoutProgram(dir, r.options.opening(r.console, nil))
	}
	if err != nil {
		return nil, console.AdviseProject(err)
	}
	if !r.op.program {
		return ws, r.console.Report(ws.Diags)
	}
	if !ws.Found().HasErrors() {
		return ws, nil
	}
	// Report the findings of the program together with these.
	found := ws.Found()
	if ws.Source != nil {
		if _, parsed := ws.Parse(nil); parsed.HasErrors() {
			found = parsed
		}
	}
	return nil, r.displayOf(r.console, ws, nil, &configuration{}).fail(found)
}

// configure reads the stack's settings, and opens its environments and configuration.
func (s *opened) configure(ctx context.Context) (_ *configured, err error) {
	c := &configured{request: s.request, workspace: s.workspace, stack: s.stack, console: s.request.console,
		config: &configuration{}, remove: func() {}}
	defer func() {
		if err != nil {
			c.remove()
		}
	}()
	diags, err := c.readSettings()
	if err != nil {
		return nil, err
	}
	name := c.stack.Ref.Stack
	own := c.console.Secrets().Of(c.stack.Backend, c.stack.Ref)
	if c.secrets, err = own.Manager(c.config.settings, name); err != nil {
		return nil, err
	}
	c.others = otherStacks{backend: c.stack.Backend, project: c.workspace.Project.Name.Text, manager: c.secrets,
		planned: c.request.options.Neighbours, read: &parallel.Memo[backend.Ref, stackOutputs, error]{},
		warn: onceEach(func(text string) { c.request.sink.tell(c.console.Streams.Err, "warning: "+text+"\n") })}
	opened, err := c.openEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.openConfig()
	if err != nil {
		return nil, err
	}
	if plan := c.request.options.plan; plan != "" { // use the plan's configuration, not the present one
		f, err := readPlanFile(c.console.Path(plan), plan)
		if err != nil {
			return nil, err
		}
		if err := f.Binding.holds(subject(c.console, c.workspace, c.stack.Ref), false); err != nil {
			return nil, err
		}
		c.planFile = f
		if err := f.configure(c.config, plan, c.workspace.Project.Name.Text); err != nil {
			return nil, err
		}
		if found, err = c.openConfig(); err != nil {
			return nil, err
		}
	}
	c.workspace.Diags.Add(slices.Concat(diags, opened, found)...)
	return c, nil
}

// fail reports findings that end the command.
func (c *configured) fail(diags diag.Diagnostics) error { return c.displayed().fail(diags) }

// displayed returns what shows the operation.
func (c *configured) displayed() *display {
	return c.request.displayOf(c.console, c.workspace, c.stack, c.config)
}

// readSettings reads the settings file of the stack and applies the flags to it.
func (c *configured) readSettings() (diag.Diagnostics, error) {
	a, o, own, name := c.console, c.request.options, c.workspace.Project, c.stack.Ref.Stack
	path := a.Stacks().SettingsPath(own, name, o.ConfigFile)
	if err := o.guardSettings(a, own, path); err != nil {
		return nil, err
	}
	if o.setsConfig() {
		release, err := a.Hold(path)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	settings, diags, err := a.LoadSettings(own, name, o.ConfigFile)
	if err != nil {
		return nil, err
	}
	c.config.settings = settings
	if diags.HasErrors() {
		return nil, c.fail(diags)
	}
	if faults := o.guardKey(&a.World, own, settings); len(faults) > 0 {
		return nil, c.fail(faults)
	}
	return diags, setFromFlags(a, &o.ConfigOptions, c.workspace, settings, c.stack)
}

// openConfig opens the configuration in the settings.
func (c *configured) openConfig() (diag.Diagnostics, error) {
	name := c.stack.Ref.Stack
	values, found, err := project.Merge(c.workspace.Project, c.config.settings, name, c.secrets)
	if err != nil {
		return nil, console.ExplainSecret(err, name)
	}
	c.config.values = values
	for _, text := range c.config.secrets() {
		c.request.sink.masker.LearnText(text)
	}
	return found, nil
}

// environmentOptions returns the options for environments that are opened for the operation.
func (r *request) environmentOptions(a *console.Console, own *project.Project, stack backend.Ref,
	others otherStacks) (environments.Options, error) {
	o, err := a.Environments(own, stack.QualifiedName())
	o.Outputs = others.outputs
	if r.options.Untrusted {
		o.Denied = "the run is --untrusted"
	}
	return o, err
}

// openEnvironment opens the environments of the stack: openConfig merges their configuration, and all processes of the
// operation see their variables, and their files until remove.
func (c *configured) openEnvironment(ctx context.Context) (diag.Diagnostics, error) {
	o, err := c.request.environmentOptions(c.console, c.workspace.Project, c.stack.Ref, c.others)
	if err != nil {
		return nil, err
	}
	env, diags := console.InheritBy(ctx, o, c.config.settings)
	if env != nil {
		c.request.sink.masker.Learn(env.Values, env.Spelled)
	}
	if diags.HasErrors() {
		return nil, c.fail(diags)
	}
	variables, remove, err := console.Export(env)
	world := c.console.World
	world.Env = slices.Concat(world.Env, variables)
	c.console, c.remove = console.In(world, c.console), remove
	if err != nil {
		return nil, fmt.Errorf("write the files of the environment: %w", err)
	}
	return diags, nil
}

// check starts the providers, compiles and checks the program, and reports all findings. It returns an error if any of
// them is an error. The result owns what c has opened.
func (c *configured) check(ctx context.Context) (_ *Checked, err error) {
	r := c.request
	s := &Checked{Console: c.console, Workspace: c.workspace, Stack: c.stack, StackSecrets: c.secrets,
		request: r, options: r.options, op: r.op, sink: r.sink, document: r.document,
		config: c.config, planFile: c.planFile, others: c.others, display: c.displayed(), remove: c.remove}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	s.pending = s.newPendingWork()
	s.Providers = c.providers()
	o := r.options
	if !r.op.program {
		return s, nil
	}
	texts, _ := c.config.engine()
	uncompiled := c.workspace.Compile(ctx, workspace.Run{
		Stack: c.stack.Ref.Stack, Organization: c.stack.Ref.Organization(), Project: c.workspace.Project.Name.Text,
		Config: texts,
	})
	defer memory.Gather(c.workspace.Source.Len()).Collect()
	program, diags := checkFor(ctx, c.workspace, s.Providers, c.config.values,
		check.Options{AllowEnv: o.AllowEnv, RestrictPaths: o.RestrictPaths})
	diags.Add(uncompiled...)
	if o.Untrusted {
		diags.Add(s.Providers.Paths.Unseen()...)
		for i := range diags { // a program that was not checked cannot be run
			if diags[i].Severity == diag.Warning && (diags[i].Code == diag.PackageMissing ||
				diags[i].Code == diag.NoProgram) {
				diags[i].Severity, diags[i].Detail = diag.Error,
					"the run is --untrusted, and starts nothing from the project"
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, c.console.Signals.Ended()
	}
	if diags.HasErrors() {
		return nil, s.display.fail(diags)
	}
	program.ForgetTypes()
	s.Program, s.display.program, s.display.warned = program, program, diags
	if c.console.StandIn.OperationWarns() {
		c.console.Reports.Find(s.display.shownWarnings())
		return s, nil
	}
	if err := c.console.Report(diags); err != nil {
		return nil, err
	}
	return s, nil
}

// providers returns the providers of the stack's project.
func (c *configured) providers() *Providers {
	a, o, sink := c.console, c.request.options, c.request.sink
	trust := Trusted
	if o.Untrusted {
		trust = Untrusted
	}
	p := NewProviders(a, c.workspace, func(m plugin.Message) {
		defer a.Crashes.Guard()
		sink.pluginMessage(m)
	}, trust)
	if o.savePlan != "" {
		p.used.needed = true
	}
	if o.Untrusted {
		p.MayReadStack = UntrustedStacks(o.AllowStacks, c.workspace.Project.Name.Text, c.stack.Ref.Stack)
	}
	p.acquireWith(a, lockDir(c.workspace), acceptor(a, o, sink.waiting),
		func(text string) { sink.tell(a.Streams.Err, text) })
	return p
}

// newPendingWork returns what decides about the operations that an earlier run left in flight.
func (s *Checked) newPendingWork() *pendingWork {
	return &pendingWork{console: s.Console, out: s.Console.Streams.Err, options: &s.options.PendingOptions,
		scope: &s.options.Scope, document: s.document,
		readsIDs: s.options.unasked && s.Workspace.Project.ReadsPending,
		hide:     func(text string) string { return s.sink.masker.Hide(text) },
		answers:  map[urn.URN]engine.Decision{},
		resolve: func(ctx context.Context, base *state.Snapshot,
			decisions map[urn.URN]engine.Decision) (*state.Snapshot,
			[]engine.Resolution, error) {
			o := engine.Options{Base: base}
			s.describe(&o)
			return engine.ResolvePending(ctx, o, decisions)
		}}
}

// reopen opens and checks the program again after aliases were written into it.
func (s *Checked) reopen(ctx context.Context) (*Checked, error) {
	o := *s.options
	o.writeAliases = false
	return prepare(ctx, s.request.console, &o, s.op, s.request.find)
}

// Close ends all providers, and removes the files of the environments.
func (s *Checked) Close() {
	defer s.remove()
	if s.Providers != nil {
		_ = s.Providers.Close() // a plugin that does not end is killed: no error to report
	}
}

// CheckWorkspace checks a program against the schemas of providers. config is nil without a stack.
func CheckWorkspace(ctx context.Context, ws *workspace.Workspace, providers *Providers,
	config map[project.Key]project.Text) (*check.Program, diag.Diagnostics) {
	defer memory.Gather(ws.Source.Len()).End()
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
