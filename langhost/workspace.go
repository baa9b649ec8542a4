package langhost

import (
	"context"
	"errors"
	"path/filepath"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/environ"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/compiler"
	"github.com/yamlhost/yamlhost/workspace/crd"
)

// open reads the project named in a request and its program, running the project's compiler if it has one. The
// diagnostics are the faults of the compiler.
func (h *Host) open(ctx context.Context, info *pulumirpc.ProgramInfo, run workspace.Run) (*workspace.Workspace,
	diag.Diagnostics, error) {
	root := info.GetRootDirectory()
	if root == "" {
		return nil, nil, errors.New("the request names no root directory")
	}
	option, err := compilerOption(info)
	if err != nil {
		return nil, nil, err
	}
	w, err := workspace.Open(root, workspace.Options{
		Shown: workspace.Relative(root), Compile: compiler.New(childEnv(h.options.Env), h.options.Supervisor,
			h.engine.log),
		CompilerOption: option, ProgramDir: info.GetProgramDirectory(), CRDs: kinds(h.options.Env),
	})
	if err != nil {
		return nil, nil, err
	}
	return w, w.Compile(ctx, run), nil
}

// kinds returns the cache of Kubernetes kinds defined in files. It is in Pulumi's home folder if there is one.
func kinds(env environ.List) *crd.Cache {
	home := env.Get("PULUMI_HOME")
	if home == "" {
		if home = env.Get("HOME"); home == "" {
			return new(crd.Cache)
		}
		home = filepath.Join(home, ".pulumi")
	}
	return &crd.Cache{Dir: filepath.Join(home, "yamlhost", "schemas")}
}

// compilerOption returns the runtime option compiler of a project (L1.F) from a request; nil if it is not set.
func compilerOption(info *pulumirpc.ProgramInfo) (*string, error) {
	option, found := info.GetOptions().GetFields()["compiler"]
	if !found {
		return nil, nil
	}
	text, ok := option.GetKind().(*structpb.Value_StringValue)
	if !ok {
		return nil, errors.New("the runtime's option compiler must be a string: the command whose output is the program")
	}
	return &text.StringValue, nil
}

// loading adapts a schema loader to package workspace; schemas loaded by the engine are never damaged.
func loading(schemas schema.Loader) func() (schema.Loader, func() bool) {
	return func() (schema.Loader, func() bool) { return schemas, func() bool { return false } }
}
