package cli

import (
	"github.com/spf13/cobra"
)

// newState is the group of commands on the entries of a state.
func newState(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "state", Short: "Check, repair and edit a stack's state", Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newStateVerify(a, a.stateVerify), newStateRepair(a, a.stateRepair))
	addStateEdits(a, cmd)
	return cmd
}
