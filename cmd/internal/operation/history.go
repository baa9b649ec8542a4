package operation

import (
	"runtime"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// beginRecord is the part of the history record of an operation that is known when it begins.
func (p *Pipeline) beginRecord(op Operation) *backend.Record {
	return &backend.Record{Kind: op.Kind, StartTime: p.Console.Now().Unix(), Message: p.options.Message,
		Environment: environmentRecord(p.Console, p.options, p.Workspace.Project.Dir), Config: p.config.record()}
}

// finishRecord puts into the history record of an operation how it has ended (F6.11, F6.12).
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

// environmentRecord returns the part of a history record that tells how the operation on the project in dir was
// started.
func environmentRecord(a *console.Console, o *Options, dir string) map[string]string {
	env := map[string]string{
		"exec.kind": "cli", "pulumi.arch": runtime.GOARCH, "pulumi.os": runtime.GOOS, "pulumi.version": "yamlhost/" +
			a.Version(),
		"runtime.name": "yaml", "stack.environments": "[]", "updatePlan": "false",
	}
	for _, property := range report.OriginOf(a.World.Getenv, dir).Properties() {
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
