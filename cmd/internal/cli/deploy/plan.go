package deploy

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// NewPlan makes the command plan: preview by its other name, with a command for plans that were saved.
func NewPlan(a *console.Console) *cobra.Command {
	cmd := NewPreview(a)
	cmd.Use, cmd.Aliases, cmd.Short = "plan", nil, "Show what would happen, and saved plans"
	format := ""
	show := &cobra.Command{
		Use:   "show FILE",
		Short: "Show a saved plan",
		Long: "show prints what a plan of `preview --save-plan` would do. It starts no plugin, uses no network, " +
			"and needs no passphrase: secrets stay sealed.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return showPlan(a, args[0], format) },
	}
	show.Flags().StringVar(&format, "format", "text", "text, json, markdown or html")
	cmd.AddCommand(show)
	return cmd
}

func showPlan(a *console.Console, file, format string) error {
	plan, err := operation.ReadShownPlan(a.Path(file), file)
	if err != nil {
		return err
	}
	switch format {
	case "text":
		_, err = io.WriteString(a.Streams.Out, plan.Text())
	case "json":
		err = jsontext.Write(a.Data(), plan, "  ")
	case "markdown":
		err = report.WriteMarkdown(a.Data(), plan.Record(a.World.Version))
	case "html":
		err = report.WriteHTML(a.Data(), plan.Record(a.World.Version))
	default:
		return console.WithCode(console.CodeBadUsage, "--format takes text, json, markdown or html, not %q", format)
	}
	if err != nil {
		return fmt.Errorf("show the plan: %w", err)
	}
	return nil
}
