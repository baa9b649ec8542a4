package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// app is one run of the command line.
type app struct {
	streams Streams   // printable, whatever is written
	screen  io.Writer // Err as it is, for views that move the cursor
	result  io.Writer // Out as it is; see data
	world   World
	global  globalOptions
	signals *interrupts
	crashes *crashes
	keys    secrets.Keyring // derived once in a process
}

// globalOptions are the flags that every command has.
type globalOptions struct {
	cwd            string
	color          string
	nonInteractive bool

	suppressSecretOutput bool // of operations; here because providers are made for other commands too
	offline              bool
	passEnv              []string // inherited by children although they open secrets
	verbose              int
}

// Run carries out a command line and returns its exit code (F7.14). args come without the program's name.
func Run(ctx context.Context, args []string, s Streams, w World) (code int) {
	if len(args) > 0 && args[0] == supervise.Word {
		return supervise.Main(args[1:], w.Env)
	}
	a := &app{world: w}
	s = a.guardStreams(s)
	a.crashes = &crashes{app: a}
	defer func() {
		if fault := recover(); fault != nil {
			a.crashes.report(fault)
			code = codeInternal
			if w.envTrue("PULUMI_DEBUG_COMMANDS") {
				panic(fault)
			}
		}
	}()
	out, errors := &steady{w: s.Out}, &steady{w: s.Err}
	s.Out, s.Err = out, errors
	a.streams = s
	a.signals = watch(w.Signals, s.Err, func() {
		if s.Restore != nil {
			s.Restore()
		}
		w.exit(codeCancelled)
	})
	defer a.signals.stop()
	ctx, done := a.signals.gentle(ctx)
	defer done()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	code, text := codeOf(root.ExecuteContext(ctx))
	if text != "" {
		a.sayError(text)
	}
	return a.outputCode(code, out, errors)
}

// outputCode is the exit code of a command whose output may have been lost.
func (a *app) outputCode(code int, out, errors *steady) int {
	fault, gone := out.broken()
	if fault != nil && !gone {
		a.sayError("standard output could not be written: " + plainError(fault).Error())
	}
	if lost, _ := errors.broken(); code == codeOK && (fault != nil || lost != nil) {
		return codeError
	}
	return code
}

// newRoot makes the tree of commands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "yamlhost",
		Short: "Check, plan and apply Pulumi YAML programs",
		Long: "yamlhost checks, plans and applies Pulumi YAML and JSON programs with an engine of its own.\n" +
			"State, configuration, secrets and plugins are Pulumi's, so a stack can move between both at any time.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := flagsFromEnvironment(cmd.Flags(), &a.world); err != nil {
				return err
			}
			return a.enter()
		},
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&a.global.cwd, "cwd", "C", "", "run as if started in this directory")
	flags.StringVar(&a.global.color, "color", "auto", "colour the output: always, never, raw or auto")
	flags.BoolVar(&a.global.nonInteractive, "non-interactive", false, "never ask, as without a terminal")
	flags.BoolVar(&a.global.offline, "offline", false, "download no plugin")
	flags.StringSliceVar(&a.global.passEnv, "pass-env", nil, "let plugins and commands inherit this variable although it opens secrets, such as PGPASSWORD")
	flags.IntVarP(&a.global.verbose, "verbose", "v", 0, "show more detail")
	hide(flags, "verbose")
	for _, name := range []string{"logtostderr", "logflow", "emoji", "disable-integrity-checking", "fully-qualify-stack-names"} {
		flags.BoolP(name, map[string]string{"emoji": "e", "fully-qualify-stack-names": "Q"}[name], false, "accepted for compatibility, without effect")
		hide(flags, name)
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newRun(a, a.run), newPreview(a, a.preview), newUp(a, a.up), newRefresh(a, a.refresh), newDestroy(a, a.destroy), newImport(a, a.importResources),
		newCheck(a, a.check), newExplain(a, a.explain), newSchema(a, a.schema), newGraph(a, a.graph), newFunctions(a, a.functions), newLSP(a, a.lsp),
		newStack(a), newConfig(a), newState(a), newPlugin(a),
		newLogin(a, a.login), newLogout(a, a.logout), newWhoami(a, a.whoami), newCancel(a, a.cancel),
		newAbout(a, a.about), newVersion(a), newServe(a),
	)
	return root
}

// enter goes to the directory of --cwd and checks the other global flags.
func (a *app) enter() error {
	if a.global.cwd != "" {
		dir := a.path(a.global.cwd)
		if err := mustBeDir(dir); err != nil {
			return withCode(codeUsage, "--cwd: %w", err)
		}
		a.world.Dir = dir
	}
	switch a.global.color {
	case "always", "never", "raw", "auto":
		return nil
	}
	return withCode(codeError, "--color takes always, never, raw or auto, not %q", a.global.color)
}

// path is a path as a user gave it, made absolute.
func (a *app) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(a.world.Dir, p)
}

// short is a path as users see it: relative to the working directory when it is inside, else as it is.
func (a *app) short(path string) string {
	rel, err := filepath.Rel(a.world.Dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

// interactive reports whether a person can be asked.
func (a *app) interactive() bool {
	return a.streams.InTerminal && a.streams.ErrTerminal && !a.global.nonInteractive
}

// color reports whether what goes to a stream is coloured.
func (a *app) color(terminal bool) bool {
	switch a.global.color {
	case "always":
		return true
	case "never", "raw":
		return false
	}
	_, plain := a.world.lookup("NO_COLOR")
	return terminal && !plain && a.world.env("TERM") != "dumb"
}

func (a *app) size() (columns, lines int) {
	if a.streams.Size == nil {
		return 0, 0
	}
	return a.streams.Size()
}

// sayError shows a fault that has no place in a text.
func (a *app) sayError(text string) {
	if a.color(a.streams.ErrTerminal) {
		fmt.Fprintf(a.streams.Err, "\x1b[1;31merror:\x1b[0m %s\n", text)
		return
	}
	fmt.Fprintf(a.streams.Err, "error: %s\n", text)
}

// report shows diagnostics, without those of portability, and returns errReported if one of them is an error.
func (a *app) report(ds diag.Diagnostics) error {
	shown := diag.Diagnostics{}
	for _, d := range ds {
		if d.Severity <= diag.Info {
			shown.Add(d)
			if a.world.Found != nil {
				a.world.Found(d)
			}
		}
	}
	if len(shown) > 0 {
		width, _ := a.size()
		if err := diag.WriteText(a.streams.Err, shown, diag.TextOptions{Color: a.color(a.streams.ErrTerminal), Width: width}); err != nil {
			return err
		}
		fmt.Fprintln(a.streams.Err)
	}
	if ds.HasErrors() {
		return errReported
	}
	return nil
}

// unknownCommand answers for a word that is no command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	asked := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "yamlhost") + " " + args[0])
	if instead, known := notYetCommands[asked]; known {
		return errors.New(notHere(asked, "command", instead))
	}
	text := fmt.Sprintf("there is no command %q", asked)
	if near := diag.Suggest(args[0], names); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %s?", near[0])
	}
	return errors.New(text + fmt.Sprintf("\nSee %s --help.", cmd.CommandPath()))
}
