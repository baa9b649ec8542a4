package env

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/workspace/environments"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// command holds the flags of the subcommands of env. Every subcommand has the environments of the project from on, so
// that a body begins with what it does.
type command struct {
	a           *console.Console
	showSecrets bool
	file        string
	yes         bool
}

// NewEnv returns the command env with its subcommands.
func NewEnv(a *console.Console) *cobra.Command {
	c := &command{a: a}
	cmd := &cobra.Command{
		Use: "env", Short: "Show, edit and open environments",
		Long: "Environments are documents of Pulumi ESC: configuration, environment variables and files that stacks " +
			"share. They are files of the project, environments/NAME.yaml, or are kept by the service that keeps the " +
			"stacks.",
		Args: console.UnknownCommand,
	}
	open := c.on(c.open, &cobra.Command{Use: "open NAME [PATH]", Args: cobra.RangeArgs(1, 2),
		Short: "Evaluate an environment and write its values as JSON"})
	open.Flags().BoolVar(&c.showSecrets, "show-secrets", false, "show the plain text of secrets")
	edit := c.on(c.edit, &cobra.Command{Use: "edit NAME", Args: cobra.ExactArgs(1),
		Short: "Edit an environment with $VISUAL or $EDITOR, and check it"})
	edit.Flags().StringVarP(&c.file, "file", "f", "", "take the document from this file instead, - for standard input")
	create := c.on(c.create, &cobra.Command{Use: "init NAME", Args: cobra.ExactArgs(1), Short: "Make an environment"})
	create.Flags().StringVarP(&c.file, "file", "f", "", "take the document from this file, - for standard input")
	remove := c.on(c.remove, &cobra.Command{Use: "rm NAME", Aliases: []string{"remove"}, Args: cobra.ExactArgs(1),
		Short: "Remove an environment"})
	remove.Flags().BoolVarP(&c.yes, "yes", "y", a.World.Enabled("PULUMI_SKIP_CONFIRMATIONS"), "do not ask")
	cmd.AddCommand(
		c.on(c.list, &cobra.Command{Use: "ls", Aliases: []string{"list"}, Args: cobra.NoArgs, Short: "List environments"}),
		c.on(c.get, &cobra.Command{Use: "get NAME", Args: cobra.ExactArgs(1), Short: "Write the document of an environment"}),
		open, edit, create, remove,
		c.on(c.run, &cobra.Command{Use: "run NAME -- COMMAND...", Args: cobra.MinimumNArgs(2),
			Short: "Start a command with the variables and files of an environment"}))
	return cmd
}

// on sets the body of a command; body receives the project and its environments.
func (c *command) on(body func(context.Context, *project.Project, environments.Options, []string) error,
	cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := c.a.SoundProject(c.a.World.Dir)
		if err != nil {
			return err
		}
		o, err := c.a.Environments(p, "")
		if err != nil {
			return err
		}
		return body(cmd.Context(), p, o, args)
	}
	return cmd
}

// list is the body of env ls.
func (c *command) list(ctx context.Context, _ *project.Project, o environments.Options, _ []string) error {
	names, err := o.Names()
	// A service's environments are all there are; files of the same names are drafts that nothing reads.
	if o.Hosted != nil {
		names, err = o.Hosted.Names(ctx)
	}
	for _, name := range names {
		fmt.Fprintln(c.a.Streams.Out, name)
	}
	return err
}

// get is the body of env get. It writes the document as it is, with sealed secrets.
func (c *command) get(ctx context.Context, _ *project.Project, o environments.Options, args []string) error {
	// Data, and not Out: the document goes on to a program or a file, byte for byte.
	if o.Hosted != nil {
		text, _, err := o.Hosted.Read(ctx, args[0])
		if err == nil {
			_, err = c.a.Data().Write(text)
		}
		return err
	}
	src, err := o.Read(args[0])
	if err == nil {
		_, err = c.a.Data().Write(src.Text())
	}
	return err
}

// evaluated opens an environment and everything that it refers to.
func (c *command) evaluated(ctx context.Context, p *project.Project, o environments.Options, name string) (
	*environments.Environment, error) {
	// An environment may read outputs of stacks. Only here, where values are shown, may that open their state.
	o.Outputs = func(ctx context.Context, stack string) (value.Value, error) {
		b, err := c.a.Backends().Open(p)
		if err != nil {
			return value.Null, err
		}
		ref, err := b.ParseRef(stack, p.Name.Text)
		if err != nil {
			return value.Null, err
		}
		// Secret outputs stay secret values; what shows them decides.
		loaded, err := c.a.Stacks().Load(ctx, &console.Stack{Project: p, Backend: b, Ref: ref}, true)
		if err != nil {
			return value.Null, err
		}
		return operation.StackOutputs(loaded.Snapshot), nil
	}
	env, diags, err := o.Named(ctx, name)
	if err != nil {
		return nil, err
	}
	return env, c.a.Report(diags)
}

