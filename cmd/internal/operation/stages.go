package operation

import (
	"context"
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
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/environments"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// An operation passes stages. Each is a value that only the stage before it can make, is not changed afterwards, and
// closes what it has opened; a stage that cannot be made leaves nothing open:
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
	console  *console.Console
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
	*request
	Workspace *workspace.Workspace
	Stack     *console.Stack
}

// configured is a stack with its settings, secrets and configuration.
type configured struct {
	*opened
	Console      *console.Console // with the variables of the stack's environments
	StackSecrets *console.StackSecrets
	config       configuration
	planFile     *planFile // of --plan; nil without
	remove       func()    // removes the files of the environments
}

// Checked is a stack whose program is checked, with the providers for it.
type Checked struct {
	*configured
	Providers *Providers
	Program   *check.Program // nil for operations that run none
	display   *display
	pending   *pendingWork
}

// prepare returns the stage before the plan. The caller closes it.
func prepare(ctx context.Context, a *console.Console, o *Options, op Operation, find finder) (*Checked, error) {
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
	if err := o.distrust(); err != nil {
		return nil, err
	}
	switch o.Causes {
	case "", view.CausesNone, view.CausesShort, view.CausesFull:
	default:
		return nil, console.WithCode(console.CodeBadUsage, "--causes takes none, short or full, not %q", o.Causes)
	}
	if a.World.Previews != nil {
		var err error
		if o.Neighbours, err = neighboursOf(a.World.Previews); err != nil {
			return nil, err
		}
	}
	dir := a.World.Dir
	if o.Dir != "" {
		dir = a.Path(o.Dir)
		if err := console.MustBeDir(dir); err != nil {
			return nil, err
		}
	}
	s := &opened{request: r}
	if err := s.openWorkspace(dir); err != nil {
		return nil, err
	}
	if err := o.guardProject(&a.World, s.Workspace.Project); err != nil {
		return nil, err
	}
	var err error
	s.Stack, err = r.find(ctx, s.Workspace.Project)
	return s, err
}

// openWorkspace reads the project and its program. It returns at once if the project file is invalid.
func (s *opened) openWorkspace(dir string) error {
	var err error
	if !s.op.program {
		s.Workspace, err = workspace.OpenWithoutProgram(dir, s.options.opening(s.console, nil))
	} else {
		s.Workspace, err = workspace.Open(dir, s.options.opening(s.console, s.compilerSays))
	}
	if err != nil {
		return console.AdviseProject(err)
	}
	if !s.op.program {
		return s.console.Report(s.Workspace.Diags)
	}
	if !s.Workspace.Found().HasErrors() {
		return nil
	}
	// Report the findings of the program together with these.
	found := s.Workspace.Found()
	if s.Workspace.Source != nil {
		if _, parsed := s.Workspace.Parse(nil); parsed.HasErrors() {
			found = parsed
		}
	}
	return s.fail(&configuration{}, found)
}

// configure reads the stack's settings, and opens its environments and configuration.
func (s *opened) configure(ctx context.Context) (_ *configured, err error) {
	c := &configured{opened: s, Console: s.console, remove: func() {}}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	diags, err := c.readSettings()
	if err != nil {
		return nil, err
	}
	name := c.Stack.Ref.Stack
	own := c.Console.Secrets().Of(c.Stack.Backend, c.Stack.Ref)
	if c.StackSecrets, err = own.Manager(c.config.settings, name); err != nil {
		return nil, err
	}
	opened, err := c.openEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.openConfig()
	if err != nil {
		return nil, err
	}
	if c.options.plan != "" { // use the plan's configuration, not the present one
		f, err := readPlanFile(c.Console.Path(c.options.plan), c.options.plan)
		if err != nil {
			return nil, err
		}
		if err := f.Binding.holds(c.subject()); err != nil {
			return nil, err
		}
		c.planFile = f
		if err := f.configure(&c.config, c.options.plan, c.Workspace.Project.Name.Text); err != nil {
			return nil, err
		}
		if found, err = c.openConfig(); err != nil {
			return nil, err
		}
	}
	c.Workspace.Diags.Add(slices.Concat(diags, opened, found)...)
	return c, nil
}

func (c *configured) close() { c.remove() }

