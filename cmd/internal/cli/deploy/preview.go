package deploy

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
)

// NewPreview makes the command preview.
func NewPreview(a *console.Console, run func(context.Context, *operation.Options) error) *cobra.Command {
	o := &operation.Options{}
	cmd := &cobra.Command{
		Use: "preview [DIR]...", Aliases: []string{"pre"}, Short: "Show what would happen", Args: console.AtMostOne("a directory"),
		Long: "preview runs the program against the stack's state and shows what `up` would do. Nothing is changed.",
		RunE: runOperation(a, o, run),
	}
	operationFlags(a, cmd, o)
	o.Reports.Register(cmd)
	settlePendingFlag(cmd, o)
	configFlags(cmd, o)
	refreshFlag(cmd, o)
	expectFlag(cmd, o, "end with exit code 7 if anything would change")
	continueFlag(a, cmd, o)
	limitFlag(cmd, o)
	policyFlags(cmd, o)
	operation.ScopeFlags(cmd, o)
	operation.ReplaceFlags(cmd, o)
	operation.ProtectFlag(cmd, o)
	operation.ProgramFlag(a, cmd, o, "with --refresh: read resources when the program registers them")
	operation.SavePlanFlag(cmd, o)
	operation.ImportFileFlag(cmd, o)
	operation.WriteAliasesFlag(cmd, o)
	severalFlags(a, cmd, o, several{run: planOnly, plans: true, json: "json"}, cmd.RunE)
	return cmd
}

// planOnly plans one of several stacks, which need not exist yet.
func planOnly(ctx context.Context, a *console.Console, o *operation.Options) error {
	o.PlanOnly = true
	return operation.Run(ctx, a, o)
}
