package console

import "context"

// Bind makes the function that a command runs out of one that takes a console.
func Bind[O any](c *Console, run func(context.Context, *Console, O) error) func(context.Context, O) error {
	return func(ctx context.Context, o O) error { return run(ctx, c, o) }
}

// BindArgs is Bind for a command that takes words besides its flags.
func BindArgs[O any](c *Console, run func(context.Context, *Console, O, []string) error) func(context.Context, O,
	[]string) error {
	return func(ctx context.Context, o O, args []string) error { return run(ctx, c, o, args) }
}
