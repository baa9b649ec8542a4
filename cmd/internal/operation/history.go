package operation

import (
	"encoding/json"
	"runtime"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/report"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// record is what history keeps of an operation (F6.11, F6.12).
func (p *Pipeline) record(op Operation, result *engine.Result, started time.Time) *backend.Record {
	r := &backend.Record{
		Kind: op.Kind, StartTime: started.Unix(), EndTime: p.Console.Now().Unix(), Message: p.options.Message,
		Result:      "succeeded",
		Environment: p.environment(), Config: p.configRecord(), ResourceChanges: map[string]int{},
	}
	if result.Failed || result.Canceled {
		r.Result = "failed"
	}
	for kind, n := range result.Changes {
		r.ResourceChanges[string(kind)] = n
	}
	return r
}

// environment is what history tells of how an operation was started.
func (p *Pipeline) environment() map[string]string {
	env := map[string]string{
		"exec.kind": "cli", "pulumi.arch": runtime.GOARCH, "pulumi.os": runtime.GOOS, "pulumi.version": "yamlhost/" +
			p.Console.Version(),
		"runtime.name": "yaml", "stack.environments": "[]", "updatePlan": "false",
	}
	for _, property := range report.OriginOf(p.Console.World.Getenv, p.Workspace.Project.Dir).Properties() {
		env[property[0]] = property[1]
	}
	for name, text := range p.options.Flags {
		env["pulumi.flag."+name] = text
	}
	for _, variable := range p.Console.World.Env {
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

// configRecord is the configuration in the form of stack files, so that no secret is in plain text.
func (p *Pipeline) configRecord() map[string]json.RawMessage {
	config := make(map[string]json.RawMessage, len(p.config))
	for key, text := range p.config {
		var form any = text.Text
		if e := p.settings.Entry(key); e != nil {
			form = e.Data()
		}
		if raw, err := json.Marshal(form); err == nil {
			config[key.String()] = raw
		}
	}
	return config
}
