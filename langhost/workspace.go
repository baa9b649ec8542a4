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

// open reads the project that a request names, and its program, which a compiler may have to print. The diagnostics
// have the faults of both.
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
		Shown: workspace.Relative(root), Compile: compiler.New(childEnv(h.options.Env), h.options.Supervisor, h.engine.log),
		CompilerOption: option, ProgramDir: info.GetProgramDirectory(), CRDs: kinds(h.options.Env),
	})
	if err != nil {
		return nil, nil, err
	}
	return w, w.Compile(ctx, run), nil
}

// kinds keep the kinds of Kubernetes that files define in the folder of Pulumi.
func kinds(env environ.List) *crd.Cache {
	home, found := env.Lookup("PULUMI_HOME")
	if !found || home == "" {
		if home, found = env.Lookup("HOME"); !found || home == "" {
			return new(crd.Cache)
		}
		home = filepath.Join(home, ".pulumi")
	}
	return &crd.Cache{Dir: filepath.Join(home, "yamlhost", "schemas")}
}

// compilerOption returns the option compiler of a project's runtime (L1.F) as the engine has read it; nil when it names
// none.
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

// loading returns a loader of schemas as package workspace takes it; what the engine loads is never damaged.
func loading(schemas schema.Loader) func() (schema.Loader, func() bool) {
	return func() (schema.Loader, func() bool) { return schemas, func() bool { return false } }
}
