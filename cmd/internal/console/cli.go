package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/workspace"
)

// A Console is one run of the command line: its streams, the flags that all commands share, and its view of the
// machine.
type Console struct {
	Streams Streams   // control characters in written text are made harmless
	Screen  io.Writer // the unfiltered Err, for views that move the cursor
	result  io.Writer // the unfiltered Out; see Data
	StandIn standIn
	World   World // complete after Enter, and not changed from then on
	Global  globalOptions
	Signals *interrupts
	Crashes *Crashes
	Reports Reports
	// Execute runs a command line of this program in this process and returns its exit code.
	Execute func(ctx context.Context, args []string, s Streams, w World) int
	blocks  sync.Mutex       // held while a block is shown
	Texts   *workspace.Texts // parsed programs, shared by the stacks of one command; otherwise nil
	keys    secrets.Keyring  // derived once per process
	asked   answers          // passphrases, asked for once per process
	whole   *Console         // whose blocks, keys, answers and looks this one uses; nil for its own

	lookedMu sync.Mutex        // guards looked; held during requests to the service
	looked   map[string]looked // see Inherit
}

// globalOptions are the flags that every command has.
type globalOptions struct {
	Cwd            string
	Color          string
	NonInteractive bool

	SuppressSecretOutput bool // for operations; global because other commands make providers too
	Offline              bool
	AllowHTTP            bool     // for downloads of plugins
	PassEnv              []string // passed on to child processes although they open secrets
	Verbose              int

	stackFlags string // see AdviseFor
}

// In returns a console like a in another world. It shares everything else with a.
func In(w World, a *Console) *Console {
	return &Console{Streams: a.Streams, Screen: a.Screen, result: a.result, StandIn: a.StandIn, World: w,
		Global: a.Global, Signals: a.Signals, Crashes: a.Crashes, Reports: a.Reports, Execute: a.Execute,
		Texts: a.Texts,
		whole: shared(a)}
}

// shared returns the console that has what all consoles of one command share.
func shared(a *Console) *Console { return cmp.Or(a.whole, a) }

// Enter completes the world by the directory given by --cwd, before the command begins, and checks the other global
// flags.
func (a *Console) Enter() error {
	if a.Global.Cwd != "" {
		dir := a.Path(a.Global.Cwd)
		if err := MustBeDir(a, dir); err != nil {
			return WithCode(CodeUsage, "--cwd: %w", err)
		}
		a.World.Dir = dir
	}
	switch a.Global.Color {
	case "always", "never", "raw", "auto":
		return nil
	}
	return WithCode(CodeBadUsage, "--color takes always, never, raw or auto, not %q", a.Global.Color)
}

// Path makes a path that the user gave absolute.
func (a *Console) Path(p string) string { return a.World.path(p) }

