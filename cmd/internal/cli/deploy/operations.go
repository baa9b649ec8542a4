package deploy

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// A runFunc performs an operation on one stack.
type runFunc func(context.Context, *console.Console, *operation.Options) error

// newOperation sets the body of cmd, which calls run, and adds the flags of all operations. Flags of single operations
// are added to its result. severalFlags replaces the body, for operations that take several projects. Each command has
// options of its own, in which its flags store their values.
func newOperation(a *console.Console, run runFunc, cmd *cobra.Command) (*cobra.Command, *operation.Options) {
	// The options belong to this command. Flags of two commands would overwrite each other's defaults otherwise.
	o := &operation.Options{}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		end, err := begin(cmd, a, o, args)
		if err != nil {
			return err
		}
		defer end()
		return run(cmd.Context(), a, o)
	}
	operationFlags(a, cmd, o)
	o.Reports.Register(cmd)
	configFlags(cmd, o)
	operation.ScopeFlags(cmd, &o.PlanOptions)
	return cmd, o
}

// NewRun returns the command run.
func NewRun(a *console.Console) *cobra.Command {
	cmd, o := newOperation(a, operation.Run, &cobra.Command{
		Use: "run [DIR]...", Short: "Check, plan and apply a program without asking", Args: console.AtMostOne("a directory"),
		Long: "run checks a program, plans and applies it, and prints its outputs. It never asks, and creates " +
			"the stack if it is missing: the one of --stack or PULUMI_STACK, the selected one, or else dev. " +
			"Use it in CI and for a first try. With --all, or several directories, it takes projects in the " +
			"order of their references.",
	})
	updateFlags(a, cmd, o)
	expectFlag(cmd, o, expectHelp)
	operation.PlanFlag(cmd, &o.ConfigOptions)
	operation.SavePlanFlag(cmd, &o.PlanOptions)
	operation.ImportFileFlag(cmd, &o.PlanOptions)
	cmd.Flags().BoolVar(&o.PlanOnly, "plan-only", false, "stop after the plan")
	cmd.Flags().BoolVarP(&o.SkipPreview, "skip-preview", "f", false, "apply without planning first")
	// Scripts that are written for `up --yes` can call run.
	cmd.Flags().BoolP("yes", "y", true, "accepted for compatibility: run never asks")
	console.Hide(cmd.Flags(), "yes")
	severalFlags(a, cmd, o, operation.Run, several{run: operation.Run, emits: true})
	return cmd
}

// NewPreview returns the command preview.
func NewPreview(a *console.Console) *cobra.Command {
	cmd, o := newOperation(a, operation.Preview, &cobra.Command{
		Use: "preview [DIR]...", Aliases: []string{"pre"}, Short: "Show what would happen", Args: console.AtMostOne("a directory"),
		Long: "preview runs the program against the stack's state and shows what `up` would do. Nothing is changed.",
	})
	updateFlags(a, cmd, o)
	expectFlag(cmd, o, "end with exit code 7 if anything would change")
	operation.SavePlanFlag(cmd, &o.PlanOptions)
	operation.ImportFileFlag(cmd, &o.PlanOptions)
	// With several stacks, one need not exist yet.
	planOnly := func(ctx context.Context, a *console.Console, o *operation.Options) error {
		o.PlanOnly = true
		return operation.Run(ctx, a, o)
	}
	// plans makes stacks read each other's planned outputs, so a preview of all projects shows what a run of all would
	// do.
	severalFlags(a, cmd, o, operation.Preview, several{run: planOnly, plans: true})
	return cmd
}

// NewUp returns the command up.
func NewUp(a *console.Console) *cobra.Command { return newUp(a, operation.Up) }

// It is separate for tests, which pass another operation.
func newUp(a *console.Console, run runFunc) *cobra.Command {
	cmd, o := newOperation(a, run, &cobra.Command{
		Use: "up", Aliases: []string{"update"}, Short: "Create, update and delete what the program says", Args: console.NoArguments,
		Long: "up previews, asks, and then creates, updates and deletes resources until the stack matches the program.",
	})
	updateFlags(a, cmd, o)
	applyFlags(a, cmd, o)
	expectFlag(cmd, o, expectHelp)
	operation.PlanFlag(cmd, &o.ConfigOptions)
	cmd.Flags().BoolVar(&o.Strict, "strict", false, "do only what the preview has shown; otherwise fail")
	return cmd
}

