package cli

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
	"github.com/yamlhost/yamlhost/cmd/internal/view"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/eval"
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

// pipeline is a stack with everything that an operation on it needs. It is made by prepare, in this order:
//
//	project file -> backend, stack -> settings -> secrets manager -> configuration -> providers -> checked program
//
// and used by plan and apply, which run one of the engine's operations: against the state as it is, or in a session that
// holds the stack's lock and takes the journal.
type pipeline struct {
	app       *app
	options   *operationOptions
	workspace *workspace.Workspace
	stack     *stack
	settings  *project.Settings
	vault     *vault
	config    map[project.Key]project.Text
	providers *providers
	program   *check.Program // nil for operations that run none
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
	noted        map[string]bool         // what evaluating the program had to say so far; a plan and what follows it say the same
}

// operation is what to do with a stack.
type operation struct {
	kind     string // as history has it: update, refresh or destroy
	planning string // what a preview says it does
	applying string // what it says when it acts
	question string
	program  bool            // it runs the program
	entered  func(*pipeline) // told of the pipeline before the operation runs; may be nil
	run      func(ctx context.Context, o engine.Options, program programFunc) (*engine.Result, error)
}

type programFunc = func(ctx context.Context, m monitor.Monitor) error

var (
	updateOperation = operation{kind: "update", planning: "Previewing update", applying: "Updating", program: true,
		question: "Do you want to perform this update?",
		run: func(ctx context.Context, o engine.Options, program programFunc) (*engine.Result, error) {
			return engine.Update(ctx, o, program)
		}}
	refreshOperation = operation{kind: "refresh", planning: "Previewing refresh", applying: "Refreshing",
		question: "Do you want to perform this refresh?\nNo resources will be modified as part of this refresh; just your stack's state will be.",
		run: func(ctx context.Context, o engine.Options, program programFunc) (*engine.Result, error) {
			return engine.Refresh(ctx, o, onlyIf(o.RunProgram, program))
		}}
	destroyOperation = operation{kind: "destroy", planning: "Previewing destroy", applying: "Destroying",
		question: "Do you want to perform this destroy?",
		run: func(ctx context.Context, o engine.Options, program programFunc) (*engine.Result, error) {
			return engine.Destroy(ctx, o, onlyIf(o.RunProgram, program))
		}}
)

// onlyIf is a program, or none.
func onlyIf(wanted bool, program programFunc) programFunc {
	if !wanted {
		return nil
	}
	return program
}

// previewOperation is an update that is never applied.
var previewOperation = operation{kind: "preview", planning: updateOperation.planning, program: true, run: updateOperation.run}

// prepare does everything that comes before an operation. The caller closes the pipeline, also when there is an error.
func (a *app) prepare(ctx context.Context, o *operationOptions, op operation, open func(context.Context, *project.Project) (*stack, error)) (*pipeline, error) {
	p := &pipeline{app: a, options: o, stage: &stage{}, answers: map[urn.URN]engine.Word{}, document: o.planOnly || o.previewOnly || op.kind == previewOperation.kind}
	dir := a.world.Dir
	if o.dir != "" {
		dir = a.path(o.dir)
		if err := mustBeDir(dir); err != nil {
			return p, err
		}
	}
	if err := p.openWorkspace(dir, op); err != nil {
		return p, err
	}
	var err error
	if p.stack, err = open(ctx, p.workspace.Project); err != nil {
		return p, err
	}
	if err := p.configure(); err != nil {
		return p, err
	}
	p.providers = a.newProviders(p.workspace, p.pluginMessage)
	p.providers.acquireWith(a, lockDir(p.workspace), func(text string) { p.stage.tell(a.streams.Err, text) })
	if op.entered != nil {
		op.entered(p)
	}
	if op.program {
		return p, p.check(ctx)
	}
	return p, nil
}

