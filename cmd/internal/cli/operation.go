package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

// operationOptions are the flags of everything that plans or applies.
type operationOptions struct {
	dir     string // of `run`
	stack   string
	message string
	flags   map[string]string // flags that were set, for the history

	config     []string
	configPath bool
	configFile string

	yes             bool
	skipPreview     bool
	previewOnly     bool
	planOnly        bool // of `run`
	expectNoChanges bool
	continueOnError bool
	parallel        int
	refresh         string
	settlePending   []string
	unasked         bool // `run` never asks
	scope           scopeOptions
	savePlan, plan  string
	importFile      string
	strict          bool
	remove          bool // of `destroy`
	monitorRPC      bool
	allowEnv        bool
	restrictPaths   bool
	maxValue        int64 // MiB
	maxSteps        int64

	json             bool
	diff             bool
	showSames        bool
	showReads        bool
	showSecrets      bool
	suppressOutputs  bool
	suppressProgress bool
}

// operationFlags adds the flags that all operations share.
func operationFlags(a *app, cmd *cobra.Command, o *operationOptions) {
	f := cmd.Flags()
	f.StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	f.StringVarP(&o.message, "message", "m", "", "what the history says of this operation")
	f.StringVar(&o.configFile, "config-file", "", "use this file instead of Pulumi.<stack>.yaml")
	f.IntVarP(&o.parallel, "parallel", "p", parallelDefault(a), "how many resource operations go on at the same time")
	f.BoolVarP(&o.json, "json", "j", false, "write JSON to standard output")
	f.BoolVar(&o.diff, "diff", false, "show what changes in every property")
	f.BoolVar(&o.showSames, "show-sames", false, "show resources that do not change")
	f.BoolVar(&o.showReads, "show-reads", false, "show resources that are only read")
	f.BoolVar(&o.showSecrets, "show-secrets", false, "show secret outputs in plain text")
	f.BoolVar(&o.suppressOutputs, "suppress-outputs", false, "do not show the stack's outputs")
	f.BoolVar(&o.suppressProgress, "suppress-progress", false, "show no progress, only the result")
	f.BoolVar(&a.global.suppressSecretOutput, "suppress-secret-output", false, "show nothing of what commands with secret inputs print")
	f.BoolVar(&o.monitorRPC, "monitor-rpc", false, "run the program in front of a gRPC connection to the engine")
	hide(f, "monitor-rpc")
	for _, name := range []string{"show-replacement-steps", "show-config", "skip-plugin-pre-install", "debug", "copilot", "neo",
		"show-full-output", "urns", "skip-config-validation", "show-policy-remediations", "neo-task-on-failure"} {
		f.BoolP(name, map[string]string{"debug": "d"}[name], false, "accepted for compatibility, without effect")
		hide(f, name)
	}
	for _, name := range []string{"exec-kind", "exec-agent", "suppress-permalink"} {
		f.String(name, "", "accepted for compatibility, without effect")
		hide(f, name)
	}
	f.Lookup("suppress-permalink").NoOptDefVal = "true"
}

func parallelDefault(a *app) int {
	n, err := strconv.Atoi(a.world.env("PULUMI_PARALLEL"))
	if err != nil || n < 1 {
		return 0
	}
	return n
}

func configFlags(cmd *cobra.Command, o *operationOptions) {
	cmd.Flags().StringArrayVarP(&o.config, "config", "c", nil, "set configuration first, as key=value; may come several times")
	cmd.Flags().BoolVar(&o.configPath, "config-path", false, "the keys of --config are paths into values")
	cmd.Flags().Int64Var(&o.maxValue, "max-value", 0, "let one value of the program take so many MiB (default 256)")
	cmd.Flags().Int64Var(&o.maxSteps, "max-steps", 0, "let the program take so many steps, and 10000 more for each resource (default 10000000)")
	cmd.Flags().BoolVar(&o.restrictPaths, "restrict-paths", false, "let the program read files of the project only, and absolute paths that it writes out")
	cmd.Flags().BoolVar(&o.allowEnv, "allow-env", false, "let the program read every environment variable, not only those that it lists")
}

func refreshFlag(cmd *cobra.Command, o *operationOptions) {
	cmd.Flags().StringVarP(&o.refresh, "refresh", "r", "", "read every resource before planning")
	cmd.Flags().Lookup("refresh").NoOptDefVal = "true"
}

func yesFlag(a *app, cmd *cobra.Command, o *operationOptions) {
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", a.world.envTrue("PULUMI_SKIP_CONFIRMATIONS"), "go on without asking")
}

func applyFlags(a *app, cmd *cobra.Command, o *operationOptions) {
	yesFlag(a, cmd, o)
	cmd.Flags().BoolVarP(&o.skipPreview, "skip-preview", "f", false, "do not preview first")
}

func continueFlag(a *app, cmd *cobra.Command, o *operationOptions) {
	cmd.Flags().BoolVar(&o.continueOnError, "continue-on-error", a.world.envTrue("PULUMI_CONTINUE_ON_ERROR"),
		"after an error go on with what does not depend on it")
}

func settleFlag(cmd *cobra.Command, o *operationOptions) {
	cmd.Flags().StringArrayVar(&o.settlePending, "settle-pending", nil, settleHelp)
}

func expectFlag(cmd *cobra.Command, o *operationOptions, help string) {
	cmd.Flags().BoolVar(&o.expectNoChanges, "expect-no-changes", false, help)
}

// expectHelp is the help of --expect-no-changes of operations that then change nothing.
const expectHelp = "plan first; if anything would change, do nothing and end with exit code 7"

