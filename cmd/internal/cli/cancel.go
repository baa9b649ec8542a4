package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

type cancelOptions struct {
	stack string
	yes   bool
}

func newCancel(a *app, run func(context.Context, *cancelOptions) error) *cobra.Command {
	o := &cancelOptions{}
	cmd := &cobra.Command{
		Use: "cancel [STACK]", Short: "Remove the locks of a stack", Args: atMostOne("the name of a stack"),
		Long: "cancel removes a stack's locks, whoever holds them. An update that is still going on goes on without one, so be sure\n" +
			"that there is none.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.stack = args[0]
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", a.world.envTrue("PULUMI_SKIP_CONFIRMATIONS"), "do not ask")
	return cmd
}

// cancel removes locks.
func (a *app) cancel(ctx context.Context, o *cancelOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	if !o.yes {
		if !a.interactive() {
			return withCode(codeUsage, "--yes must be passed in to cancel when running in non-interactive mode")
		}
		question := fmt.Sprintf("This will irreversibly cancel the currently running update for '%s'. Go on?", s.ref.Stack)
		if err := a.confirm(question); err != nil {
			return err
		}
	}
	removed, err := s.backend.Cancel(s.ref)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.streams.Err, "The currently running update for '%s' has been canceled! (%s removed)\n", s.ref.Stack, count(len(removed), "lock"))
	return nil
}
