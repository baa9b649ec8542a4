// Package mcp implements the command mcp, a server for tools that write programs with a language model.
package mcp

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/cli/lsp"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/mcp"
	"github.com/yamlhost/yamlhost/internal/confine"
)

// options are the arguments and flags of the command mcp.
type options struct {
	folder    string
	allowPlan bool
}

// NewMCP returns the command mcp.
func NewMCP(a *console.Console) *cobra.Command {
	o := &options{folder: "."}
	cmd := &cobra.Command{
		Use:   "mcp [DIR]",
		Short: "Answer a coding assistant over the Model Context Protocol",
		Long: "mcp is started by tools that write programs with a language model. It offers check, explain, " +
			"schema, functions and graph for the programs in one folder. It reads nothing outside of that " +
			"folder, changes nothing, starts nothing from the project, and shows no secret. With --allow-plan " +
			"it also offers previews, which run plugins and commands of the project.",
		Args: cobra.MaximumNArgs(1),
		RunE: console.RunWith(a, serve, o, &o.folder),
	}
	cmd.Flags().BoolVar(&o.allowPlan, "allow-plan", false, "offer previews, which run plugins and commands of the project")
	return cmd
}

// serve answers a client until the client closes its end.
func serve(ctx context.Context, a *console.Console, o *options) error {
	folder := a.Path(o.folder)
	if info, err := confine.Anywhere().Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", o.folder)
	}
	// The programs are opened as for an editor, so an assistant sees the findings that a person sees.
	opener := &lsp.ProgramOpener{Console: a, Within: folder, Loaders: make(map[string]*lsp.KeptSchemas)}
	defer opener.Close()
	server := mcp.Options{Version: a.World.Version, Folder: folder, Root: opener.Root}
	// Without the flag the tool is not even offered.
	if o.allowPlan {
		server.Plan = lsp.Plan(console.NewInside(a))
	}
	return mcp.Serve(ctx, a.Streams.In, a.Data(), editor.NewSession(opener), server)
}
