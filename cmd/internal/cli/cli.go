package cli

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	aboutcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/about"
	accountcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/account"
	cancelcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/cancel"
	checkcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/check"
	configcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/config"
	convertcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/convert"
	deploycmd "github.com/yamlhost/yamlhost/cmd/internal/cli/deploy"
	doctorcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/doctor"
	envcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/env"
	explaincmd "github.com/yamlhost/yamlhost/cmd/internal/cli/explain"
	functionscmd "github.com/yamlhost/yamlhost/cmd/internal/cli/functions"
	graphcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/graph"
	lspcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/lsp"
	mcpcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/mcp"
	migratecmd "github.com/yamlhost/yamlhost/cmd/internal/cli/migrate"
	newcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/new"
	packagescmd "github.com/yamlhost/yamlhost/cmd/internal/cli/packages"
	plugincmd "github.com/yamlhost/yamlhost/cmd/internal/cli/plugin"
	queuecmd "github.com/yamlhost/yamlhost/cmd/internal/cli/queue"
	schemacmd "github.com/yamlhost/yamlhost/cmd/internal/cli/schema"
	servecmd "github.com/yamlhost/yamlhost/cmd/internal/cli/serve"
	shimcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/shim"
	stackcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/stack"
	statecmd "github.com/yamlhost/yamlhost/cmd/internal/cli/state"
	testcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/test"
	uicmd "github.com/yamlhost/yamlhost/cmd/internal/cli/ui"
	watchcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/watch"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/internal/release"
	"github.com/yamlhost/yamlhost/internal/supervise"
)

// Run executes a command line and returns its exit code (F7.14). args do not include the program's name. The order of
// what it sets up is that of who needs whom: a crash must be reported whatever fails afterwards, signals need the
// streams, and commands need the signals.
func Run(ctx context.Context, args []string, s console.Streams, w console.World) (code int) {
	// This process was started to watch over a child (see internal/supervise), and is no command of a user.
	if len(args) > 0 && args[0] == supervise.Word {
		return supervise.Main(args[1:], w.Env)
	}
	a := &console.Console{World: w, Execute: Run}
	// What views, prompts and messages write ends in these two, since a signal may be reported meanwhile.
	out, errors := &console.Steady{W: s.Out}, &console.Steady{W: s.Err}
	s.Out, s.Err = out, errors
	// From here on, text from elsewhere cannot control the terminal.
	s = a.GuardStreams(s)
	a.Crashes = &console.Crashes{Console: a}
	defer func() {
		if fault := recover(); fault != nil {
			a.Crashes.Report(fault)
			code = console.CodeInternal
			_ = a.Reports.Finish(code, "internal error") // the crash has already been reported
			if w.Enabled("PULUMI_DEBUG_COMMANDS") {
				panic(fault)
			}
		}
	}()
	if s.End != nil {
		defer s.End()
	}
	// The function runs if the command has not finished some time after a second signal. Deferred calls do not run
	// then, so it leaves the terminal and the reports in order itself.
	a.Signals = console.Watch(w.Signals, s.Err, func() {
		if s.Restore != nil {
			s.Restore()
		}
		if s.End != nil {
			s.End()
		}
		a.Reports.FinishSoon(console.CodeCancelled, "interrupted")
		w.Quit(console.CodeCancelled)
	})
	defer a.Signals.Stop()
	// The first signal cancels ctx; what a command does then is its own affair.
	ctx, done := a.Signals.Gentle(ctx)
	defer done()
	// The profile is started by the root command, which parses --profile, and stopped here even after an error.
	measured := &profile{}
	root := newRoot(a, measured)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completer{a}.attach(root)
	}
	defer func() {
		if err := measured.stop(); err != nil {
			a.SayError(err.Error())
		}
	}()
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	// cobra would answer `stack nosuch --help` with the help of stack and success.
	cmd, failure := root, helpForUnknown(root, args)
	if failure == nil {
		cmd, failure = root.ExecuteContextC(ctx)
	}
	code, text := console.CodeOf(a, failure)
	switch {
	case failure == console.ErrDeclined: // an answer, and no error
		fmt.Fprintln(s.Err, text)
	case text != "":
		a.SayError(text)
	}
	// Output is examined before reports are finished, so that these have the code that the process returns.
	code = outputCode(a, code, out, errors)
	if err := a.Reports.Finish(code, text); err != nil {
		a.SayError(err.Error())
		if code == console.CodeOK {
			code = console.CodeError
		}
	}
	if a.World.AsPulumi {
		return console.PulumiCode(code, failure, commandName(cmd))
	}
	return code
}