// open is the body of env open.
func (c *command) open(ctx context.Context, p *project.Project, o environments.Options, args []string) error {
	env, err := c.evaluated(ctx, p, o, args[0])
	if err != nil {
		return err
	}
	v, spelled := value.EmptyMap(), value.EmptyMap()
	// A document with errors has been reported by evaluated, so nil means an environment without values.
	if env != nil {
		v, spelled = env.Values, env.Spelled
	}
	if len(args) > 1 {
		path, err := value.ParsePath(args[1])
		if err != nil {
			return console.WithCode(console.CodeBadUsage, "%w", err)
		}
		part, found := path.Get(v)
		if !found {
			return fmt.Errorf("the environment %s has no value at %s", args[0], args[1])
		}
		v = part
		spelled, _ = path.Get(spelled)
	}
	return c.a.WriteJSON(exact(console.Plain(v, c.showSecrets), console.Plain(spelled, c.showSecrets)))
}

// exact returns the plain data of an environment's values with all digits of the integers, which the plain data of the
// same values with texts for numbers has.
func exact(plain, spelled any) any {
	switch x := plain.(type) {
	case []any:
		texts, _ := spelled.([]any)
		for i := range texts {
			x[i] = exact(x[i], texts[i])
		}
	case map[string]any:
		texts, _ := spelled.(map[string]any)
		for key, text := range texts {
			x[key] = exact(x[key], text)
		}
	case string:
	default:
		if text, isText := spelled.(string); isText && value.LosesDigits(text) {
			return json.Number(text)
		}
	}
	return plain
}

// edit is the body of env edit. A faulty document that the editor has saved stays, and its faults are reported.
func (c *command) edit(ctx context.Context, _ *project.Project, o environments.Options, args []string) error {
	if o.Hosted != nil {
		return c.editHosted(ctx, o.Hosted, args[0])
	}
	path, err := o.File(args[0])
	if err != nil {
		return err
	}
	if c.file != "" {
		return c.replace(ctx, o, args[0], path)
	}
	// An editor would create a missing file, under a misspelt name as well.
	if _, err := o.Read(args[0]); err != nil {
		return err
	}
	if err := c.editFile(ctx, path, "edit "+c.a.Short(path)); err != nil {
		return err
	}
	// Read after the editor has ended. An editor that returns at once, such as one with windows, has saved nothing yet.
	src, err := o.Read(args[0])
	if err != nil {
		return err
	}
	return c.check(ctx, o, args[0], src)
}

// editFile opens a file in the user's editor. instead is an alternative for the error message if no editor is set.
func (c *command) editFile(ctx context.Context, path, instead string) error {
	// The variable may contain arguments, as in `code --wait`.
	words := strings.Fields(c.a.World.Getenv("VISUAL"))
	if len(words) == 0 {
		words = strings.Fields(c.a.World.Getenv("EDITOR"))
	}
	if len(words) == 0 {
		return fmt.Errorf("no editor is chosen: set VISUAL or EDITOR, or %s", instead)
	}
	return c.start(ctx, append(words, path), c.a.ChildEnv(), nil)
}

// editHosted edits a copy of an environment that a service stores. If the service rejects the changes, the copy is
// kept.
func (c *command) editHosted(ctx context.Context, hosted *environments.Hosted, name string) error {
	if c.file != "" {
		text, err := c.given()
		if err != nil {
			return err
		}
		// Without a tag the service replaces whatever is there: --file is for scripts that own the document.
		return c.taken(hosted.Write(ctx, name, diag.NewSource(c.file, text), ""))
	}
	text, tag, err := hosted.Read(ctx, name)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "yamlhost-env-")
	if err != nil {
		return err
	}
	// The ending lets the editor choose its mode; names of environments have slashes.
	path := filepath.Join(dir, strings.NewReplacer("/", "_", "@", "_").Replace(name)+".yaml")
	if err = os.WriteFile(path, text, 0o600); err == nil {
		err = c.editFile(ctx, path, "give the document with --file")
	}
	var edited []byte
	if err == nil {
		edited, err = confine.Anywhere().ReadFile(ctx, path)
	}
	// Closing the editor without a change writes no revision. The tag makes the service refuse the text if somebody
	// else has written meanwhile.
	if err == nil && !bytes.Equal(edited, text) {
		if err = c.taken(hosted.Write(ctx, name, diag.NewSource(path, edited), tag)); err != nil {
			fmt.Fprintf(c.a.Streams.Err, "Nothing was changed. Your text is in %s\n", path)
			return err
		}
	}
	return errors.Join(err, osfile.RemoveAll(dir))
}

// taken reports the service's findings about a document.
func (c *command) taken(diags diag.Diagnostics, err error) error {
	if err != nil {
		return err
	}
	return c.a.Report(diags)
}

