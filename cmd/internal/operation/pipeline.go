package operation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/rpc"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider/guard"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/mask"
	"github.com/yamlhost/yamlhost/value/urn"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Pipeline is a stack with everything that an operation on it needs. It is made by prepare, in this order:
//
//	project file -> backend, stack -> settings -> secrets manager -> configuration -> providers -> checked program
//
// and used by plan and apply, which run one of the engine's operations: against the state as it is, or in a session
// that holds the stack's lock and takes the journal.
type Pipeline struct {
	Console   *console.Console
	options   *Options
	Workspace *workspace.Workspace
	Stack     *console.Stack
	settings  *project.Settings
	Vault     *console.Vault
	config    map[project.Key]project.Text
	Providers *Providers
	Program   *check.Program // nil for operations that run none
	stage     *stage
	planFile  *planFile          // of --plan; nil without
	bound     *engine.UpdatePlan // of --strict, once it was made; nil without
	// wantsConfig says that the run was refused because configuration is missing.
	wantsConfig bool
	document    bool // the plan is all there will be, and with --json makes one document
	// versionsTold says that adviseVersions has looked at the state.
	versionsTold bool
	advised      bool                    // about aliases
	answers      map[urn.URN]engine.Word // of a person to what became of pending creations
	retry        []urn.URN               // pending creations that are to be made again
	kept         []state.Operation       // pending creations that a destruction has to leave pending
	told         bool                    // what an earlier run left in flight was told
	listen       func(engine.Event)      // also told of every event; nil for nobody
	warned       diag.Diagnostics        // what the checker found, none of it an error
	// what evaluating the program had to say so far; a plan and what follows it say the same
	noted map[string]bool
}

// Operation is what to do with a stack.
type Operation struct {
	Kind     string // as history has it: update, refresh or destroy
	Planning string // what a preview says it does
	Applying string // what it says when it acts
	Question string
	program  bool            // it runs the program
	Entered  func(*Pipeline) // told of the pipeline before the operation runs; may be nil
	Run      func(ctx context.Context, o engine.Options, program ProgramFunc) (*engine.Result, error)
}

type ProgramFunc = func(ctx context.Context, m monitor.Monitor) error

var (
	updateOperation = Operation{Kind: "update", Planning: "Previewing update", Applying: "Updating", program: true,
		Question: "Do you want to perform this update?",
		Run: func(ctx context.Context, o engine.Options, program ProgramFunc) (*engine.Result, error) {
			return engine.Update(ctx, o, program)
		}}
	refreshOperation = Operation{Kind: "refresh", Planning: "Previewing refresh", Applying: "Refreshing",
		Question: "Do you want to perform this refresh?\nNo resources will be modified as part of this refresh; just your " +
			"stack's state will be.",
		Run: func(ctx context.Context, o engine.Options, program ProgramFunc) (*engine.Result, error) {
			return engine.Refresh(ctx, o, onlyIf(o.RunProgram, program))
		}}
	destroyOperation = Operation{Kind: "destroy", Planning: "Previewing destroy", Applying: "Destroying",
		Question: "Do you want to perform this destroy?",
		Run: func(ctx context.Context, o engine.Options, program ProgramFunc) (*engine.Result, error) {
			return engine.Destroy(ctx, o, onlyIf(o.RunProgram, program))
		}}
)

// onlyIf is a program, or none.
func onlyIf(wanted bool, program ProgramFunc) ProgramFunc {
	if !wanted {
		return nil
	}
	return program
}

// previewOperation is an update that is never applied.
var previewOperation = Operation{Kind: "preview", Planning: updateOperation.Planning, program: true,
	Run: updateOperation.Run}

