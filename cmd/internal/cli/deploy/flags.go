package deploy

import (
	"math"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/cli/ui"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
)

// operationFlags adds the flags that all operations share.
func operationFlags(a *console.Console, cmd *cobra.Command, o *operation.Options) {
	f := cmd.Flags()
	f.StringVarP(&o.Stack, "stack", "s", "", "the stack; by default the selected one")
	f.StringVarP(&o.Message, "message", "m", "", "a message about this operation for the history")
	f.StringVar(&o.ConfigFile, "config-file", "", "use this file instead of Pulumi.<stack>.yaml")
	// An invalid variable counts as unset, and 0 leaves the limit to the engine.
	parallel, err := strconv.Atoi(a.World.Getenv("PULUMI_PARALLEL"))
	if err != nil {
		parallel = 0
	}
	f.IntVarP(&o.Parallel, "parallel", "p", max(parallel, 0), "how many resource operations run at the same time")
	console.AtLeast(f, "parallel", 0)
	operation.TimeFlags(cmd, &o.OpenOptions)
	f.BoolVarP(&o.Json, "json", "j", false, "write JSON to standard output")
	f.BoolVar(&o.Diff, "diff", false, "show what changes in every property")
	f.BoolVar(&o.Flat, "flat", false, "show resources as a list instead of a tree, with their full names")
	f.BoolVar(&o.Timestamps, "timestamps", false, "put the time in front of each line of progress in a log")
	f.BoolVar(&o.ShowSames, "show-sames", false, "show resources that do not change")
	f.BoolVar(&o.ShowReads, "show-reads", false, "show resources that are only read")
	f.BoolVar(&o.ShowComputed, "show-computed", false,
		"show what a refresh finds changed in properties that only the provider computes")
	f.StringVar(&o.Why, "why", "", "show why the resource of this name changes, or why it does not")
	f.StringVar(&o.Causes, "causes", "short", "what to say about the causes of changes: none, short or full")
	f.BoolVar(&o.ShowSecrets, "show-secrets", false, "show secret outputs in plain text")
	f.BoolVar(&o.SuppressOutputs, "suppress-outputs", false, "do not show the stack's outputs")
	f.BoolVar(&o.SuppressProgress, "suppress-progress", false, "show no progress, only the result")
	// The flag is stored in the console and not in the options, since commands and plugins write through its streams.
	f.BoolVar(&a.Global.SuppressSecretOutput, "suppress-secret-output", false,
		"hide the output of commands and code with secret inputs")
	f.BoolVar(&o.UI, "ui", false, "show the operation in a browser while it goes on")
	f.BoolVar(&o.AcceptPlugins, "accept-new-plugins", false,
		"accept plugins without a checksum in the lock file: download, run and lock them")
	f.BoolVar(&o.MonitorRPC, "monitor-rpc", false, "run the program in front of a gRPC connection to the engine")
	console.Hide(f, "monitor-rpc")
	// Scripts for the Pulumi CLI pass these; nothing corresponds to them here.
	console.IgnoredFlags(f, "show-replacement-steps", "show-config", "skip-plugin-pre-install", "debug,d", "copilot", "neo",
		"show-full-output", "urns", "skip-config-validation", "show-policy-remediations", "neo-task-on-failure")
	f.StringVar(&o.ExecKind, "exec-kind", "", "what has started the command, for the history")
	f.StringVar(&o.ExecAgent, "exec-agent", "", "which program has started the command, for the history")
	f.String("suppress-permalink", "", "accepted for compatibility, without effect")
	for _, name := range []string{"exec-kind", "exec-agent", "suppress-permalink"} {
		console.Hide(f, name)
	}
	// The Pulumi CLI takes the flag with and without a value.
	f.Lookup("suppress-permalink").NoOptDefVal = "true"
}

// configFlags adds the flags of operations that run a program: its configuration, limits and what it may read.
func configFlags(cmd *cobra.Command, o *operation.Options) {
	cmd.Flags().StringArrayVarP(&o.Config, "config", "c", nil,
		"set configuration first, as key=value; may be repeated")
	operation.ConfigSourceFlags(cmd, &o.ConfigOptions)
	cmd.Flags().BoolVar(&o.ConfigPath, "config-path", false, "the keys of --config are paths into values")
	cmd.Flags().Int64Var(&o.MaxValue, "max-value", 0, "the largest size of one value of the program, in MiB (default 256)")
	cmd.Flags().Int64Var(&o.MaxSteps, "max-steps", 0,
		"how many steps the program may take, plus 10000 for each resource (default 10000000)")
	console.Range(cmd.Flags(), "max-value", 1, math.MaxInt64>>20) // so that it fits as bytes
	console.AtLeast(cmd.Flags(), "max-steps", 1)
	cmd.Flags().BoolVar(&o.RestrictPaths, "restrict-paths", false,
		"let the program read only files of the project and literal absolute paths")
	cmd.Flags().BoolVar(&o.Untrusted, "untrusted", false,
		"the project is a stranger's: start nothing of it and no plugin that is not installed and locked, "+
			"read no file outside of it, no environment and no private address")
	cmd.Flags().StringArrayVar(&o.AllowStacks, "allow-stack", nil, operation.AllowStackHelp)
	cmd.Flags().BoolVar(&o.AllowEnv, "allow-env", false,
		"let the program read every environment variable, not only those that it lists")
}