// openWorkspace reads the project and its program. Without a sound project file nothing else makes sense.
func (p *pipeline) openWorkspace(dir string, op operation) error {
	var err error
	if !op.program {
		if p.workspace, err = workspace.OpenWithoutProgram(dir, p.app.looking()); err != nil {
			return adviseProject(err)
		}
		return p.app.report(p.workspace.Diags)
	}
	if p.workspace, err = workspace.Open(dir, p.app.trusting(p.compilerSays)); err != nil {
		return adviseProject(err)
	}
	if !p.workspace.Diags.HasErrors() {
		return nil
	}
	// The program may be faulty too: everything is told in one pass.
	found := p.workspace.Diags
	if p.workspace.Source != nil {
		_, found = p.workspace.Parse(nil)
	}
	return p.fail(found)
}

// compilerSays shows what the compiler of the program has to say, without the secrets of the configuration that it was given.
func (p *pipeline) compilerSays(s diag.Severity, text string) {
	out, flush := p.discreetErr()
	p.app.compilerSays(out)(s, text)
	_ = flush() // standard error has nobody to tell it to
}

// configure reads the stack's settings and opens its configuration.
func (p *pipeline) configure() error {
	name := p.stack.ref.Stack
	var diags diag.Diagnostics
	var err error
	release := func() {}
	if len(p.options.config) > 0 {
		if release, err = p.app.hold(p.app.settingsPath(p.workspace.Project, name, p.options.configFile)); err != nil {
			return err
		}
	}
	defer func() { release() }()
	if p.settings, diags, err = p.app.loadSettings(p.workspace.Project, name, p.options.configFile); err != nil {
		return err
	}
	if diags.HasErrors() {
		return p.fail(diags)
	}
	if err := p.setFromFlags(); err != nil {
		return err
	}
	release()
	release = func() {} // what follows may hold the file itself
	if p.vault, err = p.app.manager(p.settings, name); err != nil {
		return err
	}
	config, found, err := project.Merge(p.workspace.Project, p.settings, name, p.vault)
	if err != nil {
		return p.app.explainSecret(err, name)
	}
	p.config = config
	if p.options.plan != "" && p.planFile == nil { // the plan's configuration counts, not the present one
		if err := p.plannedConfig(); err != nil {
			return err
		}
		if p.config, found, err = project.Merge(p.workspace.Project, p.settings, name, p.vault); err != nil {
			return p.app.explainSecret(err, name)
		}
	}
	p.workspace.Diags.Add(append(diags, found...)...)
	return nil
}

// check compiles the program, tells everything that is wrong and goes on only when nothing is.
func (p *pipeline) check(ctx context.Context) error {
	for _, text := range p.secretTexts() { // which the compiler is given
		p.stage.secrets().LearnText(text)
	}
	texts, _ := p.engineConfig()
	uncompiled := p.workspace.Compile(ctx, workspace.Run{
		Stack: p.stack.ref.Stack, Organization: "organization", Project: p.workspace.Project.Name.Text, Config: texts,
	})
	program, diags := checkFor(ctx, p.workspace, p.providers, p.config,
		workspace.CheckOptions{AllowEnv: p.options.allowEnv, RestrictPaths: p.options.restrictPaths})
	diags.Add(uncompiled...)
	if err := ctx.Err(); err != nil {
		return withCode(codeCancelled, "interrupted")
	}
	if diags.HasErrors() {
		return p.fail(diags)
	}
	p.program = program
	return p.app.report(diags)
}

// fail tells what is wrong, with --json as events or in the preview's document as well.
func (p *pipeline) fail(diags diag.Diagnostics) error {
	p.wantsConfig = slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == diag.ConfigMissing })
	if p.options.json {
		shown := p.show("", p.document, true)
		for _, d := range diags.Sorted() {
			if d.Severity <= diag.Info {
				shown.event(p.messageOf(d))
			}
		}
		shown.event(&engine.Summary{Result: "failed", Changes: map[engine.Op]int{}})
		shown.event(&engine.Finished{})
		if err := shown.close(); err != nil {
			return err
		}
	}
	return p.app.report(diags)
}

// Close ends all providers.
func (p *pipeline) Close() {
	if p.providers != nil {
		_ = p.providers.Close() // a plugin that does not end is killed; there is nothing to tell
	}
}