// readSettings reads the settings file of the stack and applies the flags to it.
func (c *configured) readSettings() (diag.Diagnostics, error) {
	own, name, file := c.Workspace.Project, c.Stack.Ref.Stack, c.options.ConfigFile
	path := c.Console.Stacks().SettingsPath(own, name, file)
	if err := c.options.guardSettings(c.Console, own, path); err != nil {
		return nil, err
	}
	if c.options.setsConfig() {
		release, err := c.Console.Hold(path)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	settings, diags, err := c.Console.LoadSettings(own, name, file)
	if err != nil {
		return nil, err
	}
	c.config.settings = settings
	if diags.HasErrors() {
		return nil, c.fail(&c.config, diags)
	}
	if faults := c.options.guardKey(&c.Console.World, own, settings); len(faults) > 0 {
		return nil, c.fail(&c.config, faults)
	}
	return diags, setFromFlags(c.Console, &c.options.ConfigOptions, c.Workspace, settings, c.Stack)
}

// openConfig opens the configuration in the settings.
func (c *configured) openConfig() (diag.Diagnostics, error) {
	name := c.Stack.Ref.Stack
	values, found, err := project.Merge(c.Workspace.Project, c.config.settings, name, c.StackSecrets)
	if err != nil {
		return nil, console.ExplainSecret(err, name)
	}
	c.config.values = values
	for _, text := range c.config.secrets() {
		c.sink.masker.LearnText(text)
	}
	return found, nil
}

// environmentOptions returns the options for environments that are opened for the operation.
func (c *configured) environmentOptions() (environments.Options, error) {
	o, err := c.Console.Environments(c.Workspace.Project, c.Stack.Ref.QualifiedName())
	o.Outputs = otherStacks{backend: c.Stack.Backend, project: c.Workspace.Project.Name.Text, manager: c.StackSecrets,
		planned: c.options.Neighbours, read: &parallel.Memo[string, value.Value, error]{},
		warn: func(text string) { c.sink.tell(c.Console.Streams.Err, "warning: "+text+"\n") }}.outputs
	if c.options.Untrusted {
		o.Denied = "the run is --untrusted"
	}
	return o, err
}

// openEnvironment opens the environments of the stack: openConfig merges their configuration, and all processes of the
// operation see their variables, and their files until close.
func (c *configured) openEnvironment(ctx context.Context) (diag.Diagnostics, error) {
	o, err := c.environmentOptions()
	if err != nil {
		return nil, err
	}
	env, diags := console.InheritBy(ctx, o, c.config.settings)
	if env != nil {
		c.sink.masker.Learn(env.Values)
	}
	if diags.HasErrors() {
		return nil, c.fail(&c.config, diags)
	}
	variables, remove, err := console.Export(env)
	world := c.Console.World
	world.Env = slices.Concat(world.Env, variables)
	c.Console, c.remove = console.In(world, c.Console), remove
	if err != nil {
		return nil, fmt.Errorf("write the files of the environment: %w", err)
	}
	return diags, nil
}

// check starts the providers, compiles and checks the program, and reports all findings. It returns an error if any of
// them is an error. The result closes c.
func (c *configured) check(ctx context.Context) (_ *Checked, err error) {
	s := &Checked{configured: c}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	s.display = c.displayOf(c.Console, &c.config)
	s.pending = c.pendingWork(s.describe)
	s.Providers = c.providers()
	if !c.op.program {
		return s, nil
	}
	texts, _ := c.config.engine()
	uncompiled := c.Workspace.Compile(ctx, workspace.Run{
		Stack: c.Stack.Ref.Stack, Organization: c.Stack.Ref.Organization(), Project: c.Workspace.Project.Name.Text,
		Config: texts,
	})
	program, diags := checkFor(ctx, c.Workspace, s.Providers, c.config.values,
		check.Options{AllowEnv: c.options.AllowEnv, RestrictPaths: c.options.RestrictPaths})
	diags.Add(uncompiled...)
	if c.options.Untrusted {
		diags.Add(s.Providers.Paths.Unseen()...)
		for i := range diags { // a program that was not checked cannot be run
			if diags[i].Severity == diag.Warning && (diags[i].Code == diag.PackageMissing || diags[i].Code == diag.NoProgram) {
				diags[i].Severity, diags[i].Detail = diag.Error,
					"the run is --untrusted, and starts nothing from the project"
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, c.Console.Signals.Ended()
	}
	if diags.HasErrors() {
		return nil, c.fail(&c.config, diags)
	}
	s.Program, s.display.program, s.display.warned = program, program, diags
	if c.Console.StandIn.OperationWarns() {
		c.Console.Reports.Find(s.display.shownWarnings())
		return s, nil
	}
	if err := c.Console.Report(diags); err != nil {
		return nil, err
	}
	return s, nil
}

// providers returns the providers of the stack's project.
func (c *configured) providers() *Providers {
	a, o := c.Console, c.options
	trust := Trusted
	if o.Untrusted {
		trust = Untrusted
	}
	p := NewProviders(a, c.Workspace, func(m plugin.Message) {
		defer a.Crashes.Guard()
		c.sink.pluginMessage(m)
	}, trust)
	if o.savePlan != "" {
		p.used.needed = true
	}
	if o.Untrusted {
		p.MayReadStack = UntrustedStacks(o.AllowStacks, c.Workspace.Project.Name.Text, c.Stack.Ref.Stack)
	}
	p.acquireWith(a, lockDir(c.Workspace), acceptor(a, o, c.sink.waiting),
		func(text string) { c.sink.tell(a.Streams.Err, text) })
	return p
}

// pendingWork returns what decides about the operations that an earlier run left in flight. describe sets the options
// of an engine that reads their objects.
func (c *configured) pendingWork(describe func(*engine.Options)) *pendingWork {
	return &pendingWork{console: c.Console, out: c.Console.Streams.Err, options: &c.options.PendingOptions,
		scope: &c.options.Scope, document: c.document,
		reads:   c.options.unasked && c.Workspace.Project.ReadsPending,
		hide:    func(text string) string { return c.sink.masker.Hide(text) },
		answers: map[urn.URN]engine.Decision{},
		resolve: func(ctx context.Context, base *state.Snapshot, decisions map[urn.URN]engine.Decision) (*state.Snapshot,
			[]engine.Resolution, error) {
			o := engine.Options{Base: base}
			describe(&o)
			return engine.ResolvePending(ctx, o, decisions)
		}}
}

// reopen opens and checks the program again after aliases were written into it.
func (s *Checked) reopen(ctx context.Context) (*Checked, error) {
	o := *s.options
	o.writeAliases = false
	return prepare(ctx, s.console, &o, s.op, s.find)
}

// Close ends all providers, and removes the files of the environments.
func (s *Checked) Close() {
	defer s.close()
	if s.Providers != nil {
		_ = s.Providers.Close() // a plugin that does not end is killed: no error to report
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
