package deploy

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
)

// NewUp makes the command up.
func NewUp(a *console.Console, run func(context.Context, *operation.Options) error) *cobra.Command {
	o := &operation.Options{}
	cmd := &cobra.Command{
		Use: "up", Aliases: []string{"update"}, Short: "Create, update and delete what the program says", Args: console.NoArguments,
		Long: "up previews, asks, and then creates, updates and deletes resources until the stack matches the program.",
		RunE: runOperation(a, o, run),
	}
	operationFlags(a, cmd, o)
	o.Reports.Register(cmd)
	settlePendingFlag(cmd, o)
	configFlags(cmd, o)
	refreshFlag(cmd, o)
	applyFlags(a, cmd, o)
	expectFlag(cmd, o, expectHelp)
	continueFlag(a, cmd, o)
	limitFlag(cmd, o)
	policyFlags(cmd, o)
	operation.ScopeFlags(cmd, o)
	operation.ReplaceFlags(cmd, o)
	operation.ProtectFlag(cmd, o)
	operation.ProgramFlag(a, cmd, o, "with --refresh: read resources when the program registers them")
	operation.PlanFlag(cmd, o)
	cmd.Flags().BoolVar(&o.Strict, "strict", false, "do only what the preview has shown; otherwise fail")
	operation.WriteAliasesFlag(cmd, o)
	return cmd
}
