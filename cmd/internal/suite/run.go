package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// A Runner runs cases. It is safe for concurrent use. Close releases the providers that it has opened.
type Runner struct {
	Console  *console.Console
	Embedded bool // run every case with the embedded providers
	Update   bool // write snapshots instead of comparing them

	mu        sync.Mutex // guards the fields below
	programs  map[string]*program
	snapshots map[string]*snapshots // by path of the snapshot file
}

// A program is an opened project under test. mu guards the workspace, which is not safe for concurrent use.
type program struct {
	mu        sync.Mutex
	ws        *workspace.Workspace
	providers *operation.Providers
	schemas   schema.Loader
	damaged   func() bool
	checked   map[string]checked // by configuration as JSON

	registered map[string]bool // source positions of resources registered by any case
	reached    reached
}

type checked struct {
	program *check.Program
	diags   diag.Diagnostics
	values  map[project.Key]project.Text
}

// Close closes all providers.
func (r *Runner) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.programs {
		_ = p.providers.Close()
	}
}

// open opens the project in a folder or file, once for each path. schemas is a folder of schemas that replace those of
// plugins; it may be empty.
func (r *Runner) open(path, schemas string) (*program, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := path + "\x00" + schemas
	if p := r.programs[key]; p != nil {
		return p, nil
	}
	ws, err := r.Console.OpenTarget(path, r.Console.Looking())
	if err != nil {
		return nil, err
	}
	p := &program{ws: ws, providers: operation.NewProviders(r.Console, ws, nil, operation.Careful),
		checked: map[string]checked{}, registered: map[string]bool{}}
	if schemas != "" {
		if p.providers.Given, err = operation.ReadGivenSchemas(r.Console, operation.SchemaDirs(schemas)); err != nil {
			return nil, err
		}
	}
	p.schemas, p.damaged = p.providers.WatchedSchemas()
	p.schemas = ws.Schemas(p.schemas)
	if r.programs == nil {
		r.programs = map[string]*program{}
	}
	r.programs[key] = p
	return p, nil
}