// prepare does everything that comes before an operation. The caller closes the pipeline, also when there is an error.
func prepare(ctx context.Context, a *console.Console, o *Options, op Operation,
	open func(context.Context, *project.Project) (*console.Stack, error)) (*Pipeline, error) {
	p := &Pipeline{Console: a, options: o, stage: &stage{}, answers: map[urn.URN]engine.Word{}, document: o.PlanOnly ||
		o.PreviewOnly || op.Kind == previewOperation.Kind}
	if err := o.distrust(); err != nil {
		return p, err
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
	err := p.guardSettings()
	if err != nil {
		return p, err
	}
	if p.Stack, err = open(ctx, p.Workspace.Project); err != nil {
		return p, err
	}
	if err := p.configure(); err != nil {
		return p, err
	}
	p.Providers = NewProviders(a, p.Workspace, p.pluginMessage, o.trust())
	p.Providers.MayReadStack = p.mayReadStack
	p.Providers.acquireWith(a, lockDir(p.Workspace), p.accept(), func(text string) { p.stage.tell(a.Streams.Err, text) })
	if op.Entered != nil {
		op.Entered(p)
	}
	if op.program {
		return p, p.check(ctx)
	}
	return p, nil
}

// openWorkspace reads the project and its program. Without a sound project file nothing else makes sense.
func (p *Pipeline) openWorkspace(dir string, op Operation) error {
	var err error
	if !op.program {
		if p.Workspace, err = workspace.OpenWithoutProgram(dir, p.withoutProgram()); err != nil {
			return console.AdviseProject(err)
		}
		return p.Console.Report(p.Workspace.Diags)
	}
	if p.Workspace, err = workspace.Open(dir, p.opening()); err != nil {
		return console.AdviseProject(err)
	}
	if !p.Workspace.Diags.HasErrors() {
		return nil
	}
	// The program may be faulty too: everything is told in one pass.
	found := p.Workspace.Diags
	if p.Workspace.Source != nil {
		_, found = p.Workspace.Parse(nil)
	}
	return p.fail(found)
}

// compilerSays shows what the compiler of the program has to say, without the secrets of the configuration that it was
// given.
func (p *Pipeline) compilerSays(s diag.Severity, text string) {
	out, flush := p.discreetErr()
	p.Console.CompilerSays(out)(s, text)
	_ = flush() // standard error has nobody to tell it to
}

// configure reads the stack's settings and opens its configuration.
func (p *Pipeline) configure() error {
	name := p.Stack.Ref.Stack
	var diags diag.Diagnostics
	var err error
	release := func() {}
	if path := p.Console.SettingsPath(p.Workspace.Project, name, p.options.ConfigFile); p.options.Untrusted &&
		p.options.ConfigFile == "" {
		if err := confine.Path(p.Workspace.Project.Dir, path); err != nil {
			return fmt.Errorf("%s may not be read: %w", p.Console.Short(path), err)
		}
	}
	if p.options.setsConfig() {
		if release, err = p.Console.Hold(p.Console.SettingsPath(p.Workspace.Project, name,
			p.options.ConfigFile)); err != nil {
			return err
		}
	}
	defer func() { release() }()
	if p.settings, diags, err = p.Console.LoadSettings(p.Workspace.Project, name, p.options.ConfigFile); err != nil {
		return err
	}
	if diags.HasErrors() {
		return p.fail(diags)
	}
	if err := p.guardKey(); err != nil {
		return err
	}
	if err := p.setFromFlags(); err != nil {
		return err
	}
	release()
	release = func() {} // what follows may hold the file itself
	if p.Vault, err = p.Console.Manager(p.settings, name); err != nil {
		return err
	}
	config, found, err := project.Merge(p.Workspace.Project, p.settings, name, p.Vault)
	if err != nil {
		return p.Console.ExplainSecret(err, name)
	}
	p.config = config
	if p.options.plan != "" && p.planFile == nil { // the plan's configuration counts, not the present one
		if err := p.plannedConfig(); err != nil {
			return err
		}
		if p.config, found, err = project.Merge(p.Workspace.Project, p.settings, name, p.Vault); err != nil {
			return p.Console.ExplainSecret(err, name)
		}
	}
	p.Workspace.Diags.Add(append(diags, found...)...)
	return nil
}

// check compiles the program, tells everything that is wrong and goes on only when nothing is.
func (p *Pipeline) check(ctx context.Context) error {
	for _, text := range p.secretTexts() { // which the compiler is given
		p.stage.secrets().LearnText(text)
	}
	texts, _ := p.engineConfig()
	uncompiled := p.Workspace.Compile(ctx, workspace.Run{
		Stack: p.Stack.Ref.Stack, Organization: "organization", Project: p.Workspace.Project.Name.Text, Config: texts,
	})
	program, diags := checkFor(ctx, p.Workspace, p.Providers, p.config,
		workspace.CheckOptions{AllowEnv: p.options.AllowEnv, RestrictPaths: p.options.RestrictPaths})
	diags.Add(uncompiled...)
	if p.options.Untrusted {
		diags.Add(p.Providers.Paths.Unseen()...)
		for i := range diags { // what was not looked at cannot be run
			if diags[i].Severity == diag.Warning && (diags[i].Code == diag.PackageMissing || diags[i].Code == diag.NoProgram) {
				diags[i].Severity, diags[i].Detail = diag.Error,
					"the run is --untrusted, and starts nothing that the project brings"
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return p.Console.Signals.Ended()
	}
	if diags.HasErrors() {
		return p.fail(diags)
	}
	p.Program, p.warned = program, diags
	return p.Console.Report(diags)
}

// fail tells what is wrong, with --json as events or in the preview's document as well.
func (p *Pipeline) fail(diags diag.Diagnostics) error {
	p.wantsConfig = slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == diag.ConfigMissing })
	if p.options.Json {
		shown := p.show("", p.document, true)
		for _, d := range diags.Sorted() {
			if d.Severity <= diag.Info {
				shown.event(p.messageOf(d))
			}
		}
		shown.event(&engine.Summary{Result: "failed", Changes: map[engine.Op]int{}, Planning: p.document})
		shown.event(&engine.Finished{})
		if err := shown.close(); err != nil {
			return err
		}
	}
	return p.Console.Report(diags)
}

// Close ends all providers.
func (p *Pipeline) Close() {
	if p.Providers != nil {
		_ = p.Providers.Close() // a plugin that does not end is killed; there is nothing to tell
	}
}

// plan runs an operation without acting.
func (p *Pipeline) plan(ctx context.Context, op Operation) (*engine.Result, error) {
	var base *state.Snapshot
	if p.Stack.Missing {
		if _, err := settleWordsOf(p.options.SettlePending, nil); err != nil {
			return nil, err
		}
	} else {
		loaded, err := p.Stack.Backend.Load(ctx, p.Stack.Ref, p.Vault.Opener)
		if err != nil {
			return nil, p.Console.ExplainSecret(err, p.Stack.Ref.Stack)
		}
		p.warnOfRecovery(loaded.Recovered, false)
		sound, moved, err := loaded.Snapshot.InOrder()
		if err != nil {
			return nil, adviseRepair(err)
		}
		warnOfOrder(p.Console, loaded.Altered, moved)
		if base, err = p.settle(ctx, sound, op); err != nil {
			return nil, err
		}
	}
	p.Console.Signals.Announce("")
	return p.operate(ctx, op, engine.Options{Base: base, DryRun: true})
}

// apply runs an operation in a session, and leaves state and history behind.
func (p *Pipeline) apply(ctx context.Context, op Operation) (_ *engine.Result, err error) {
	session, err := p.beginSession(ctx, backend.BeginOptions{Command: op.Kind, Secrets: p.Vault, Open: p.Vault.Opener})
	if err != nil {
		return nil, adviseRepair(p.Console.ExplainSecret(err, p.Stack.Ref.Stack))
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	p.warnOfRecovery(session.Recovered(), true)
	warnOfOrder(p.Console, session.Altered(), session.Moved())
	base, err := p.begin(ctx, session, op)
	if err != nil {
		return nil, p.Console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	p.Console.Signals.Announce("Terminating immediately may lose track of resources that are being created.")
	started := p.Console.Now()
	result, err := p.operate(ctx, op, engine.Options{Base: base, Journal: session})
	if err != nil {
		return nil, p.Console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	final := result.Snapshot
	if result.Terminated {
		final = nil // what is journaled counts, operations under way included
	}
	record := p.record(op, result, started)
	if err := p.Commit(ctx, session, final, record); err != nil {
		return result, p.Console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	return result, nil
}

// canSeal makes sure, before anything is done, that the secrets which the program is known to make can be sealed. A
// program without any never asks for a passphrase (D3).
func (p *Pipeline) canSeal() error {
	if p.Program == nil {
		return nil
	}
	secret, any := p.Program.FirstSecret()
	if !any {
		return nil
	}
	_, err := p.Vault.Encrypt("")
	if err == nil {
		return nil
	}
	return p.Console.Report(diag.Diagnostics{{
		Severity: diag.Error,
		Summary:  "the stack needs a passphrase, because `" + secret.What + "` is secret",
		Detail:   p.Console.ExplainSecret(err, p.Stack.Ref.Stack).Error() + "\nnothing was done",
		Subject:  secret.Range,
	}})
}

// operate runs one of the engine's operations in front of a view.
func (p *Pipeline) operate(ctx context.Context, op Operation, o engine.Options) (*engine.Result, error) {
	if err := p.permit(ctx, o.Base); err != nil {
		return nil, err
	}
	if err := errors.Join(p.adviseAliases(o.Base), p.adviseVersions(ctx, o.Base)); err != nil {
		return nil, err
	}
	if p.planFile != nil {
		if err := p.planFile.Binding.holds(p, o.Base, o.Base != nil); err != nil {
			return nil, err
		}
		if err := p.planFile.Binding.pluginsHold(p.Providers); err != nil {
			return nil, err
		}
	}
	name, final := op.Applying, true
	if o.DryRun {
		name, final = op.Planning, p.document
	}
	unfold := func() {}
	if !final && !p.options.Json { // what is followed by an operation is folded; a result is not
		unfold = p.Console.LogGroup("yamlhost_plan", name+" "+p.Stack.Ref.Stack)
	}
	defer unfold()
	shown := p.show(name, o.DryRun && p.document, final)
	p.stage.enter(shown)
	defer p.stage.leave()

	p.describe(&o)
	o.Events = p.stage.event
	guarded := guard.New(guard.Options{Secrets: p.stage.secrets(), Patience: p.Console.World.Patience,
		Slow: func(w guard.Wait) {
			defer p.Console.Crashes.Guard()
			p.stage.event(&engine.Message{URN: w.URN, Severity: diag.Info, Text: w.String()})
		}})
	o.Providers = guarded.Loader(o.Providers)
	defer guarded.Watch()()
	o.ContinueOnError, o.Retry = p.options.ContinueOnError, p.retry
	p.options.Scope.apply(&o)
	if p.planFile != nil {
		plan, err := p.planFile.decoded(p.Vault)
		if err != nil {
			return nil, p.Console.ExplainSecret(err, p.Stack.Ref.Stack)
		}
		o.Plan = plan
	}
	if p.bound != nil {
		o.Plan = p.bound
	}
	o.Refresh = p.options.Refresh == "true" || p.options.Refresh == "" && p.Workspace.Project.RefreshAlways && op.program

	wanted := p.watchCreates(&o)
	server := &monitorServer{}
	defer server.close()
	o.Serve = server.serve(ctx)
	result, err := op.Run(ctx, o, p.runProgram(server))
	if err == nil && p.options.savePlan != "" && o.DryRun && !result.Failed && !result.Canceled {
		err = p.savePlan(result.Plan, o.Base)
	}
	if err == nil && wanted != nil && !result.Canceled {
		err = p.saveImportFile(wanted)
	}
	if closing := shown.close(); err == nil {
		err = closing
	}
	return result, err
}

// describe says what to operate on, and what there is to do it with.
func (p *Pipeline) describe(o *engine.Options) {
	o.Project, o.Stack, o.Organization = p.Workspace.Project.Name.Text, p.Stack.Ref.Stack, "organization"
	o.RootDir, o.ProgramDir = p.Workspace.Project.Dir, p.Workspace.Dir()
	o.Config, o.ConfigSecretKeys = p.engineConfig()
	o.Providers, o.Parallel = p.Providers, p.options.Parallel
	o.Terminate = p.Console.Signals.Terminate()
	o.StackResources = p.stackResources
	o.SkipRefreshBefore = p.Console.World.Enabled("PULUMI_DISABLE_REFRESH_BEFORE_UPDATE")
	o.StackOutputs, o.Open, o.Now = p.stackOutputs, p.openRemote, p.Console.World.Now
	if p.options.Untrusted {
		o.AllowFile = func(path string) error { return confine.Path(p.Workspace.Project.Dir, path) }
	}
	o.Crash = p.Console.Crashes.Crash
	known := p.stage.secrets()
	for _, text := range p.secretTexts() {
		known.LearnText(text)
	}
	p.Console.Crashes.HideWith(known.Hide)
}

// runProgram evaluates the checked program in front of the engine, directly or with --monitor-rpc through a server and
// a client, and turns what it finds into messages.
func (p *Pipeline) runProgram(server *monitorServer) ProgramFunc {
	return func(ctx context.Context, m monitor.Monitor) error {
		if p.options.MonitorRPC {
			client, err := rpc.Dial(server.address)
			if err != nil {
				return err
			}
			defer client.Close()
			m = client
		}
		result, diags := eval.Run(ctx, p.Program, m, eval.Options{
			Cwd: p.Workspace.Dir(), RootDirectory: p.Workspace.Project.Dir, Workers: p.options.Parallel,
			EngineVersion: PulumiVersion,
			Getenv:        p.variables(), AllowEnv: p.options.AllowEnv, RestrictPaths: p.options.RestrictPaths,
			Untrusted: p.options.Untrusted, SourcePath: p.Console.Path, ParseData: parser.Data,
			Command: eval.RunCommand(p.Console.ChildEnv(), p.Console.Supervisor()), Says: p.hookSays,
			Bundle: p.Providers.Sources.Texts, Message: p.programSays, Crash: p.Console.Crashes.Crash,
			Limits: builtins.Limits{Value: p.options.MaxValue << 20, Steps: p.options.MaxSteps},
		})
		for _, d := range diags.Sorted() {
			note := strconv.Itoa(int(d.Subject.Start)) + " " + d.Summary
			if d.Severity == diag.Info && p.noted[note] {
				continue // the plan has said it
			}
			if d.Severity <= diag.Info {
				p.stage.event(p.messageOf(d))
			}
			if p.noted == nil {
				p.noted = make(map[string]bool)
			}
			p.noted[note] = true
		}
		p.stage.skip(p.Stack.Ref.Stack, p.Workspace.Project.Name.Text, result.SkippedResources)
		if result.Failed > 0 || diags.HasErrors() {
			return monitor.ErrReported
		}
		return nil
	}
}

// programSays shows a message of the program. One that is about nothing else shows where it stands, unless it only
// informs.
func (p *Pipeline) programSays(_ context.Context, m eval.Message) {
	shown := &engine.Message{Severity: m.Severity, Debug: m.Debug, Text: m.Text, URN: m.URN}
	if m.URN == "" && m.Severity < diag.Info {
		shown.Position = p.messageOf(diag.Diagnostic{Severity: m.Severity, Subject: m.At}).Position
	}
	p.stage.event(shown)
}

// hookSays shows a line that the command of a hook has written.
func (p *Pipeline) hookSays(line string) {
	p.stage.event(&engine.Message{Severity: diag.Info, Text: line})
}

// monitorServer offers the engine to other processes: to components, and with --monitor-rpc to the program.
type monitorServer struct {
	address string
	stop    func()
}

func (s *monitorServer) serve(ctx context.Context) func(*engine.Deployment) (string, error) {
	return func(d *engine.Deployment) (address string, err error) {
		s.address, s.stop, err = rpc.Serve(context.WithoutCancel(ctx), d)
		return s.address, err
	}
}

func (s *monitorServer) close() {
	if s.stop != nil {
		s.stop()
	}
}

// engineConfig is the configuration as the engine takes it (F3.12).
func (p *Pipeline) engineConfig() (texts map[string]string, secretKeys []string) {
	texts = make(map[string]string, len(p.config))
	for key, text := range p.config {
		texts[key.String()] = text.Text
		if text.Secret {
			secretKeys = append(secretKeys, key.String())
		}
	}
	slices.Sort(secretKeys)
	return texts, secretKeys
}

// messageOf is a finding as an event.
func (p *Pipeline) messageOf(d diag.Diagnostic) *engine.Message {
	m := &engine.Message{Severity: d.Severity, Code: d.Code, Text: d.Summary}
	if d.Detail != "" {
		m.Text += "\n" + d.Detail
	}
	if !d.Subject.IsZero() && (p.Workspace.Source != d.Subject.Source || !p.Workspace.Compiled()) {
		if rel, err := filepath.Rel(p.Workspace.Project.Dir, p.Console.Path(d.Subject.Source.Name())); err == nil {
			at := d.Subject.StartPosition()
			m.Position = "project:///" + filepath.ToSlash(rel) + "#" + strconv.Itoa(at.Line) + "," + strconv.Itoa(at.Column)
			m.End = d.Subject.EndPosition()
		}
	}
	return m
}

// secretTexts are the plain texts of secret configuration, to be masked wherever they appear (L9.34).
func (p *Pipeline) secretTexts() []string {
	var texts []string
	for _, text := range p.config {
		if text.Secret {
			texts = append(texts, text.Text)
		}
	}
	return texts
}

// stage is where events meet the view of the operation under way: those of the engine, of the program and of plugins,
// one at a time. Outside of an operation events are dropped.
type stage struct {
	mu      sync.Mutex
	shown   *shownView
	skipped []urn.URN // what the program left out because of what failed before, for the summary (A1)

	masker *mask.Masker // of everything that is said
}

// secrets are what is known to be secret, for all operations of a command.
func (s *stage) secrets() *mask.Masker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.masker == nil {
		s.masker = mask.New()
	}
	return s.masker
}

// skip notes resources by their names that the program did not even register.
func (s *stage) skip(stack, project string, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.skipped = append(s.skipped, urn.New(stack, project, "", "", name))
	}
}

func (s *stage) enter(v *shownView) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = v
}

func (s *stage) leave() { s.enter(nil) }

func (s *stage) event(e engine.Event) {
	e = withoutSecrets(s.secrets(), e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == nil {
		return
	}
	if summary, ok := e.(*engine.Summary); ok {
		summary.Skipped = append(summary.Skipped, s.skipped...)
		s.skipped = nil
	}
	s.shown.event(e)
	if _, over := e.(*engine.Finished); over {
		s.shown = nil
	}
}

// tell shows a line as a message of the operation under way; between operations, on out.
func (s *stage) tell(out io.Writer, text string) {
	if s.waiting() {
		fmt.Fprintln(out, text)
		return
	}
	s.event(&engine.Message{Severity: diag.Info, Text: text})
}

// waiting reports whether no operation is being shown.
func (s *stage) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown == nil
}

// pluginMessage shows what a plugin says, in whichever goroutine that comes.
func (p *Pipeline) pluginMessage(m plugin.Message) {
	defer p.Console.Crashes.Guard()
	p.stage.pluginMessage(m)
}

// pluginMessage shows what a plugin says.
func (s *stage) pluginMessage(m plugin.Message) {
	e := &engine.Message{URN: m.URN, Text: m.Text, Ephemeral: m.Ephemeral}
	switch m.Severity {
	case plugin.Error:
		e.Severity = diag.Error
	case plugin.Warning:
		e.Severity = diag.Warning
	case plugin.Info:
		e.Severity = diag.Info
	default:
		e.Severity, e.Debug = diag.Info, true
	}
	s.event(e)
}

// warnOfRecovery tells what an earlier run left behind that was cut off (D9).
func (p *Pipeline) warnOfRecovery(r *backend.Recovery, settled bool) {
	if r == nil {
		return
	}
	out := p.Console.Streams.Err
	switch {
	case r.Known:
		fmt.Fprintf(out, "A journal of an earlier %s was left behind; all that it tells of is in the state.\n",
			r.Header.Command)
	case r.Foreign:
		fmt.Fprintf(out,
			"warning: a journal of an earlier %s does not fit the state, which was written by someone else since; it was not "+
				"applied\n", r.Header.Command)
	case settled && r.Entries > 0:
		fmt.Fprintf(out, "warning: an earlier %s was cut off; its %s were recovered from the journal\n", r.Header.Command,
			console.Count(r.Entries, "journal record"))
	}
	for _, text := range DamageOf(r) {
		fmt.Fprintf(out, "warning: %s\n", text)
	}
	for _, path := range r.Aside {
		fmt.Fprintf(out, "  kept for inspection: %s\n", p.Console.Short(path))
	}
}