// Short returns the form of a path that is shown to users: relative to the working directory if the path is inside of
// it, otherwise unchanged. A relative path has slashes on every system, because texts and reports name sources by it.
func (a *Console) Short(path string) string {
	rel, err := filepath.Rel(a.World.Dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return filepath.ToSlash(rel)
}

// Now returns the current time.
func (a *Console) Now() time.Time { return a.World.time() }

// Interactive reports whether the command may ask a person.
func (a *Console) Interactive() bool {
	return a.Streams.InTerminal && a.Streams.ErrTerminal && !a.Global.NonInteractive
}

// Color reports whether output is coloured; terminal is set if the stream is a terminal.
func (a *Console) Color(terminal bool) bool {
	switch a.Global.Color {
	case "always":
		return true
	case "never", "raw":
		return false
	}
	_, plain := a.World.Lookup("NO_COLOR")
	return terminal && !plain && a.World.Getenv("TERM") != "dumb"
}

// Size returns the size of the terminal in characters. Both results are 0 if there is no terminal.
func (a *Console) Size() (columns, lines int) {
	if a.Streams.Size == nil {
		return 0, 0
	}
	return a.Streams.Size()
}

// SayError prints an error that has no position in a source text.
func (a *Console) SayError(text string) {
	out, terminal := a.StandIn.forFaults(a.Streams)
	const label = "error:"
	text = a.Streams.Fold(label+" "+text, terminal)
	if a.Color(terminal) {
		text = "\x1b[1;31m" + label + "\x1b[0m" + strings.TrimPrefix(text, label)
	}
	fmt.Fprintln(out, text)
}

// Report prints diagnostics except notes on portability. It returns ErrReported, or an error with a more specific exit
// code, if one of them is an error.
func (a *Console) Report(ds diag.Diagnostics) error {
	shown := diag.Diagnostics{}
	for _, d := range ds {
		if d.Severity <= diag.Info {
			d = a.Global.Advised(d)
			shown.Add(d)
			if a.World.Found != nil {
				a.World.Found(d)
			}
		}
	}
	a.Reports.Find(shown)
	out, terminal := a.StandIn.forFindings(a.Streams)
	if err := WriteFindings(a, out, terminal, shown); err != nil || !ds.HasErrors() {
		return err
	}
	if text := diag.Advice(shown); text != "" {
		fmt.Fprintf(out, "%s\n\n", text)
	}
	return Reported(ds)
}

// AdviseFor makes findings that advise to set configuration name the stack and the settings file that the flags of the
// command name. Without them the advice would change what the command does not read.
func (g *globalOptions) AdviseFor(stack, configFile string) {
	flags := ""
	if stack != "" {
		flags += " --stack " + ShellWord(stack)
	}
	if configFile != "" {
		flags += " --config-file " + ShellWord(configFile)
	}
	g.stackFlags = flags
}

// Advised returns a finding with the flags of AdviseFor in its advice.
func (g *globalOptions) Advised(d diag.Diagnostic) diag.Diagnostic {
	const command = "yamlhost config set"
	if g.stackFlags != "" {
		d.Detail = strings.ReplaceAll(d.Detail, command, command+g.stackFlags)
	}
	return d
}

// WriteFindings writes diagnostics as text, with an empty line behind them. terminal is set if out is a terminal.
func WriteFindings(a *Console, out io.Writer, terminal bool, ds diag.Diagnostics) error {
	if len(ds) == 0 {
		return nil
	}
	err := diag.WriteText(out, ds, diag.TextOptions{Color: a.Color(terminal), Width: a.Streams.Width(terminal)})
	if err == nil {
		fmt.Fprintln(out)
	}
	return err
}

// Group returns a command that only has subcommands. Without one of them it shows its help.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}

// UnknownCommand returns an error, with suggestions, if args begins with a word that is not a subcommand of cmd. It
// never suggests a command that destroys something.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	asked := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()) + " " + args[0])
	meant := diag.DidYouMean(args[0], names)
	const most = 4 // more, as for ls, are no help
	if same := commandsNamed(cmd.Root(), args[0]); len(same) > 0 && len(same) <= most {
		meant = "; did you mean " + strings.Join(same, " or ") + "?"
	}
	for word := range strings.FieldsFuncSeq(meant, func(r rune) bool { return r == ' ' || r == ',' || r == '?' }) {
		if slices.Contains(destructiveCommands, word) {
			meant = ""
		}
	}
	return fmt.Errorf("there is no command %q%s\nSee %s --help.", asked, meant, cmd.CommandPath())
}

// commandsNamed returns the paths of the commands below root that have a name, without those that destroy something.
func commandsNamed(root *cobra.Command, name string) (paths []string) {
	if slices.Contains(destructiveCommands, name) {
		return nil
	}
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if c.Name() == name || c.HasAlias(name) {
			paths = append(paths, strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "))
		}
		paths = append(paths, commandsNamed(c, name)...)
	}
	return paths
}

// Version returns this program's version in the form v1.2.3.
func (a *Console) Version() string {
	return "v" + strings.TrimPrefix(cmp.Or(a.World.Version, "0.0.0-dev"), "v")
}