// yesFlag adds --yes, for operations that ask.
func yesFlag(a *console.Console, cmd *cobra.Command, o *operation.Options) {
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", a.World.Enabled("PULUMI_SKIP_CONFIRMATIONS"), "continue without asking")
}

// applyFlags adds the flags of operations that preview and ask before they change anything. import has these two as
// well, but without the short form of --skip-preview, which is taken there.
func applyFlags(a *console.Console, cmd *cobra.Command, o *operation.Options) {
	yesFlag(a, cmd, o)
	cmd.Flags().BoolVarP(&o.SkipPreview, "skip-preview", "f", false, "do not preview first")
}

// continueFlag adds --continue-on-error.
func continueFlag(a *console.Console, cmd *cobra.Command, o *operation.Options) {
	cmd.Flags().BoolVar(&o.ContinueOnError, "continue-on-error", a.World.Enabled("PULUMI_CONTINUE_ON_ERROR"),
		"after an error, continue with resources that do not depend on the failed one")
}

// settlePendingFlag adds the flags about what earlier runs have left: pending operations and lost records.
func settlePendingFlag(cmd *cobra.Command, o *operation.Options) {
	cmd.Flags().BoolVar(&o.AcceptLoss, "accept-loss", false,
		"create resources although a repair has lost records of earlier ones, without a refresh first")
	cmd.Flags().StringArrayVar(&o.ResolvePending, "settle-pending", nil, operation.ResolvePendingHelp)
}

// expectFlag adds --expect-no-changes; its effect depends on the operation, hence the help text.
func expectFlag(cmd *cobra.Command, o *operation.Options, help string) {
	cmd.Flags().BoolVar(&o.ExpectNoChanges, "expect-no-changes", false, help)
}

// updateFlags adds the flags of operations that apply a program, and of previews of them.
func updateFlags(a *console.Console, cmd *cobra.Command, o *operation.Options) {
	deleteFlags(a, cmd, o)
	operation.ReplaceFlags(cmd, &o.PlanOptions)
	operation.ProgramFlag(a, cmd, &o.PlanOptions, "with --refresh: read resources when the program registers them")
	operation.WriteAliasesFlag(cmd, &o.PlanOptions)
}

// deleteFlags adds the flags of operations that delete resources: a refresh may precede them, and policy packs can
// check them.
func deleteFlags(a *console.Console, cmd *cobra.Command, o *operation.Options) {
	settlePendingFlag(cmd, o)
	continueFlag(a, cmd, o)
	operation.ProtectFlag(cmd, &o.PlanOptions)
	limitFlag(cmd, o)
	f := cmd.Flags()
	f.StringVarP(&o.Refresh, "refresh", "r", "", "read every resource before planning")
	f.Lookup("refresh").NoOptDefVal = "true"
	f.StringArrayVar(&o.PolicyPacks, "policy-pack", nil,
		"run the policy pack in this folder, or this executable, as part of the operation; repeatable")
	f.StringArrayVar(&o.PolicyConfigs, "policy-pack-config", nil,
		"JSON file with the configuration of the policy pack in the same position; repeatable")
}

// limitFlag adds the flag that limits deletions and replacements. The value becomes a pointer in PreRun, because 0 is
// a limit, too, and differs from none.
func limitFlag(cmd *cobra.Command, o *operation.Options) {
	var limit int
	cmd.Flags().IntVar(&limit, "max-deletes", 0,
		"refuse a plan that deletes or replaces more objects than this, before anything is changed")
	console.AtLeast(cmd.Flags(), "max-deletes", 0)
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if cmd.Flags().Changed("max-deletes") {
			o.MaxDeletes = &limit
		}
	}
}

// expectHelp is the help text of --expect-no-changes for operations that refuse to make changes because of it.
const expectHelp = "plan first; if anything would change, do nothing and end with exit code 7"

// begin records which flags of an operation's command were set, and checks that they can be combined. The caller calls
// end when the operation has ended.
func begin(cmd *cobra.Command, a *console.Console, o *operation.Options, args []string) (end func(), err error) {
	if len(args) > 0 {
		o.Dir = args[0]
	}
	// The history keeps what was typed, and messages name the flags.
	o.Command, o.Flags = cmd.Name(), console.FlagsSet(cmd)
	// Everything that can be refused is refused before OpenReports, which touches files.
	if err := o.Check(a); err != nil {
		return nil, err
	}
	a.Global.AdviseFor(o.Stack, o.ConfigFile)
	// The time counts from here, so a wait for the lock is part of it. Reports are opened when all else has been
	// checked, since that may replace files of an earlier run.
	a.Signals.Deadline(o.Timeout)
	if err := a.OpenReports(&o.Reports, cmd.Name()); err != nil {
		return nil, err
	}
	if o.Json && a.Reports.TakesStdout() {
		return nil, console.WithCode(console.CodeBadUsage, "--json and a report of --out both write to standard output")
	}
	// The page comes last: it is opened in a browser, and then nothing should fail any more.
	if o.UI {
		end, err := ui.Beside(cmd.Context(), a, o.Dir)
		if err != nil {
			return nil, err
		}
		return end, nil
	}
	return func() {}, nil
}