// check checks the program with a configuration, once for each configuration. stack is used in messages only.
func (p *program) check(ctx context.Context, stack string, config value.Value) (checked, error) {
	text, err := value.AppendJSON(nil, config)
	if err != nil {
		return checked{}, err
	}
	key := string(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.checked[key]; ok {
		return known, nil
	}
	plain := config
	var secret []string
	for i, name := range config.Keys() {
		if v := config.At(i); v.Has("secret") && v.Len() == 1 {
			plain = plain.With(name, v.Get("secret"))
			secret = append(secret, name)
		}
	}
	if text, err = value.AppendJSON(nil, plain); err != nil {
		return checked{}, err
	}
	name := p.ws.Project.Name.Text
	settings, found := project.ParseSettings(diag.NewSource("config", []byte(`{"config":`+string(text)+`}`)), name)
	for _, secretName := range secret {
		if k, err := project.ParseKey(secretName, name); err == nil && settings.Entry(k) != nil {
			settings.Entry(k).TreatAsSecret()
		}
	}
	values, merged, err := project.Merge(p.ws.Project, settings, stack, nil)
	if err != nil {
		return checked{}, err
	}
	c := checked{values: values}
	c.program, c.diags = p.ws.Check(ctx, workspace.CheckOptions{
		Schemas: func() (schema.Loader, func() bool) { return p.schemas, p.damaged },
		Options: check.Options{Config: p.ws.ConfigTexts(values), ConfigKnown: true, Bundle: p.providers.Sources.Bundle,
			Handler: p.providers.Sources.Handler, AllowEnv: true},
	})
	c.diags.Add(found...)
	if !c.diags.HasErrors() { // otherwise the same error would be reported twice
		c.diags.Add(merged...)
	}
	p.checked[key] = c
	return c, nil
}

// A situation is a program with the inputs of one run.
type situation struct {
	program *program
	checked checked
	stack   string
	env     map[string]string
	stacks  map[string]value.Value
	packs   []packUse
}

// An outcome is the result of one run.
type outcome struct {
	snapshot *state.Snapshot
	outputs  value.Value
	steps    map[urn.URN]engine.Op
	findings []finding
}

// A finding is a diagnostic with the resource that it concerns.
type finding struct {
	resource urn.URN
	diag.Diagnostic
	policy  *engine.PolicyNote // set for a policy violation, otherwise nil
	checked bool               // found before the run
}

// discard is a journal that stores nothing; the engine holds the state.
type discard struct{}

func (discard) Append(context.Context, journal.Entry) error { return nil }

func (discard) Defer(context.Context, journal.Entry) error { return nil }

func (discard) Held(context.Context) error { return nil }

// run runs the program on the state base. A preview changes nothing.
func (r *Runner) run(ctx context.Context, s situation, loader provider.Loader, base *state.Snapshot, preview, live bool,
	known *mask.Masker) (*outcome, error) {
	out := &outcome{outputs: value.EmptyMap(), steps: map[urn.URN]engine.Op{}, snapshot: base}
	for _, d := range s.checked.diags {
		if d.Severity <= diag.Warning {
			out.findings = append(out.findings, finding{Diagnostic: d, checked: true})
		}
	}
	if s.checked.program == nil || s.checked.diags.HasErrors() {
		return out, nil
	}
	ws := s.program.ws
	o := engine.Options{Project: ws.Project.Name.Text, Stack: s.stack, Organization: "organization",
		RootDir: ws.Project.Dir, ProgramDir: ws.Dir(), Base: base, DryRun: preview, Providers: loader,
		Config: map[string]string{}, Crash: r.Console.Crashes.Crash,
		StackOutputs: func(_ context.Context, name string) (value.Value, error) {
			for short, outputs := range s.stacks {
				if short == name || strings.HasSuffix(name, "/"+short) {
					return outputs, nil
				}
			}
			return value.Null, fmt.Errorf("the test has no stack %s: give its outputs under `stacks`", name)
		}}
	for key, text := range s.checked.values {
		if o.Config[key.String()] = text.Text; text.Secret {
			o.ConfigSecretKeys = append(o.ConfigSecretKeys, key.String())
			known.LearnText(text.Text)
		}
	}
	if !preview {
		o.Journal = discard{}
	}
	o.Events = func(e engine.Event) {
		switch e := e.(type) {
		case *engine.StepFinished:
			if !e.Internal && !e.Outputs && e.Step.Logical() && out.steps[e.Step.URN] != engine.OpReplace {
				out.steps[e.Step.URN] = e.Step.Op
			}
		case *engine.Message:
			if !e.Debug && !e.Ephemeral && e.Severity <= diag.Warning {
				text := strings.TrimSpace(e.Text)
				if e.URN == "" && (text == "update failed" || text == "preview failed") {
					return
				}
				out.findings = append(out.findings, finding{e.URN, diag.Diagnostic{Severity: e.Severity, Code: e.Code,
					Summary: text}, e.Policy, false})
			}
		}
	}
	if broken, err := r.startPacks(ctx, s, &o); err != nil || len(broken) > 0 {
		for _, d := range broken {
			out.findings = append(out.findings, finding{Diagnostic: d})
		}
		return out, err
	}
	command := func(context.Context, string, []string) (string, error) { return "", nil }
	if live {
		command = eval.RunCommand(r.Console.ChildEnv(), r.Console.World.Supervisor())
	}
	result, err := engine.Update(ctx, o, func(ctx context.Context, m monitor.Monitor) error {
		ran, diags := eval.Run(ctx, s.checked.program, m, eval.Options{
			Cwd: ws.Dir(), RootDirectory: ws.Project.Dir, EngineVersion: operation.PulumiVersion, AllowEnv: true,
			Getenv:    func(name string) (string, bool) { text, ok := s.env[name]; return text, ok },
			ParseData: parser.Data, Command: command, Bundle: s.program.providers.Sources.Texts,
			SourcePath: r.Console.Path, Crash: r.Console.Crashes.Crash, Covered: s.program.reached.note,
		})
		for _, d := range diags {
			if d.Severity <= diag.Warning {
				out.findings = append(out.findings, finding{Diagnostic: d})
			}
		}
		out.outputs = ran.Outputs
		if ran.Failed > 0 || diags.HasErrors() {
			return monitor.ErrReported
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out.snapshot = result.Snapshot; out.snapshot == nil {
		out.snapshot = &state.Snapshot{}
	}
	s.program.mu.Lock()
	defer s.program.mu.Unlock()
	for _, res := range out.snapshot.Resources {
		known.Learn(res.Inputs, res.Outputs)
		s.program.registered[res.SourcePosition] = true
	}
	known.Learn(out.outputs)
	return out, nil
}

// Run runs a case and returns the failed expectations and the duration.
func (r *Runner) Run(ctx context.Context, c *Case) (failures diag.Diagnostics, took time.Duration) {
	began := time.Now()
	known := mask.New()
	failures, err := r.try(ctx, c, known)
	if err != nil {
		failures.Add(diag.Diagnostic{Subject: c.Place, Summary: "the case cannot be run", Detail: err.Error()})
	}
	for i := range failures {
		d := &failures[i]
		d.Summary, d.Detail = known.Hide(d.Summary), known.Hide(d.Detail)
		if !OfProgram(c, *d) {
			d.Summary = c.Name + ": " + d.Summary
		}
		if d.Confidential = known.Hide(d.Subject.Text()) != d.Subject.Text(); d.Subject.Source == nil {
			d.Subject = c.Place
		}
	}
	return failures, time.Since(began)
}

func (r *Runner) try(ctx context.Context, c *Case, known *mask.Masker) (diag.Diagnostics, error) {
	now, err := r.situation(ctx, c, c.layers)
	if err != nil {
		return nil, err
	}
	live := r.Embedded
	if p := c.given("providers").value; p != nil {
		live = live || keyText(p) == "embedded"
	}
	env := r.Console.ChildEnv()
	mocked := &providers{schemas: now.program.schemas, mocks: c.mocks(), live: live,
		real: embedded.NewLoader(embedded.Options{Dir: now.program.ws.Dir(), Environ: env,
			Supervisor: r.Console.World.Supervisor()})}
	var base *state.Snapshot
	t := &trial{c: c, known: known, runner: r, budget: builtins.NewBudget(builtins.DefaultLimits)}
	if live {
		defer func() {
			if t.after != nil && t.after.snapshot != nil {
				err := r.end(context.WithoutCancel(ctx), now, mocked, t.after.snapshot)
				if err != nil {
					t.failures.Add(diag.Diagnostic{Subject: c.Place, Summary: "what the case made cannot be deleted",
						Detail: err.Error()})
				}
			}
		}()
	}
	if b := c.given("before"); b.value != nil {
		// The earlier run uses the description of the whole file, and the case's stack.
		shared := layer{}
		if stack := c.given("stack"); stack.value != nil {
			shared["stack"] = stack
		}
		own := c.file.layer(b.value, "before", []string{"config", "env", "program", "stacks"})
		earlier, err := r.situation(ctx, c, []layer{own, shared, c.layers[len(c.layers)-1]})
		if err != nil {
			return nil, err
		}
		first, err := r.run(ctx, earlier, mocked, nil, false, live, known)
		if err != nil {
			return nil, err
		}
		t.after = first
		for _, f := range first.findings {
			if f.Severity == diag.Error {
				return append(t.failures, diag.Diagnostic{Subject: b.at, Summary: "the run before fails: " + f.Summary,
					Detail: f.Detail}), nil
			}
		}
		base = first.snapshot
		if t.plan, err = r.run(ctx, now, mocked, base, true, live, known); err != nil {
			return nil, err
		}
	}
	if len(now.packs) > 0 {
		// A preview checks all resources against all policies; a run ends at the first violation that is an error.
		ahead, err := r.run(ctx, now, mocked, base, true, live, known)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(ahead.findings, func(f finding) bool {
			return f.policy != nil && f.Severity == diag.Error
		}) {
			prior := t.after
			t.after = ahead
			t.expect(ctx)
			t.after = prior // restore the outcome of the earlier run
			return t.failures, nil
		}
	}
	after, err := r.run(ctx, now, mocked, base, false, live, known)
	if err != nil {
		return nil, err
	}
	t.after = after
	t.expect(ctx)
	return t.failures, nil
}

// end destroys the resources that a live run has created.
func (r *Runner) end(ctx context.Context, s situation, loader provider.Loader, base *state.Snapshot) error {
	var messages []string
	ws := s.program.ws
	result, err := engine.Destroy(ctx, engine.Options{Project: ws.Project.Name.Text, Stack: s.stack,
		Organization: "organization", RootDir: ws.Project.Dir, ProgramDir: ws.Dir(), Base: base, Journal: discard{},
		Providers: loader, IgnoreProtect: true, Events: func(e engine.Event) {
			if m, ok := e.(*engine.Message); ok && m.Severity == diag.Error {
				messages = append(messages, m.Text)
			}
		}}, nil)
	if err == nil && result.Failed {
		err = errors.New(strings.Join(messages, "\n"))
	}
	return err
}

// situation reads the inputs of a run from the layers of a case.
func (r *Runner) situation(ctx context.Context, c *Case, layers []layer) (situation, error) {
	s := situation{stack: "test", env: map[string]string{}, stacks: map[string]value.Value{}}
	path := c.file.Dir
	if m := innermost(layers, "program"); m.value != nil {
		path = filepath.Join(c.file.Dir, pathOf(keyText(m.value)))
	}
	if m := innermost(layers, "stack"); m.value != nil {
		s.stack = keyText(m.value)
	}
	for _, m := range c.mergedOf("env", layers) {
		s.env[m.name] = keyText(m.value)
	}
	for _, m := range c.mergedOf("stacks", layers) {
		s.stacks[m.name] = dataOf(m.value)
	}
	for _, item := range c.file.list(innermost(layers, "policies").value, "`policies`") {
		s.packs = append(s.packs, packOf(c.file, item))
	}
	entries := []value.Entry{}
	for _, m := range c.mergedOf("config", layers) {
		entries = append(entries, value.Entry{Key: m.name, Value: dataOf(m.value)})
	}
	var err error
	schemas := c.file.schemas
	if schemas != "" {
		schemas = filepath.Join(c.file.Dir, schemas)
	}
	if s.program, err = r.open(path, schemas); err != nil {
		return s, err
	}
	if s.checked, err = s.program.check(ctx, s.stack, value.MapOf(entries...)); err != nil || s.checked.program == nil {
		return s, err
	}
	for _, e := range entries {
		declared := strings.Contains(e.Key, ":") || slices.ContainsFunc(s.checked.program.Nodes, func(n *check.Node) bool {
			return n.Kind == check.ConfigNode && n.Name == e.Key
		}) || slices.ContainsFunc(s.program.ws.Project.Config, func(d *project.Declaration) bool {
			return d.Key.Name == e.Key
		})
		if !declared {
			return s, fmt.Errorf("the program has no configuration %s", e.Key)
		}
	}
	return s, nil
}

// OfProgram reports whether a failure of a case is a fault of the program itself, which may fail other cases too. A
// value that the case gives is none.
func OfProgram(c *Case, d diag.Diagnostic) bool {
	return d.Code != "" && d.Subject.Source != nil && d.Subject.Source != c.file.Source &&
		d.Code != diag.ConfigConversion && d.Code != diag.ConfigMissing
}

// Unreached reports the mocks of a file that no call has reached.
func (f *File) Unreached() diag.Diagnostics {
	var found diag.Diagnostics
	for _, m := range f.mocks {
		if !m.reached.Load() {
			found.Add(diag.Diagnostic{Subject: m.place, Summary: "no call reaches this mock",
				Detail: "the program has no such resource or call in any case; correct `match` and `name`, or remove it"})
		}
	}
	return found
}

// eval evaluates an expression of the YAML language against a finished run: its outputs, resources and configuration
// are in scope.
func (t *trial) eval(ctx context.Context, expression string) (value.Value, error) {
	scope, err := t.scope()
	if err != nil {
		return value.Null, err
	}
	b := append(scope[:len(scope):len(scope)], "outputs:\n  e0: ["+expression+"]\n"...)
	file, diags := parser.Parse(diag.NewSource("expectation", b), parser.Options{})
	var checked *check.Program
	if !diags.HasErrors() {
		checked, diags = check.Check(ctx, file, check.Options{Project: "expectations", ConfigKnown: true,
			ParseData: parser.Data, Schemas: schema.NewLoader(func(context.Context, schema.Descriptor) ([]byte, error) {
				return nil, schema.ErrNotFound
			})})
	}
	if !diags.HasErrors() {
		m := &nowhere{}
		_, diags = eval.Run(ctx, checked, m, eval.Options{Cwd: t.c.file.Dir, ParseData: parser.Data, Workers: 1,
			Budget: t.budget})
		if !diags.HasErrors() {
			return m.outputs.Get("e0").At(0), nil
		}
	}
	for _, d := range diags {
		if d.Severity == diag.Error {
			if d.Code == diag.BudgetExceeded {
				d.Detail = "the expectations of a case have one budget: let them do less, or make cases of them"
			}
			return value.Null, fmt.Errorf("%s\n%s", d.Summary, d.Detail)
		}
	}
	return value.Null, errors.New("the expression has no value")
}

// scope returns the beginning of a program whose variables are the outputs and resources of the finished run.
func (t *trial) scope() ([]byte, error) {
	if t.variables != nil && t.scopeOf == t.after {
		return t.variables, nil
	}
	resources := []value.Entry{}
	for _, res := range t.after.snapshot.Resources {
		resources = append(resources, value.Entry{Key: res.URN.Name(), Value: value.MapOf(
			value.Entry{Key: "id", Value: value.String(res.ID)}, value.Entry{Key: "type", Value: value.String(res.Type)},
			value.Entry{Key: "properties", Value: res.Inputs}, value.Entry{Key: "outputs", Value: res.Outputs})})
	}
	var b bytes.Buffer
	b.WriteString("name: expectations\nruntime: yaml\nvariables:\n")
	for _, part := range []value.Entry{{Key: "outputs", Value: t.after.outputs},
		{Key: "resources", Value: value.MapOf(resources...)}} {
		data, err := value.AppendJSON(nil, plain(part.Value))
		if err != nil {
			return nil, err
		}
		b.WriteString("  " + part.Key + ": {\"fn::fromJSON\": " + literal.JSON(literal.Text(string(data))) + "}\n")
	}
	t.variables, t.scopeOf = b.Bytes(), t.after
	return t.variables, nil
}

// plain converts v to plain data: secrets are opened, references become URNs, and values that JSON cannot represent
// become null.
func plain(v value.Value) value.Value {
	return v.DeepPublic().Transform(func(x value.Value) value.Value {
		if ref, ok := x.AsResource(); ok {
			return value.String(string(ref.URN))
		}
		if !x.IsKnown() || x.Is(value.KindAsset) || x.Is(value.KindArchive) {
			return value.Null
		}
		return x
	})
}

// nowhere is the monitor for evaluating expressions, which register no resources but the stack.
type nowhere struct {
	monitor.Monitor
	outputs value.Value
}

// Info returns fixed names for project and stack.
func (*nowhere) Info(context.Context) (monitor.Info, error) {
	return monitor.Info{Project: "expectations", Stack: "test"}, nil
}

// SupportsFeature always reports false.
func (*nowhere) SupportsFeature(context.Context, string) (bool, error) { return false, nil }

// RegisterResource accepts the registration of the stack.
func (*nowhere) RegisterResource(_ context.Context, g monitor.RegisterRequest) (monitor.RegisterResponse, error) {
	return monitor.RegisterResponse{URN: urn.New("test", "expectations", "", g.Type, g.Name), Outputs: g.Inputs,
		Known: true}, nil
}

// RegisterOutputs stores the values of the expressions.
func (m *nowhere) RegisterOutputs(_ context.Context, _ urn.URN, outputs value.Value) error {
	m.outputs = outputs
	return nil
}
