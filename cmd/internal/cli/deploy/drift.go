package deploy

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
)

// NewDrift makes the command drift.
func NewDrift(a *console.Console, run func(context.Context, *operation.Options) error) *cobra.Command {
	o := &operation.Options{}
	cmd := &cobra.Command{
		Use: "drift [DIR]...", Short: "Report differences between resources, state and " +
			"program", Args: console.AtMostOne("a directory"),
		Long: "drift reads every resource, compares it with the state, and compares the state with the program. " +
			"It changes nothing. Properties that only a provider computes are no drift. The project file lists differences to ignore under options.drift.ignore, each " +
			"with a reason.",
		RunE: runOperation(a, o, run),
	}
	operationFlags(a, cmd, o)
	o.Reports.Register(cmd)
	configFlags(cmd, o)
	continueFlag(a, cmd, o)
	operation.ScopeFlags(cmd, o)
	cmd.Flags().BoolVar(&o.ExitCode, "exit-code", false, "end with exit code 17 if there is drift")
	severalFlags(a, cmd, o, several{run: operation.Drift, existing: true, unlinked: true, plans: true, json: "json"}, cmd.RunE)
	return cmd
}
