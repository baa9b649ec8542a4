package config

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// target is the stack whose settings are shown or changed, and their file.
type target struct {
	stack string
	file  string
}

// NewConfig makes `config` and the commands below it.
func NewConfig(a *console.Console) *cobra.Command {
	o := &target{}
	l := &listing{target: o}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change a stack's configuration",
		Args:  console.UnknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), a, l) },
	}
	cmd.PersistentFlags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	cmd.PersistentFlags().StringVar(&o.file, "config-file", "", "use this file instead of Pulumi.<stack>.yaml")
	l.flags(cmd)
	cmd.AddCommand(newList(a, o), newGet(a, o), newSet(a, o), newSetAll(a, o), newRemove(a, o), newCopy(a, o),
		newRefresh(a, o), newEnv(a, o))
	return cmd
}

// configured is a stack's settings file, opened for `config`.
type configured struct {
	project  *project.Project
	stack    string
	name     string // qualified
	settings *project.Settings
	secrets  console.Secrets
	manager  *console.StackSecrets // see sealer
}

// sealer returns what seals values, the same one each time. The settings are held.
func (c *configured) sealer() (_ *console.StackSecrets, err error) {
	if c.manager == nil {
		c.manager, err = c.secrets.HeldManager(c.settings, c.stack)
	}
	return c.manager, err
}

// edit opens the settings of a stack, lets change edit them, and saves them. Nobody else edits them meanwhile.
func edit(ctx context.Context, a *console.Console, o *target, change func(*configured) error) error {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return err
	}
	release, err := a.Hold(a.Stacks().SettingsPath(p, "any", o.file)) // the files of all stacks are in one folder
	if err != nil {
		return err
	}
	defer release()
	c, err := open(ctx, a, o)
	if err != nil {
		return err
	}
	if err := change(c); err != nil {
		return err
	}
	return c.settings.Save()
}

// openAt is open for a command about one key, or about a path into its value.
func openAt(ctx context.Context, a *console.Console, o *target, isPath bool, key string) (*configured, project.KeyPath,
	error) {
	c, err := open(ctx, a, o)
	if err != nil {
		return nil, project.KeyPath{}, err
	}
	path, err := console.ParseKey(isPath, c.project.Name.Text, key)
	return c, path, err
}

// open opens the settings of a stack. The stack may be yet to come if it is named and has a file.
func open(ctx context.Context, a *console.Console, o *target) (*configured, error) {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return nil, err
	}
	s, err := a.Stacks().Open(ctx, p, o.stack)
	keys := a.Secrets()
	missing, isMissing := errors.AsType[*console.MissingStackError](err)
	switch {
	case isMissing:
		s = &console.Stack{Ref: missing.Ref}
	case err != nil:
		return nil, err
	default:
		keys = keys.Of(s.Backend, s.Ref)
	}
	settings, diags, loadErr := a.LoadSettings(p, s.Ref.Stack, o.file)
	if isMissing && (loadErr != nil || !settings.Exists) {
		return nil, err
	}
	if loadErr != nil {
		return nil, loadErr
	}
	return &configured{project: p, stack: s.Ref.Stack, name: s.Ref.QualifiedName(), settings: settings, secrets: keys},
		a.Report(diags)
}

// noSuchKey names the keys that are near to one that is not there.
func noSuchKey(a *console.Console, c *configured, asked string, key project.Key) error {
	var names []string
	for _, e := range c.settings.Entries() {
		names = append(names, strings.TrimPrefix(e.Key.String(), c.project.Name.Text+":"))
	}
	return fmt.Errorf("configuration key %q is not set in stack %s%s", key, c.stack, diag.DidYouMean(asked, names))
}
