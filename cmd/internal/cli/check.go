package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/workspace/project"
)

type checkOptions struct {
	targets  []string
	format   string
	portable bool
	stack    string
	fix      bool
	schemas  schemaFlags
}

func newCheck(_ *app, run func(context.Context, *checkOptions) error) *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:   "check [DIR or FILE]...",
		Short: "Report everything that is wrong with a program, in one pass",
		Long: "check reads, resolves and type-checks programs without running them. It needs no stack; with --stack the\n" +
			"stack's configuration is checked as well. It exits with 1 if there is any error.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.targets = args; len(args) == 0 {
				o.targets = []string{"."}
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "text", "text, json, sarif or github (annotations of a pull request)")
	cmd.Flags().BoolVar(&o.fix, "fix", false, "apply the fixes that are certain to the files")
	o.schemas.register(cmd)
	cmd.Flags().BoolVar(&o.portable, "portable", false, "also report what only yamlhost understands")
	cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "check with this stack's configuration")
	return cmd
}

// check reports what is wrong with programs.
func (a *app) check(ctx context.Context, o *checkOptions) error {
	write := func(ds diag.Diagnostics) error {
		width, _ := a.size()
		return diag.WriteText(a.streams.Out, ds, diag.TextOptions{Color: a.color(a.streams.OutTerminal), Width: width})
	}
	switch o.format {
	case "text":
	case "json":
		write = func(ds diag.Diagnostics) error { return diag.WriteJSON(a.streams.Out, ds) }
	case "sarif":
		write = func(ds diag.Diagnostics) error {
			return diag.WriteSARIF(a.streams.Out, ds, diag.Tool{Name: "yamlhost", Version: a.world.Version})
		}
	case "github":
		write = func(ds diag.Diagnostics) error { return diag.WriteGitHub(a.streams.Out, ds) }
	default:
		return withCode(codeError, "--format takes text, json, sarif or github, not %q", o.format)
	}
	given, err := a.givenSchemas(o.schemas)
	if err != nil {
		return err
	}
	ctx, done := a.signals.gentle(ctx)
	defer done()
	var all diag.Diagnostics
	for _, target := range o.targets {
		diags, err := a.checkTarget(ctx, target, o.stack, given)
		if err == nil && o.fix {
			diags, err = a.fixTarget(diags, func() (diag.Diagnostics, error) { return a.checkTarget(ctx, target, o.stack, given) })
		}
		if err != nil {
			return err
		}
		all.Add(diags...)
	}
	if ctx.Err() != nil {
		return withCode(codeCancelled, "interrupted")
	}
	shown := diag.Diagnostics{}
	errors, warnings := 0, 0
	for _, d := range all.Sorted() {
		if d.Severity > diag.Info && !(o.portable && d.Severity == diag.Portability) {
			continue
		}
		shown.Add(d)
		switch d.Severity {
		case diag.Error:
			errors++
		case diag.Warning, diag.Portability:
			warnings++
		}
	}
	if err := write(shown); err != nil {
		return err
	}
	if o.format == "text" {
		if len(shown) > 0 {
			fmt.Fprintln(a.streams.Out)
		}
		fmt.Fprintf(a.streams.Out, "%s, %s\n", count(errors, "error"), count(warnings, "warning"))
	}
	if errors > 0 {
		return errReported
	}
	return nil
}

func (a *app) checkTarget(ctx context.Context, target, stack string, given *givenSchemas) (diag.Diagnostics, error) {
	ws, err := a.openTarget(target, a.looking())
	if err != nil {
		return nil, err
	}
	var config map[project.Key]project.Text
	if stack != "" && ws.Project.Name.Text != "" { // a project whose file is broken has no stacks; that is told
		var diags diag.Diagnostics
		if config, diags, err = a.stackConfig(ws.Project, stack); err != nil {
			return nil, err
		}
		ws.Diags.Add(diags...)
	}
	providers := a.newProviders(ws, nil)
	defer providers.Close()
	providers.given = given
	providers.paths.barred = true
	_, diags := checkWorkspace(ctx, ws, providers, config)
	diags.Add(providers.paths.unseen()...)
	return diags, nil
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