// runOperation is a command's body: it notes which flags were set and checks that the flags go together.
func runOperation(o *operationOptions, run func(context.Context, *operationOptions) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			o.dir = args[0]
		}
		o.flags = flagsSet(cmd)
		switch o.refresh {
		case "", "true", "false":
		default:
			return withCode(codeError, "--refresh takes true or false, not %q", o.refresh)
		}
		if o.parallel < 0 {
			return withCode(codeError, "--parallel takes a number from 1, not %d", o.parallel)
		}
		if err := o.scope.check(); err != nil {
			return err
		}
		if err := checkSettleFlags(o.settlePending); err != nil {
			return err
		}
		return run(cmd.Context(), o)
	}
}

func newPreview(a *app, run func(context.Context, *operationOptions) error) *cobra.Command {
	o := &operationOptions{}
	cmd := &cobra.Command{
		Use: "preview", Aliases: []string{"pre", "plan"}, Short: "Show what would happen", Args: noArguments,
		Long: "preview runs the program against the stack's state and shows what `up` would do. Nothing is changed.",
		RunE: runOperation(o, run),
	}
	operationFlags(a, cmd, o)
	settleFlag(cmd, o)
	configFlags(cmd, o)
	refreshFlag(cmd, o)
	expectFlag(cmd, o, "end with exit code 7 if anything would change")
	continueFlag(a, cmd, o)
	scopeFlags(cmd, o)
	replaceFlags(cmd, o)
	protectFlag(cmd, o)
	programFlag(a, cmd, o, "with --refresh: read resources when the program registers them")
	savePlanFlag(cmd, o)
	importFileFlag(cmd, o)
	return cmd
}

func newUp(a *app, run func(context.Context, *operationOptions) error) *cobra.Command {
	o := &operationOptions{}
	cmd := &cobra.Command{
		Use: "up", Aliases: []string{"update"}, Short: "Make the stack what the program says", Args: noArguments,
		Long: "up previews, asks, and then creates, updates and deletes resources until the stack is what the program says.",
		RunE: runOperation(o, run),
	}
	operationFlags(a, cmd, o)
	settleFlag(cmd, o)
	configFlags(cmd, o)
	refreshFlag(cmd, o)
	applyFlags(a, cmd, o)
	expectFlag(cmd, o, expectHelp)
	continueFlag(a, cmd, o)
	scopeFlags(cmd, o)
	replaceFlags(cmd, o)
	protectFlag(cmd, o)
	programFlag(a, cmd, o, "with --refresh: read resources when the program registers them")
	planFlag(cmd, o)
	cmd.Flags().BoolVar(&o.strict, "strict", false, "do what the preview has shown, or nothing")
	return cmd
}

func newRefresh(a *app, run func(context.Context, *operationOptions) error) *cobra.Command {
	o := &operationOptions{}
	cmd := &cobra.Command{
		Use: "refresh", Short: "Read every resource and note what has changed outside", Args: noArguments,
		RunE: runOperation(o, run),
	}
	operationFlags(a, cmd, o)
	applyFlags(a, cmd, o)
	configFlags(cmd, o)
	expectFlag(cmd, o, "end with exit code 7 if anything has changed outside")
	cmd.Flags().BoolVar(&o.previewOnly, "preview-only", false, "only show what would be noted")
	scopeFlags(cmd, o)
	pendingFlags(cmd, o)
	programFlag(a, cmd, o, "run the program for the configuration of its providers")
	return cmd
}

func newDestroy(a *app, run func(context.Context, *operationOptions) error) *cobra.Command {
	o := &operationOptions{}
	cmd := &cobra.Command{
		Use: "destroy", Aliases: []string{"down"}, Short: "Delete every resource of the stack", Args: noArguments,
		RunE: runOperation(o, run),
	}
	operationFlags(a, cmd, o)
	settleFlag(cmd, o)
	applyFlags(a, cmd, o)
	configFlags(cmd, o)
	refreshFlag(cmd, o)
	continueFlag(a, cmd, o)
	cmd.Flags().BoolVar(&o.previewOnly, "preview-only", false, "only show what would be deleted")
	cmd.Flags().BoolVar(&o.remove, "remove", false, "remove the stack when nothing is left in it")
	scopeFlags(cmd, o)
	protectFlag(cmd, o)
	programFlag(a, cmd, o, "run the program for its providers")
	cmd.Flags().BoolVar(&o.scope.excludeProtected, "exclude-protected", false, "leave protected resources and what they need alone")
	return cmd
}

func newRun(a *app, run func(context.Context, *operationOptions) error) *cobra.Command {
	o := &operationOptions{}
	cmd := &cobra.Command{
		Use: "run [DIR]", Short: "Check, plan and apply a program without asking", Args: atMostOne("a directory"),
		Long: "run checks a program, plans and applies it, and prints its outputs. It never asks, and creates the stack if it is\n" +
			"missing: the one of --stack or PULUMI_STACK, the selected one, or else dev. It is the job for CI and for a first try.",
		RunE: runOperation(o, run),
	}
	operationFlags(a, cmd, o)
	settleFlag(cmd, o)
	configFlags(cmd, o)
	refreshFlag(cmd, o)
	expectFlag(cmd, o, expectHelp)
	continueFlag(a, cmd, o)
	scopeFlags(cmd, o)
	replaceFlags(cmd, o)
	protectFlag(cmd, o)
	programFlag(a, cmd, o, "with --refresh: read resources when the program registers them")
	planFlag(cmd, o)
	savePlanFlag(cmd, o)
	importFileFlag(cmd, o)
	cmd.Flags().BoolVar(&o.planOnly, "plan-only", false, "stop after the plan")
	cmd.Flags().BoolVarP(&o.skipPreview, "skip-preview", "f", false, "apply without planning first")
	cmd.Flags().BoolP("yes", "y", true, "accepted for compatibility: run never asks")
	hide(cmd.Flags(), "yes")
	return cmd
}