// given returns the document that --file names.
func (c *command) given() ([]byte, error) {
	if c.file == "-" {
		text, err := c.a.Prompt().StandardInput()
		return []byte(text), err
	}
	text, err := os.ReadFile(c.a.Path(c.file))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.file, console.PlainError(err))
	}
	return text, nil
}

// replace writes the document of --file to the file of an environment, if it has no errors.
func (c *command) replace(ctx context.Context, o environments.Options, name, path string) error {
	text, err := c.given()
	if err != nil {
		return err
	}
	// Unlike an edit, a replacement is refused with an error in it: the former file may be worth more.
	if err := c.check(ctx, o, name, diag.NewSource(c.file, text)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return osfile.WriteFile(path, text, 0o644)
}

// check reports errors in a document without opening secrets or providers.
func (c *command) check(ctx context.Context, o environments.Options, name string, src *diag.Source) error {
	o.Check = true
	_, diags, err := o.Document(ctx, name, src)
	return c.taken(diags, err)
}

// draft is the initial document of a new environment.
const draft = `values:
  # Configuration of the stacks that import this environment. Their own values win.
  pulumiConfig: {}
  # Variables for providers and commands.
  environmentVariables: {}
`

// create is the body of env init. The file must not exist, which is left to the system to decide, as another command
// may create it meanwhile.
func (c *command) create(ctx context.Context, _ *project.Project, o environments.Options, args []string) error {
	src := diag.NewSource(args[0], []byte(draft))
	if c.file != "" {
		text, err := c.given()
		if err != nil {
			return err
		}
		src = diag.NewSource(c.file, text)
	}
	// The next step is printed, since an environment has no effect before a stack imports it.
	report := func(name string) {
		fmt.Fprintf(c.a.Streams.Err, "Made %s\nA stack imports it after: yamlhost config env add %s\n", name, args[0])
	}
	if o.Hosted != nil {
		err := c.taken(o.Hosted.Create(ctx, args[0], src))
		if err == nil {
			report(args[0])
		}
		return err
	}
	path, err := o.File(args[0])
	if err == nil {
		err = c.check(ctx, o, args[0], src)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("there is an environment %s already: %s", args[0], c.a.Short(path))
	}
	if err != nil {
		return err
	}
	_, err = f.Write(src.Text())
	if err = errors.Join(err, f.Close()); err == nil {
		report(c.a.Short(path))
	}
	return err
}

// remove is the body of env rm. A missing environment is reported before the question.
func (c *command) remove(ctx context.Context, _ *project.Project, o environments.Options, args []string) error {
	if o.Hosted == nil {
		if _, err := o.Read(args[0]); err != nil {
			return err
		}
	}
	if err := c.a.Confirm(c.yes, "remove an environment", "Remove the environment "+args[0]+"?"); err != nil {
		return err
	}
	if o.Hosted != nil {
		return o.Hosted.Remove(ctx, args[0])
	}
	path, err := o.File(args[0])
	if err == nil {
		err = osfile.Remove(path)
	}
	return err
}

// run is the body of env run. The files that the environment defines exist until the command has ended.
func (c *command) run(ctx context.Context, p *project.Project, o environments.Options, args []string) error {
	env, err := c.evaluated(ctx, p, o, args[0])
	if err != nil {
		return err
	}
	// remove is called also after an error, which may have left some of the files.
	variables, remove, err := console.Export(env)
	defer remove()
	if err != nil {
		return err
	}
	// What the command prints may contain the secrets that it was given.
	known := mask.New()
	if env != nil {
		known.Learn(env.Values, env.Spelled)
	}
	return c.start(ctx, args[1:], append(c.a.ChildEnv(), variables...), known)
}

// start runs a command and waits for its end. If known is not nil, secrets in the output are masked.
func (c *command) start(ctx context.Context, words, variables []string, known *mask.Masker) error {
	// Without the context: supervise ends it with its children.
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.a.World.Dir, variables, c.a.Streams.In
	cmd.Stdout, cmd.Stderr = c.a.Streams.Out, c.a.Streams.Err
	finish := func() error { return nil }
	if known != nil {
		out, errs := mask.NewWriter(c.a.Streams.Out, known), mask.NewWriter(c.a.Streams.Err, known)
		cmd.Stdout, cmd.Stderr = out, errs
		finish = func() error { return errors.Join(out.Flush(), errs.Flush()) }
	}
	err := supervise.Run(ctx, cmd, c.a.World.Supervisor())
	// The masks keep the beginning of what may become a secret, until it is complete or the command has ended.
	if lost := finish(); err == nil {
		err = lost
	}
	// The command's exit code is passed on, so that `env run` can stand in front of any command in a script.
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.ExitCode() > 0 {
		return &console.ExitError{Code: exit.ExitCode(), Cause: fmt.Errorf("%s ended with exit code %d", words[0],
			exit.ExitCode())}
	}
	return err
}
