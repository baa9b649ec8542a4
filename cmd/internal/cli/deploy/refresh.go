package deploy

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
)

// NewRefresh makes the command refresh.
func NewRefresh(a *console.Console, run func(context.Context, *operation.Options) error) *cobra.Command {
	o := &operation.Options{}
	cmd := &cobra.Command{
		Use: "refresh [DIR]...", Short: "Read every resource and update the state with its " +
			"changes", Args: console.AtMostOne("a directory"),
		RunE: runOperation(a, o, run),
	}
	operationFlags(a, cmd, o)
	o.Reports.Register(cmd)
	applyFlags(a, cmd, o)
	configFlags(cmd, o)
	expectFlag(cmd, o, "end with exit code 7 if any resource has changed")
	cmd.Flags().BoolVar(&o.PreviewOnly, "preview-only", false, "only show what would change in the state")
	operation.ScopeFlags(cmd, o)
	operation.PendingFlags(cmd, o)
	operation.ProgramFlag(a, cmd, o, "run the program for the configuration of its providers")
	severalFlags(a, cmd, o, several{run: operation.Refresh, existing: true, json: "events",
		question: "Do you want to refresh %s?\nNo resources will be modified; just the state of the stacks will be."}, cmd.RunE)
	return cmd
}
