package state

import (
	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// NewState is the group of commands on the entries of a state.
func NewState(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{Use: "state", Short: "Check, repair and edit a stack's state", Args: console.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newStateVerify(a), newStateRepair(a), newStateUpgrade(a))
	addStateEdits(a, cmd)
	return cmd
}
