package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/langhost"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// newServe makes the commands that offer what we are to other programs.
func newServe(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve other programs", Args: unknownCommand, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newServeLanguage(a.serveLanguage))
	return cmd
}

func newServeLanguage(run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use:   "language [ENGINE ADDRESS]",
		Short: "Be the language host that the Pulumi CLI starts for YAML programs",
		Long: "Prints a port and serves the Pulumi CLI there, as pulumi-language-yaml does: the CLI's engine registers the\n" +
			"resources that this program finds in YAML. The address is that of the CLI's engine.",
		// The flags are those of language hosts, with one hyphen.
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
	}
}

// serveLanguage serves until it is interrupted or its engine is gone.
func (a *app) serveLanguage(ctx context.Context, args []string) error {
	ctx, done := a.signals.gentle(ctx)
	defer done()
	options := langhost.Options{Version: a.version(), Schemas: a.ownSchemas, Env: a.world.Env, Stderr: a.streams.Err}
	if langhost.Command(ctx, "yamlhost serve language", args, options, a.data()) != 0 {
		return errReported
	}
	return nil
}

// ownSchemas fetches a schema from the embedded and installed providers, for engines that offer no loader.
func (a *app) ownSchemas(ctx context.Context, d schema.Descriptor) ([]byte, error) {
	p := a.newProviders(workspace.Empty(a.world.Dir), nil)
	defer func() { _ = p.Close() }() // a plugin that does not end is killed; there is nothing to tell
	return p.fetchSchema(ctx, d)
}
