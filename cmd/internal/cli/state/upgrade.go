package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/workspace/project"
)

func newStateUpgrade(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "upgrade", Short: "Bring the backend to the present layout", Args: console.NoArguments,
		Long: "upgrade looks at the layout of the backend. There is one that yamlhost writes, with the stacks of each " +
			"project in a folder of its own, and there is nothing to do for a backend that has it. One of the old layout, " +
			"without projects, is brought to the present one by `pulumi state upgrade` of the Pulumi CLI.",
		RunE: func(cmd *cobra.Command, _ []string) error { return stateUpgrade(cmd.Context(), a) },
	}
	cmd.Flags().BoolP("yes", "y", false, "do not ask")
	return cmd
}

// stateUpgrade reports whether the backend has the present layout: opening it reads that.
func stateUpgrade(_ context.Context, a *console.Console) error {
	p, diags, err := a.OpenProject(a.World.Dir)
	switch {
	case errors.Is(err, project.ErrNotFound):
		p = nil
	case err != nil:
		return err
	case diags.HasErrors():
		return a.Report(diags)
	}
	b, err := a.Backends().Open(p)
	if old, ok := errors.AsType[*backend.LayoutError](err); ok {
		return fmt.Errorf("nothing was changed: %w", old)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Streams.Out, "Nothing to do: %s has the present layout.\n", b.PublicURL())
	return err
}
