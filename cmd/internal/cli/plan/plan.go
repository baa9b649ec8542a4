package plan

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// showOptions are the inputs of the command plan show.
type showOptions struct {
	file, format string
}

// NewShow makes the command plan show.
func NewShow(a *console.Console) *cobra.Command {
	o := &showOptions{}
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show a saved plan",
		Long: "show prints what a plan of `preview --save-plan` would do. It starts no plugin, uses no network, " +
			"and needs no passphrase: secrets stay sealed.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			o.file = args[0]
			return show(a, o)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "text", "text, json, markdown or html")
	return cmd
}

func show(a *console.Console, o *showOptions) error {
	plan, err := operation.ReadShownPlan(a.Path(o.file), o.file)
	if err != nil {
		return err
	}
	switch o.format {
	case "text":
		_, err = io.WriteString(a.Streams.Out, plan.Text())
	case "json":
		err = jsontext.Write(a.Data(), plan, "  ")
	case "markdown":
		err = report.WriteMarkdown(a.Data(), plan.Record(a.World.Version))
	case "html":
		err = report.WriteHTML(a.Data(), plan.Record(a.World.Version))
	default:
		return console.WithCode(console.CodeBadUsage, "--format takes text, json, markdown or html, not %q", o.format)
	}
	if err != nil {
		return fmt.Errorf("show the plan: %w", err)
	}
	return nil
}
