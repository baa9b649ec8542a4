package deploy

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
)

// NewDestroy makes the command destroy.
func NewDestroy(a *console.Console, run func(context.Context, *operation.Options) error) *cobra.Command {
	o := &operation.Options{}
	cmd := &cobra.Command{
		Use: "destroy [DIR]...", Aliases: []string{"down", "dn"}, Short: "Delete every resource of the stack", Args: console.AtMostOne("a directory"),
		RunE: runOperation(a, o, run),
	}
	operationFlags(a, cmd, o)
	o.Reports.Register(cmd)
	settlePendingFlag(cmd, o)
	applyFlags(a, cmd, o)
	configFlags(cmd, o)
	refreshFlag(cmd, o)
	continueFlag(a, cmd, o)
	limitFlag(cmd, o)
	policyFlags(cmd, o)
	cmd.Flags().BoolVar(&o.PreviewOnly, "preview-only", false, "only show what would be deleted")
	cmd.Flags().BoolVar(&o.Remove, "remove", false, "remove the stack when nothing is left in it")
	operation.ScopeFlags(cmd, o)
	operation.ProtectFlag(cmd, o)
	operation.ProgramFlag(a, cmd, o, "run the program for its providers")
	cmd.Flags().BoolVar(&o.Scope.ExcludeProtected, "exclude-protected", false,
		"keep protected resources and their dependencies")
	severalFlags(a, cmd, o, several{run: operation.Destroy, existing: true, reverse: true, json: "events",
		question: "Do you want to destroy %s?"}, cmd.RunE)
	return cmd
}