// commandName returns the name of a command below the root, such as "stack init".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// outputCode returns the exit code of a command, which is an error if output of a successful command may have been
// lost. A reader that has gone, such as `head`, is no fault.
func outputCode(a *console.Console, code int, out, errors *console.Steady) int {
	fault, gone := out.Broken()
	if fault != nil && !gone {
		a.SayError("standard output could not be written: " + console.PlainError(fault).Error())
	}
	if lost, _ := errors.Broken(); code == console.CodeOK && (fault != nil || lost != nil) {
		return console.CodeError
	}
	return code
}

// newRoot returns the tree of commands. measured receives the settings of --profile. PersistentPreRunE is where every
// command passes: flags get their values from the environment, and the folder of -C is entered, before a command looks
// at anything.
func newRoot(a *console.Console, measured *profile) *cobra.Command {
	var profileDir string
	var asksVersion bool
	name := "yamlhost"
	if a.World.AsPulumi {
		name = "pulumi"
	}
	root := &cobra.Command{
		Use:   name,
		Short: "Check, plan and apply Pulumi YAML programs",
		Long: "yamlhost checks, plans and applies Pulumi YAML and JSON programs with an engine of its own. " +
			"State, configuration, secrets and plugins are Pulumi's, so a stack can move between both at any " +
			"time.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          console.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asksVersion {
				return printVersion(a)
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := console.FlagsFromEnvironment(cmd.Flags(), &a.World); err != nil {
				return err
			}
			if a.World.AsPulumi {
				console.UseStreams(a, streamUse(cmd))
			}
			if err := a.Enter(); err != nil || profileDir == "" {
				return err
			}
			return measured.start(a.Path(profileDir))
		},
	}
	root.Flags().BoolVar(&asksVersion, "version", false, "print version and edition")
	flags := root.PersistentFlags()
	flags.StringVarP(&a.Global.Cwd, "cwd", "C", "", "run as if started in this directory")
	flags.StringVar(&a.Global.Color, "color", "auto", "colour the output: always, never, raw or auto")
	flags.BoolVar(&a.Global.NonInteractive, "non-interactive", false, "never ask, as without a terminal")
	flags.BoolVar(&a.Global.Offline, "offline", false, "download no plugin")
	flags.BoolVar(&a.Global.AllowHTTP, "allow-http-plugins", false,
		"allow downloads of plugins over http, where others can change them on the way")
	flags.StringSliceVar(&a.Global.PassEnv, "pass-env", nil,
		"let plugins and commands inherit this variable although it is a secret, such as PGPASSWORD")
	flags.IntVarP(&a.Global.Verbose, "verbose", "v", 0, "show more detail")
	console.AtLeast(flags, "verbose", 0)
	console.Hide(flags, "verbose")
	flags.StringVar(&profileDir, "profile", "",
		"write profiles of the command (CPU, heap, mutexes) and a trace to this folder")
	console.Hide(flags, "profile")
	console.IgnoredFlags(flags, "logtostderr", "logflow", "emoji,e", "disable-integrity-checking",
		"fully-qualify-stack-names,Q")
	flags.String("tracing", "", "accepted for compatibility, without effect")
	console.Hide(flags, "tracing")
	root.SetFlagErrorFunc(console.FlagError)
	for _, command := range []func(*console.Console) *cobra.Command{
		newcmd.NewNew, doctorcmd.NewDoctor, migratecmd.NewMigrate, convertcmd.NewConvert, deploycmd.NewRun,
		deploycmd.NewPreview, deploycmd.NewPlan, deploycmd.NewUp, deploycmd.NewDrift, deploycmd.NewRefresh,
		deploycmd.NewDestroy, deploycmd.NewImport, checkcmd.NewCheck, checkcmd.NewFormat, testcmd.NewTest,
		explaincmd.NewExplain, schemacmd.NewSchema, graphcmd.NewGraph, functionscmd.NewFunctions, lspcmd.NewLSP,
		mcpcmd.NewMCP, uicmd.NewUI, stackcmd.NewStack, configcmd.NewConfig, envcmd.NewEnv, statecmd.NewState,
		plugincmd.NewPlugin, packagescmd.NewPackage, packagescmd.NewInstall, newGenCompletion, accountcmd.NewLogin,
		accountcmd.NewLogout, accountcmd.NewOrg, accountcmd.NewWhoami, queuecmd.NewWorker, queuecmd.NewQueue,
		watchcmd.NewWatch, cancelcmd.NewCancel, aboutcmd.NewAbout, newVersion, shimcmd.NewShim, servecmd.NewServe,
	} {
		root.AddCommand(command(a))
	}
	arrangeHelp(root, func() int {
		columns, _ := a.Size()
		return helpColumns(columns)
	})
	console.AddAbsentCommands(root)
	console.UsageErrors(root)
	return root
}

