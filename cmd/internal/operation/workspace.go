package operation

import (
	"context"
	"os"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// CheckWorkspace checks a program against the schemas of providers. config is nil without a stack.
func CheckWorkspace(ctx context.Context, ws *workspace.Workspace, providers *Providers,
	config map[project.Key]project.Text) (*check.Program, diag.Diagnostics) {
	return checkFor(ctx, ws, providers, config, workspace.CheckOptions{})
}

// checkFor calls checkWorkspace with what the options of a run allow.
func checkFor(ctx context.Context, ws *workspace.Workspace, providers *Providers, config map[project.Key]project.Text,
	run workspace.CheckOptions) (*check.Program, diag.Diagnostics) {
	return ws.Check(ctx, workspace.CheckOptions{
		AllowEnv: run.AllowEnv, RestrictPaths: run.RestrictPaths, Untrusted: providers.trust == Untrusted,
		MayReadStack: providers.MayReadStack,
		Schemas:      providers.WatchedSchemas, Parameterize: providers.Parameterize, Config: ws.ConfigTexts(config),
		ConfigKnown: config != nil,
		Stat:        os.Stat, Bundle: providers.Sources.Bundle, Handler: providers.Sources.Handler,
	})
}
