package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// NewState returns the command state with its subcommands.
func NewState(a *console.Console) *cobra.Command {
	return console.Group("state", "Check, repair and edit a stack's state",
		append(stateEdits(a), newStateVerify(a), newStateRepair(a), newStateUpgrade(a))...)
}

// newStateUpgrade returns the command state upgrade.
func newStateUpgrade(a *console.Console) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "upgrade", Short: "Bring the backend to the present layout", Args: console.NoArguments,
		Long: "upgrade brings a backend of the old layout, without projects, to the present one, as `pulumi state " +
			"upgrade` does: each stack goes to the folder of the project that its resources name, with its history. The " +
			"former state file stays as .bak. A stack without resources, and one that is locked, stays where it is. After " +
			"an upgrade that was cut off, run it again.",
		RunE: func(cmd *cobra.Command, _ []string) error { return stateUpgrade(cmd.Context(), a, yes) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// stateUpgrade upgrades the backend to the current layout.
func stateUpgrade(ctx context.Context, a *console.Console, yes bool) error {
	// Outside of a project the backend is the one of login.
	p, err := a.ProjectIfAny(a.World.Dir)
	if err != nil {
		return err
	}
	b, err := a.Backends().OpenToUpgrade(p)
	if err != nil {
		return err
	}
	old, err := backend.Legacy(b)
	if err != nil {
		return err
	}
	// A second upgrade is no fault: scripts call it on every machine.
	if len(old) == 0 {
		_, err = fmt.Fprintf(a.Streams.Out, "Nothing to do: %s has the present layout.\n", b.PublicURL())
		return err
	}
	if err := a.Confirm(yes, "bring "+b.PublicURL()+" to the layout with projects",
		fmt.Sprintf("It has %s of the old layout. Programs that know only that will no longer find them. Upgrade?",
			diag.Count(len(old), "stack"))); err != nil {
		return err
	}
	// The results are shown even with an error: these stacks have been treated before it.
	results, err := b.Upgrade(ctx)
	left := 0
	for _, r := range results {
		if r.Err != nil {
			if !errors.Is(r.Err, backend.ErrNoProject) { // an empty stack loses nothing
				left++
			}
			fmt.Fprintf(a.Streams.Err, "%s stays: %s\n", r.Stack, r.Err)
			continue
		}
		fmt.Fprintf(a.Streams.Out, "%s is now %s\n", r.Stack, r.Now)
	}
	switch {
	// An interrupt is more than what it left undone.
	case ctx.Err() != nil:
		return a.Signals.Ended()
	case err != nil:
		return err
	case left > 0:
		return fmt.Errorf("%s could not be upgraded", diag.Count(left, "stack"))
	}
	return nil
}
