package serve

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/langhost"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// NewServe returns the command serve with its subcommands. It is hidden, since other programs start it.
func NewServe(a *console.Console) *cobra.Command {
	cmd := console.Group("serve", "Serve other programs", newServeLanguage(a))
	cmd.Hidden = true
	return cmd
}

// newServeLanguage returns the command serve language.
func newServeLanguage(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "language [ENGINE ADDRESS]",
		Short: "Serve the Pulumi CLI as its language host for YAML programs",
		Long: "Prints a port and serves the Pulumi CLI there, as pulumi-language-yaml does: the CLI's engine " +
			"registers the resources that this program finds in YAML. The address is that of the CLI's engine.",
		// Language hosts have flags with a single hyphen, which pflag cannot parse.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return serveLanguage(cmd.Context(), a, args)
		},
	}
}

// serveLanguage runs a language host until it is interrupted or its engine has gone.
func serveLanguage(ctx context.Context, a *console.Console, args []string) error {
	// The schemas of embedded and installed providers are for engines that offer no loader.
	schemas := func(ctx context.Context, d schema.Descriptor) ([]byte, error) {
		p := operation.NewProviders(a, workspace.Empty(a.World.Dir), nil, operation.Trusted)
		defer func() { _ = p.Close() }() // plugins that do not end are killed, so no error matters
		return p.FetchSchema(ctx, d)
	}
	options := langhost.Options{Version: a.Version(), Schemas: schemas, Env: a.World.Env, Stderr: a.Streams.Err}
	if langhost.Command(ctx, "yamlhost serve language", args, options, a.Data()) != 0 {
		return console.ErrReported
	}
	return nil
}
