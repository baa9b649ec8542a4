package console

import (
	"context"

	"github.com/spf13/cobra"
)

// Bind makes the function that a command runs out of one that takes a console.
func Bind[O any](c *Console, run func(context.Context, *Console, O) error) func(context.Context, O) error {
	return func(ctx context.Context, o O) error { return run(ctx, c, o) }
}

// BindArgs is Bind for a command that takes words besides its flags.
func BindArgs[O any](c *Console, run func(context.Context, *Console, O, []string) error) func(context.Context, O,
	[]string) error {
	return func(ctx context.Context, o O, args []string) error { return run(ctx, c, o, args) }
}

// RunWith makes the body of a command that takes at most one argument, which goes to *arg.
func RunWith[O any](run func(context.Context, O) error, o O, arg *string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			*arg = args[0]
		}
		return run(cmd.Context(), o)
	}
}
