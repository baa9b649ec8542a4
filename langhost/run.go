package langhost

import (
	"context"
	"path/filepath"
	"strconv"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/memory"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/rpc"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/sources"
)

// Run evaluates a program against the monitor of the caller (F9.5):
//
//	project, program, packages -> check.Program -> eval -> monitor
//
// Faults of the program go to the engine's log, and the response has Bail set. Other faults, such as a lost connection,
// are in the response's Error; the returned error is always nil.
func (h *Host) Run(ctx context.Context, r *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	ctx, done := h.begin(ctx)
	defer done()
	failed := func(err error) (*pulumirpc.RunResponse, error) {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	w, uncompiled, err := h.open(ctx, infoOf(r), workspace.Run{
		Stack: r.GetStack(), Organization: r.GetOrganization(), Project: r.GetProject(), Config: r.GetConfig(),
	})
	if err == nil {
		err = errorOf(uncompiled)
	}
	if err != nil {
		return failed(err)
	}
	schemas, closeSchemas, err := h.schemas(r.GetLoaderTarget())
	if err != nil {
		return failed(err)
	}
	defer closeSchemas()
	gathering := memory.Gather(w.Source.Len())
	defer gathering.End() // whatever happens
	program, diags := w.Check(ctx, workspace.CheckOptions{Schemas: loading(schemas), Options: check.Options{
		Handler: new(sources.Sources).Handler, Config: configOf(r), ConfigKnown: true, Project: r.GetProject(),
	}})
	gathering.Collect()
	if h.engine.report(ctx, diags) {
		return &pulumirpc.RunResponse{Bail: true}, nil
	}
	m, err := rpc.Dial(r.GetMonitorAddress(), rpc.WithInfo(monitor.Info{
		Project: r.GetProject(), Stack: r.GetStack(), Organization: r.GetOrganization(), Config: r.GetConfig(),
		ConfigSecretKeys: r.GetConfigSecretKeys(), DryRun: r.GetDryRun(), Parallel: int(r.GetParallel()),
	}))
	if err != nil {
		return failed(err)
	}
	defer func() { _ = m.Close() }()
	result, diags := eval.Run(ctx, program, m, h.evalOptions(w, LimitsOf(infoOf(r), h.options.Limits)))
	if h.engine.report(ctx, diags) || result.Failed > 0 || result.Skipped+result.NotStarted > 0 || ctx.Err() != nil {
		return &pulumirpc.RunResponse{Bail: true}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

// LimitsOf returns limits, overridden by the project's runtime options max-value (in MiB) and max-steps.
func LimitsOf(info *pulumirpc.ProgramInfo, limits builtins.Limits) builtins.Limits {
	option := func(name string) int64 {
		v := info.GetOptions().GetFields()[name]
		if n := v.GetNumberValue(); n > 0 {
			return int64(n)
		}
		n, _ := strconv.ParseInt(v.GetStringValue(), 10, 64) // an invalid number is ignored
		return max(0, n)
	}
	if n := option("max-value"); n > 0 {
		limits.Value = n << 20
	}
	if n := option("max-steps"); n > 0 {
		limits.Steps = n
	}
	return limits
}

// evalOptions returns the options for evaluating a program of the workspace against an engine over gRPC.
func (h *Host) evalOptions(w *workspace.Workspace, limits builtins.Limits) eval.Options {
	return eval.Options{
		Limits:  limits,
		Command: eval.RunCommand(childEnv(h.options.Env), h.options.Supervisor), EngineKnowsPackages: true,
		Bundle:    new(sources.Sources).Texts,
		ParseData: parser.Data,
		Message:   h.engine.say,
		Cwd:       w.Dir(), RootDirectory: w.Project.Dir, Getenv: h.options.Env.Lookup,
		RequireVersion: h.engine.requireVersion,
		SourcePath: func(name string) string {
			if filepath.IsAbs(name) {
				return name
			}
			return filepath.Join(w.Project.Dir, filepath.FromSlash(name))
		},
	}
}

// infoOf returns the location of the program, which older engines send in fields that have been replaced.
func infoOf(r *pulumirpc.RunRequest) *pulumirpc.ProgramInfo {
	if info := r.GetInfo(); info.GetRootDirectory() != "" {
		return info
	}
	return &pulumirpc.ProgramInfo{RootDirectory: r.GetPwd(), ProgramDirectory: r.GetPwd(), EntryPoint: ".",
		Options: r.GetInfo().GetOptions()}
}

// configOf returns the configuration of a request for the checker (L2.D).
func configOf(r *pulumirpc.RunRequest) map[string]check.ConfigText {
	texts := make(map[string]check.ConfigText, len(r.GetConfig()))
	//lint:ignore SA1019 older engines send nothing else
	structured := r.GetConfigPropertyMap().GetFields()
	for key, text := range r.GetConfig() {
		texts[key] = check.ConfigText{Text: text, Structured: isStructured(structured[key])}
	}
	for _, key := range r.GetConfigSecretKeys() {
		text := texts[key]
		text.Secret = true
		texts[key] = text
	}
	return texts
}

func isStructured(v *structpb.Value) bool {
	if v.GetListValue() != nil {
		return true
	}
	_, marked := v.GetStructValue().GetFields()[wire.SignatureKey] // a secret, which does not show its kind
	return v.GetStructValue() != nil && !marked
}

// failing returns the first error among findings as a message, and whether there is one.
func failing(ds diag.Diagnostics) (message string, failed bool) {
	for _, d := range ds.Sorted() {
		if d.Severity == diag.Error {
			return messageOf(d), true
		}
	}
	return "", false
}