// NewRefresh returns the command refresh.
func NewRefresh(a *console.Console) *cobra.Command {
	cmd, o := newOperation(a, operation.Refresh, &cobra.Command{
		Use: "refresh [DIR]...", Short: "Read every resource and update the state with its changes",
		Args: console.AtMostOne("a directory"),
	})
	applyFlags(a, cmd, o)
	expectFlag(cmd, o, "end with exit code 7 if any resource has changed")
	cmd.Flags().BoolVar(&o.PreviewOnly, "preview-only", false, "only show what would change in the state")
	operation.PendingFlags(cmd, &o.PlanOptions)
	operation.ProgramFlag(a, cmd, &o.PlanOptions, "run the program for the configuration of its providers")
	severalFlags(a, cmd, o, operation.Refresh, several{run: operation.Refresh, existing: true,
		question: "Do you want to refresh %s?\nNo resources will be modified; just the state of the stacks will be."})
	return cmd
}

// NewDrift returns the command drift.
func NewDrift(a *console.Console) *cobra.Command {
	cmd, o := newOperation(a, operation.Drift, &cobra.Command{
		Use: "drift [DIR]...", Short: "Report differences between resources, state and program",
		Args: console.AtMostOne("a directory"),
		Long: "drift reads every resource, compares it with the state, and compares the state with the program. " +
			"It changes nothing. Properties that only a provider computes are no drift. The project file lists differences to ignore under options.drift.ignore, each " +
			"with a reason.",
	})
	continueFlag(a, cmd, o)
	cmd.Flags().BoolVar(&o.ExitCode, "exit-code", false, "end with exit code 17 if there is drift")
	severalFlags(a, cmd, o, operation.Drift, several{run: operation.Drift, existing: true, unlinked: true, plans: true})
	return cmd
}

// NewDestroy returns the command destroy.
func NewDestroy(a *console.Console) *cobra.Command {
	cmd, o := newOperation(a, operation.Destroy, &cobra.Command{
		Use: "destroy [DIR]...", Aliases: []string{"down", "dn"}, Short: "Delete every resource of the stack",
		Args: console.AtMostOne("a directory"),
	})
	deleteFlags(a, cmd, o)
	applyFlags(a, cmd, o)
	cmd.Flags().BoolVar(&o.PreviewOnly, "preview-only", false, "only show what would be deleted")
	cmd.Flags().BoolVar(&o.Remove, "remove", false, "remove the stack when nothing is left in it")
	operation.ProgramFlag(a, cmd, &o.PlanOptions, "run the program for its providers")
	cmd.Flags().BoolVar(&o.Scope.ExcludeProtected, "exclude-protected", false,
		"keep protected resources and their dependencies")
	severalFlags(a, cmd, o, operation.Destroy, several{run: operation.Destroy, existing: true, reverse: true,
		question: "Do you want to destroy %s?"})
	return cmd
}

// NewPlan returns the command plan: preview under another name, with a subcommand for saved plans. People who come from
// other tools look for `plan`.
func NewPlan(a *console.Console) *cobra.Command {
	cmd := NewPreview(a)
	// The flags are those of preview, and stay the same as both change.
	cmd.Use, cmd.Aliases, cmd.Short = "plan", nil, "Show what would happen, and saved plans"
	format, why := "", ""
	show := &cobra.Command{
		Use:   "show FILE",
		Short: "Show a saved plan",
		Long: "show prints what a plan of `preview --save-plan` would do. It starts no plugin, uses no network, " +
			"and needs no passphrase: secrets stay sealed.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return showPlan(a, args[0], format, why) },
	}
	show.Flags().StringVar(&format, "format", "text", "text, json, markdown or html")
	show.Flags().StringVar(&why, "why", "", "show why the plan changes the resource of this name, and nothing else")
	cmd.AddCommand(show)
	return cmd
}

// showPlan reads the file only, so that a plan can be reviewed without access to the project and its state.
func showPlan(a *console.Console, file, format, why string) error {
	plan, err := operation.ReadShownPlan(a.Path(file), file)
	if err != nil {
		return err
	}
	// One resource is a text for a person; the other formats describe the whole plan.
	if why != "" {
		if format != "text" {
			return console.WithCode(console.CodeBadUsage,
				"--why writes text; --format json has the causes of all resources")
		}
		return plan.Why(a.Streams.Out, why, a.Streams.Width(a.Streams.OutTerminal), a.Color(a.Streams.OutTerminal))
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
