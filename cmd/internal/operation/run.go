package operation

import (
	"cmp"
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/rpc"
)

// canSeal returns an error, before anything is done, if the program makes secrets that cannot be sealed. A program
// without secrets never asks for a passphrase (D3).
func (p *Checked) canSeal() error {
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

// otherStacks returns what reads other stacks for the program.
func (p *Checked) otherStacks() otherStacks {
	s := p.others
	s.mayRead = p.Providers.MayReadStack
	s.warn = onceEach(func(text string) {
		p.sink.event(&engine.Message{Severity: diag.Warning, Text: text})
	})
	if p.Program != nil {
		s.needs = p.Program.NamesMember
	}
	return s
}

// describe sets the options of an engine that all operations of the pipeline share.
func (p *Checked) describe(o *engine.Options) {
	o.Project, o.Stack, o.Organization = p.Workspace.Project.Name.Text, p.Stack.Ref.Stack, p.Stack.Ref.Organization()
	o.RootDir, o.ProgramDir = p.Workspace.Project.Dir, p.Workspace.Dir()
	o.Config, o.ConfigSecretKeys = p.config.engine()
	o.Providers, o.Parallel = p.Providers, p.options.Parallel
	o.Terminate = p.Console.Signals.Terminate()
	others := p.otherStacks()
	o.StackOutputs, o.StackResources = others.outputs, others.resources
	o.SkipRefreshBefore = p.Console.World.Enabled("PULUMI_DISABLE_REFRESH_BEFORE_UPDATE")
	content := contents{client: p.Console.World.HTTP, root: o.RootDir, untrusted: p.options.Untrusted}
	o.Open, o.Now = content.open, p.Console.World.Now
	o.Door = p.Workspace.Project.Door
	o.Crash = p.Console.Crashes.Crash
	p.Console.Crashes.HideWith(p.sink.masker.Hide)
}

// runProgram evaluates the checked program with the engine, directly or with --monitor-rpc through its server, and
// turns findings into messages.
func (p *execution) runProgram(ctx context.Context, m monitor.Monitor) error {
	if p.on.options.MonitorRPC {
		client, err := rpc.Dial(p.address)
		if err != nil {
			return err
		}
		defer client.Close()
		m = client
	}
	result, diags := eval.Run(ctx, p.on.Program, m, eval.Options{
		Cwd: p.on.Workspace.Dir(), RootDirectory: p.on.Workspace.Project.Dir, Workers: p.on.options.Parallel,
		EngineVersion: PulumiVersion,
		Getenv:        p.on.options.variables(&p.on.Console.World), AllowEnv: p.on.options.AllowEnv,
		RestrictPaths: p.on.options.RestrictPaths, Untrusted: p.on.options.Untrusted, SourcePath: p.on.Console.Path,
		ParseData: parser.Data,
		Command:   eval.RunCommand(p.on.Console.ChildEnv(), p.on.Console.World.Supervisor()),
		Says: func(line string) {
			p.on.display.sink.event(&engine.Message{Severity: diag.Info, Text: line})
		},
		SuppressSecretOutput: p.on.Console.Global.SuppressSecretOutput,
		Bundle:               p.on.Providers.Sources.Texts, Message: p.on.display.programSays,
		Crash:  p.on.Console.Crashes.Crash,
		Limits: p.on.options.limits(),
	})
	p.on.display.found(diags)
	p.on.sink.leftOut(p.on.Stack.Ref.Stack, p.on.Workspace.Project.Name.Text, p.on.Program, result)
	if result.Failed > 0 || diags.HasErrors() {
		return monitor.ErrReported
	}
	return nil
}

// beginRecord returns the part of the history record of an operation that is known when it begins.
func (p *Checked) beginRecord() *backend.Record {
	return &backend.Record{Kind: p.op.Kind, StartTime: p.Console.Now().Unix(), Message: p.options.Message,
		Environment: environmentRecord(p.Console, p.options, p.Workspace.Project.Dir), Config: p.config.record()}
}

// Bounds of the resources of which a record of the history and a plan keep the causes.
const (
	mostRecorded = 200
	mostPlanned  = 2000
)

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