// Contracts returns all JSON forms that the program writes for other programs. The schemas of Pulumi's own forms, such
// as exported states, are elsewhere.
func Contracts() []contract.Contract {
	own := []contract.Contract{
		contract.Of[versionRecord]("version", "which program this is", "`version --json`"),
	}
	return slices.Concat(report.Contracts, operation.Contracts, graphcmd.Contracts, explaincmd.Contracts,
		functionscmd.Contracts, schemacmd.Contracts, stackcmd.Contracts, configcmd.Contracts, plugincmd.Contracts,
		migratecmd.Contracts, convertcmd.Contracts,
		doctorcmd.Contracts, aboutcmd.Contracts, accountcmd.Contracts, queuecmd.Contracts, own)
}

// newVersion returns the command version, which prints version and edition. To be fast, it reads no file. Scripts call
// it often.
func newVersion(a *console.Console) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version and edition",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.WriteJSON(versionRecord{a.Version(), release.Edition, "v" + operation.PulumiVersion, runtime.Version(),
					runtime.GOOS, runtime.GOARCH})
			}
			return printVersion(a)
		},
	}
	cmd.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	return cmd
}

// versionRecord identifies the program.
type versionRecord struct {
	Version       string `json:"version"`       // with a leading v
	Edition       string `json:"edition"`       // default or lean
	PulumiVersion string `json:"pulumiVersion"` // version of the Pulumi CLI that it emulates, with a leading v
	GoVersion     string `json:"goVersion"`
	OS            string `json:"os"`
	Arch          string `json:"arch"`
}

// printVersion prints the version: of the Pulumi CLI that is emulated under its name, else of yamlhost.
func printVersion(a *console.Console) error {
	if a.World.AsPulumi { // callers compare it with the version of the Pulumi CLI they need
		_, err := fmt.Fprintln(a.Streams.Out, "v"+operation.PulumiVersion)
		return err
	}
	_, err := fmt.Fprintf(a.Streams.Out, "%s (%s edition)\n", a.Version(), release.Edition)
	return err
}

// Types for the arguments of Run that describe the machine.
type (
	// Streams are the input and output streams of a command.
	Streams = console.Streams
	// World is the part of the machine that a command can see.
	World = console.World
	// EmbeddedProviders is a set of providers that run in this process.
	EmbeddedProviders = console.EmbeddedProviders
)