// plan runs an operation without acting.
func (p *pipeline) plan(ctx context.Context, op operation) (*engine.Result, error) {
	var base *state.Snapshot
	if p.stack.missing {
		if _, err := settleWordsOf(p.options.settlePending, nil); err != nil {
			return nil, err
		}
	} else {
		loaded, err := p.stack.backend.Load(ctx, p.stack.ref, p.vault.opener)
		if err != nil {
			return nil, p.app.explainSecret(err, p.stack.ref.Stack)
		}
		p.warnOfRecovery(loaded.Recovered, false)
		sound, moved, err := loaded.Snapshot.InOrder()
		if err != nil {
			return nil, adviseRepair(err)
		}
		p.app.warnOfOrder(loaded.Altered, moved)
		if base, err = p.settle(ctx, sound, op); err != nil {
			return nil, err
		}
	}
	p.app.signals.announce("")
	return p.operate(ctx, op, engine.Options{Base: base, DryRun: true})
}

// apply runs an operation in a session, and leaves state and history behind.
func (p *pipeline) apply(ctx context.Context, op operation) (_ *engine.Result, err error) {
	session, err := p.stack.backend.Begin(ctx, p.stack.ref, backend.BeginOptions{Command: op.kind, Secrets: p.vault, Open: p.vault.opener})
	if err != nil {
		return nil, adviseRepair(p.app.explainSecret(err, p.stack.ref.Stack))
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	p.warnOfRecovery(session.Recovered(), true)
	p.app.warnOfOrder(session.Altered(), session.Moved())
	base, err := p.begin(ctx, session, op)
	if err != nil {
		return nil, p.app.explainSecret(err, p.stack.ref.Stack)
	}
	p.app.signals.announce("Terminating immediately may lose track of resources that are being created.")
	started := p.app.now()
	result, err := p.operate(ctx, op, engine.Options{Base: base, Journal: session})
	if err != nil {
		return nil, p.app.explainSecret(err, p.stack.ref.Stack)
	}
	final := result.Snapshot
	if result.Terminated {
		final = nil // what is journaled counts, operations under way included
	}
	record := p.record(op, result, started)
	if err := p.commit(ctx, session, final, record); err != nil {
		return result, p.app.explainSecret(err, p.stack.ref.Stack)
	}
	return result, nil
}

// canSeal makes sure, before anything is done, that the secrets which the program is known to make can be sealed. A
// program without any never asks for a passphrase (D3).
func (p *pipeline) canSeal() error {
	if p.program == nil {
		return nil
	}
	secret, any := p.program.FirstSecret()
	if !any {
		return nil
	}
	_, err := p.vault.Encrypt("")
	if err == nil {
		return nil
	}
	return p.app.report(diag.Diagnostics{{
		Severity: diag.Error,
		Summary:  "the stack needs a passphrase, because `" + secret.What + "` is secret",
		Detail:   p.app.explainSecret(err, p.stack.ref.Stack).Error() + "\nnothing was done",
		Subject:  secret.Range,
	}})
}

// operate runs one of the engine's operations in front of a view.
func (p *pipeline) operate(ctx context.Context, op operation, o engine.Options) (*engine.Result, error) {
	if err := errors.Join(p.adviseAliases(o.Base), p.adviseVersions(ctx, o.Base)); err != nil {
		return nil, err
	}
	name, final := op.applying, true
	if o.DryRun {
		name, final = op.planning, p.document
	}
	shown := p.show(name, o.DryRun && p.document, final)
	p.stage.enter(shown)
	defer p.stage.leave()

	p.describe(&o)
	o.Events = p.stage.event
	guarded := guard.New(guard.Options{Secrets: p.stage.secrets(), Patience: p.app.world.Patience, Slow: func(w guard.Wait) {
		defer p.app.crashes.guard()
		p.stage.event(&engine.Message{URN: w.URN, Severity: diag.Info, Text: w.String()})
	}})
	o.Providers = guarded.Loader(o.Providers)
	defer guarded.Watch()()
	o.ContinueOnError, o.Retry = p.options.continueOnError, p.retry
	p.options.scope.apply(&o)
	if p.planFile != nil {
		plan, err := p.planFile.decoded(p.vault)
		if err != nil {
			return nil, p.app.explainSecret(err, p.stack.ref.Stack)
		}
		o.Plan = plan
	}
	if p.bound != nil {
		o.Plan = p.bound
	}
	o.Refresh = p.options.refresh == "true" || p.options.refresh == "" && p.workspace.Project.RefreshAlways && op.program

	wanted := p.watchCreates(&o)
	server := &monitorServer{}
	defer server.close()
	o.Serve = server.serve(ctx)
	result, err := op.run(ctx, o, p.runProgram(server))
	if err == nil && p.options.savePlan != "" && o.DryRun && !result.Failed && !result.Canceled {
		err = p.savePlan(result.Plan)
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
func (p *pipeline) describe(o *engine.Options) {
	o.Project, o.Stack, o.Organization = p.workspace.Project.Name.Text, p.stack.ref.Stack, "organization"
	o.RootDir, o.ProgramDir = p.workspace.Project.Dir, p.workspace.Dir()
	o.Config, o.ConfigSecretKeys = p.engineConfig()
	o.Providers, o.Parallel = p.providers, p.options.parallel
	o.Terminate = p.app.signals.terminate()
	o.StackResources = p.stackResources
	o.SkipRefreshBefore = p.app.world.envTrue("PULUMI_DISABLE_REFRESH_BEFORE_UPDATE")
	o.StackOutputs, o.Open, o.Now = p.stackOutputs, p.app.openRemote, p.app.world.Now
	o.Crash = p.app.crashes.crash
	known := p.stage.secrets()
	for _, text := range p.secretTexts() {
		known.LearnText(text)
	}
	p.app.crashes.hideWith(known.Hide)
}

// runProgram evaluates the checked program in front of the engine, directly or with --monitor-rpc through a server and a
// client, and turns what it finds into messages.
func (p *pipeline) runProgram(server *monitorServer) programFunc {
	return func(ctx context.Context, m monitor.Monitor) error {
		if p.options.monitorRPC {
			client, err := rpc.Dial(server.address)
			if err != nil {
				return err
			}
			defer client.Close()
			m = client
		}
		result, diags := eval.Run(ctx, p.program, m, eval.Options{
			Cwd: p.workspace.Dir(), RootDirectory: p.workspace.Project.Dir, Workers: p.options.parallel, EngineVersion: pulumiVersion,
			Getenv: p.app.world.lookup, AllowEnv: p.options.allowEnv, RestrictPaths: p.options.restrictPaths, SourcePath: p.app.path, ParseData: parser.Data,
			Command: eval.RunCommand(p.app.childEnv(), p.hookSays), Crash: p.app.crashes.crash,
			Limits: builtins.Limits{Value: p.options.maxValue << 20, Steps: p.options.maxSteps},
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
		p.stage.skip(p.stack.ref.Stack, p.workspace.Project.Name.Text, result.SkippedResources)
		if result.Failed > 0 || diags.HasErrors() {
			return monitor.ErrReported
		}
		return nil
	}
}

// hookSays shows a line that the command of a hook has written.
func (p *pipeline) hookSays(line string) {
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
func (p *pipeline) engineConfig() (texts map[string]string, secretKeys []string) {
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
func (p *pipeline) messageOf(d diag.Diagnostic) *engine.Message {
	m := &engine.Message{Severity: d.Severity, Code: d.Code, Text: d.Summary}
	if d.Detail != "" {
		m.Text += "\n" + d.Detail
	}
	if !d.Subject.IsZero() && (p.workspace.Source != d.Subject.Source || !p.workspace.Compiled()) {
		if rel, err := filepath.Rel(p.workspace.Project.Dir, p.app.path(d.Subject.Source.Name())); err == nil {
			at := d.Subject.StartPosition()
			m.Position = "project:///" + filepath.ToSlash(rel) + "#" + strconv.Itoa(at.Line) + "," + strconv.Itoa(at.Column)
			m.End = d.Subject.EndPosition()
		}
	}
	return m
}

// shownView is a view, or the digest of `preview --json`.
type shownView struct {
	event func(engine.Event)
	close func() error
}

// show makes the view of an operation. Of a plan that an operation follows, outputs are progress and no result.
func (p *pipeline) show(name string, document, final bool) *shownView {
	a, o := p.app, p.options
	columns, lines := a.size()
	out := a.streams.Out
	if !final && !o.json {
		out = a.streams.Err
	}
	progress, flush := p.discreetErr()
	options := view.Options{
		Out: out, Err: progress, Interactive: a.streams.ErrTerminal && !a.global.nonInteractive && a.world.env("TERM") != "dumb",
		Color: a.color(a.streams.ErrTerminal), Width: columns, Height: lines, Size: a.size, JSON: o.json,
		ShowSames: o.showSames, ShowSecrets: o.showSecrets, ShowReads: o.showReads, Diff: o.diff,
		SuppressOutputs: o.suppressOutputs, SuppressProgress: o.suppressProgress, Operation: name, Source: p.source, Property: p.property,
		Secrets: p.secretTexts(), Crash: a.crashes.crash, Found: a.world.Found,
	}
	if p.workspace != nil {
		options.Root = p.workspace.Project.Dir
	}
	if p.stack != nil {
		options.Stack = p.stack.ref.Stack
	}
	if document && o.json && !a.world.envTrue("PULUMI_ENABLE_STREAMING_JSON_PREVIEW") {
		digest := view.NewDigest(options)
		return &shownView{digest.Event, func() error { return digest.Write(a.streams.Out) }}
	}
	v := view.New(options)
	return &shownView{v.Event, func() error { v.Close(); return flush() }}
}

// secretTexts are the plain texts of secret configuration, to be masked wherever they appear (L9.34).
func (p *pipeline) secretTexts() []string {
	var texts []string
	for _, text := range p.config {
		if text.Secret {
			texts = append(texts, text.Text)
		}
	}
	return texts
}

// source finds the texts of the workspace by their absolute paths.
func (p *pipeline) source(path string) *diag.Source {
	for _, src := range append([]*diag.Source{p.workspace.Source, p.workspace.Project.Source, p.settingsSource()}, p.workspace.Parts...) {
		if src != nil && p.app.path(src.Name()) == path {
			return src
		}
	}
	return nil
}

func (p *pipeline) settingsSource() *diag.Source {
	if p.settings == nil {
		return nil
	}
	return p.settings.Source
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
	s.mu.Lock()
	waiting := s.shown == nil
	s.mu.Unlock()
	if waiting {
		fmt.Fprintln(out, text)
		return
	}
	s.event(&engine.Message{Severity: diag.Info, Text: text})
}

// pluginMessage shows what a plugin says, in whichever goroutine that comes.
func (p *pipeline) pluginMessage(m plugin.Message) {
	defer p.app.crashes.guard()
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
func (p *pipeline) warnOfRecovery(r *backend.Recovery, settled bool) {
	if r == nil {
		return
	}
	out := p.app.streams.Err
	switch {
	case r.Known:
		fmt.Fprintf(out, "A journal of an earlier %s was left behind; all that it tells of is in the state.\n", r.Header.Command)
	case r.Foreign:
		fmt.Fprintf(out, "warning: a journal of an earlier %s does not fit the state, which was written by someone else since; it was not applied\n", r.Header.Command)
	case settled && r.Entries > 0:
		fmt.Fprintf(out, "warning: an earlier %s was cut off; its %s were recovered from the journal\n", r.Header.Command, count(r.Entries, "journal record"))
	}
	for _, text := range damageOf(r) {
		fmt.Fprintf(out, "warning: %s\n", text)
	}
	for _, path := range r.Aside {
		fmt.Fprintf(out, "  kept for inspection: %s\n", p.app.short(path))
	}
}
