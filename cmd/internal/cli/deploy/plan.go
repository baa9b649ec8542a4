package deploy

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
)

// NewPlan makes the command plan: preview by its other name, with commands for plans that were saved.
func NewPlan(a *console.Console, run func(context.Context, *operation.Options) error,
	saved ...*cobra.Command) *cobra.Command {
	cmd := NewPreview(a, run)
	cmd.Use, cmd.Aliases, cmd.Short = "plan", nil, "Show what would happen, and saved plans"
	cmd.AddCommand(saved...)
	return cmd
}
