package config

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// options are the flags of `config` and its subcommands. All subcommands share one value: a process runs one of them,
// and flags of the parent, such as --stack, are for all.
type options struct {
	stack       string
	file        string
	path        bool // keys are paths into values
	json        bool
	showSecrets bool
	force       bool   // flag of `config refresh`
	dest        string // flag of `config copy`
	reported    bool   // the findings in the settings have been reported
}

// NewConfig returns `config` and the commands below it.
func NewConfig(a *console.Console) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change a stack's configuration",
		Args:  console.UnknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), a, o) },
	}
	cmd.PersistentFlags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	cmd.PersistentFlags().StringVar(&o.file, "config-file", "", "use this file instead of Pulumi.<stack>.yaml")
	o.listFlags(cmd)
	cmd.AddCommand(newList(a, o), newGet(a, o), newSet(a, o), newSetAll(a, o), newRemove(a, o), newCopy(a, o),
		newRefresh(a, o), newEnv(a, o))
	return cmd
}

// configured is an open settings file of a stack.
type configured struct {
	console  *console.Console
	project  *project.Project
	stack    string
	name     string // qualified name of the stack
	settings *project.Settings
	secrets  console.Secrets
	manager  *console.StackSecrets // see sealer
}

// sealer returns the manager that seals values; it makes the manager once. The caller must hold the settings.
func (c *configured) sealer() (_ *console.StackSecrets, err error) {
	if c.manager == nil {
		c.manager, err = c.secrets.HeldManager(c.settings, c.stack)
	}
	return c.manager, err
}

// edit opens the settings of a stack, calls change to edit them, and saves them. It locks the settings meanwhile. The
// settings are read under the lock, so that no edit of another command is lost.
func edit(ctx context.Context, a *console.Console, o *options, change func(*configured) error) error {
	// The project says in which folder the settings are, so it is opened before the lock can be taken.
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return err
	}
	release, err := a.Hold(a.Stacks().SettingsPath(p, "any", o.file)) // the files of all stacks are in one folder
	if err != nil {
		return err
	}
	defer release()
	// open reads the project again. It may have changed while this command waited for the lock.
	c, err := open(ctx, a, o)
	if err != nil {
		return err
	}
	if err := change(c); err != nil {
		return err
	}
	// Without an error of change, and only then: the file has all of an edit or nothing.
	return c.settings.Save()
}

// read is open for commands that only read. A settings file that --config-file names must exist then, except under the
// name pulumi: the Pulumi CLI takes a missing file for an empty one.
func read(ctx context.Context, a *console.Console, o *options) (*configured, error) {
	if o.file != "" && !a.World.AsPulumi {
		if _, err := confine.Anywhere().Stat(a.Path(o.file)); err != nil {
			return nil, console.WithCode(console.CodeBadUsage, "--config-file %s: %w", o.file, console.PlainError(err))
		}
	}
	return open(ctx, a, o)
}

// open opens the settings of a stack. The stack need not exist if it is given by name and has a settings file.
func open(ctx context.Context, a *console.Console, o *options) (*configured, error) {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return nil, err
	}
	s, err := a.Stacks().Open(ctx, p, o.stack)
	keys := a.Secrets()
	// The settings of a stack may be committed before somebody creates the stack.
	missing, isMissing := errors.AsType[*console.MissingStackError](err)
	switch {
	case isMissing:
		s = &console.Stack{Ref: missing.Ref}
	case err != nil:
		return nil, err
	default:
		// A service seals the secrets of its stacks itself, so the manager depends on the backend.
		keys = keys.Of(s.Backend, s.Ref)
	}
	settings, diags, loadErr := a.LoadSettings(p, s.Ref.Stack, o.file)
	// Neither a stack nor a file of that name: the name is the mistake, and the error names similar ones.
	if isMissing && (loadErr != nil || !settings.Exists) {
		return nil, err
	}
	if loadErr != nil {
		return nil, loadErr
	}
	c := &configured{console: a, project: p, stack: s.Ref.Stack, name: s.Ref.QualifiedName(), settings: settings,
		secrets: keys}
	// set opens the settings twice, to parse the key and to edit; warnings are shown once.
	if o.reported && !diags.HasErrors() {
		return c, nil
	}
	o.reported = true
	return c, a.Report(diags)
}

// noSuchKey returns the error for a missing key, with a suggestion of a similar key.
func (c *configured) noSuchKey(asked string, key project.Key) error {
	var names []string
	for _, e := range c.settings.Entries() {
		// Suggestions are written as users write keys, without the name of the project.
		names = append(names, strings.TrimPrefix(e.Key.String(), c.project.Name.Text+":"))
	}
	return fmt.Errorf("configuration key %q is not set in stack %s%s", key, c.stack, diag.DidYouMean(asked, names))
}

// newEnv returns `config env` and the commands below it.
func newEnv(a *console.Console, o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "env", Short: "Choose the environments that a stack imports", Args: console.UnknownCommand}
	asJSON := false
	list := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List the environments of a stack", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listEnvironments(cmd.Context(), a, o, asJSON) }}
	list.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	cmd.AddCommand(
		list,
		&cobra.Command{Use: "add NAME...", Short: "Add environments, behind the others", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return addEnvironments(cmd.Context(), a, o, args) }},
		&cobra.Command{Use: "rm NAME...", Aliases: []string{"remove"}, Short: "Remove environments", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return removeEnvironments(cmd.Context(), a, o, args)
			}})
	for _, c := range cmd.Commands() {
		if c != list { // Pulumi's automation packages pass it
			c.Flags().BoolP("yes", "y", false, "accepted for compatibility: the command does not ask")
			console.Hide(c.Flags(), "yes")
		}
	}
	return cmd
}

// listEnvironments prints the environments that the settings import, in their order.
func listEnvironments(ctx context.Context, a *console.Console, o *options, asJSON bool) error {
	c, err := read(ctx, a, o)
	if err != nil {
		return err
	}
	if asJSON {
		// The list is written as [] if it is empty.
		return a.WriteJSON(append([]string{}, c.settings.Imports()...))
	}
	for _, name := range c.settings.Imports() {
		fmt.Fprintln(a.Streams.Out, name)
	}
	return nil
}

// addEnvironments adds environments to the settings, after checking that they exist and can be evaluated.
func addEnvironments(ctx context.Context, a *console.Console, o *options, names []string) error {
	return edit(ctx, a, o, func(c *configured) error {
		options, err := a.Environments(c.project, c.name)
		if err != nil {
			return err
		}
		// A check opens no secrets and asks no provider: adding an environment needs no rights but to read it.
		options.Check = true
		for _, name := range names {
			_, diags, err := options.Named(ctx, name)
			if err == nil {
				err = a.Report(diags)
			}
			if err != nil {
				return err
			}
			// Importing one twice would change nothing, so the name is probably another one's.
			if !c.settings.AddImport(name) {
				return fmt.Errorf("stack %s imports %s already", c.stack, name)
			}
		}
		return nil
	})
}

// removeEnvironments removes environments from the settings; with one missing, none is removed.
func removeEnvironments(ctx context.Context, a *console.Console, o *options, names []string) error {
	return edit(ctx, a, o, func(c *configured) error {
		for _, name := range names {
			if !c.settings.RemoveImport(name) {
				return fmt.Errorf("stack %s does not import the environment %s%s", c.stack, name,
					diag.DidYouMean(name, c.settings.Imports()))
			}
		}
		return nil
	})
}
