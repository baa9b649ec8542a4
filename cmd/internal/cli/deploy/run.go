package deploy

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
)

// NewRun makes the command run.
func NewRun(a *console.Console, run func(context.Context, *operation.Options) error) *cobra.Command {
	o := &operation.Options{}
	cmd := &cobra.Command{
		Use: "run [DIR]...", Short: "Check, plan and apply a program without asking", Args: console.AtMostOne("a directory"),
		Long: "run checks a program, plans and applies it, and prints its outputs. It never asks, and creates " +
			"the stack if it is missing: the one of --stack or PULUMI_STACK, the selected one, or else dev. " +
			"Use it in CI and for a first try. With --all, or several directories, it takes projects in the " +
			"order of their references.",
		RunE: runOperation(a, o, run),
	}
	operationFlags(a, cmd, o)
	o.Reports.Register(cmd)
	settlePendingFlag(cmd, o)
	configFlags(cmd, o)
	refreshFlag(cmd, o)
	expectFlag(cmd, o, expectHelp)
	continueFlag(a, cmd, o)
	limitFlag(cmd, o)
	policyFlags(cmd, o)
	operation.ScopeFlags(cmd, o)
	operation.ReplaceFlags(cmd, o)
	operation.ProtectFlag(cmd, o)
	operation.ProgramFlag(a, cmd, o, "with --refresh: read resources when the program registers them")
	operation.PlanFlag(cmd, o)
	operation.SavePlanFlag(cmd, o)
	operation.ImportFileFlag(cmd, o)
	cmd.Flags().BoolVar(&o.PlanOnly, "plan-only", false, "stop after the plan")
	cmd.Flags().BoolVarP(&o.SkipPreview, "skip-preview", "f", false, "apply without planning first")
	cmd.Flags().BoolP("yes", "y", true, "accepted for compatibility: run never asks")
	console.Hide(cmd.Flags(), "yes")
	operation.WriteAliasesFlag(cmd, o)
	severalFlags(a, cmd, o, several{run: operation.Run, json: "events", emits: true}, cmd.RunE)
	return cmd
}
