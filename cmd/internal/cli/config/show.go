package config

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// newList returns the command `config ls`; `config` alone does the same.
func newList(a *console.Console, o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "Show all values", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), a, o) },
	}
	o.listFlags(cmd)
	return cmd
}

// listFlags adds the flags of `config ls`, which `config` alone has as well.
func (o *options) listFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "show the plain text of secrets")
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
}

// list shows all values of a stack, including the defaults in the project file.
func list(ctx context.Context, a *console.Console, o *options) error {
	c, err := read(ctx, a, o)
	if err != nil {
		return err
	}
	if err := a.Report(a.Inherit(c.project, c.settings, c.name)); err != nil {
		return err
	}
	// Without --show-secrets no passphrase is asked for, also where the stack has no secret.
	var opener project.Opener = masked{}
	if o.showSecrets {
		if opener, err = c.secrets.Manager(c.settings, c.stack); err != nil {
			return err
		}
	}
	texts, records := map[string]string{}, map[string]console.ConfigRecord{}
	for _, e := range c.settings.Entries() {
		text, record, err := o.shown(e, opener)
		if err != nil {
			return console.ExplainSecret(err, c.stack)
		}
		texts[e.Key.String()], records[e.Key.String()] = text, record
	}
	// The stack's own value hides the one of an environment.
	for key := range c.settings.InheritedKeys() {
		v, _ := c.settings.Inherited(key)
		if c.settings.Entry(key) == nil {
			texts[key.String()], records[key.String()] = inherited(v)
		}
	}
	// Values of the stack come before those of environments, and these before those of the project (L2.2).
	for _, d := range c.project.Config {
		key := d.Key.String()
		// A value of the project file is a default for stacks that set none.
		if _, found := records[key]; found {
			continue
		}
		for _, data := range []*project.Data{d.Value, d.Default} {
			switch {
			case data == nil:
				continue
			case d.Secret && !o.showSecrets:
				texts[key], records[key] = console.HiddenSecret, console.ConfigRecord{Secret: true}
			default:
				texts[key], records[key] = data.Text, console.ConfigRecord{Value: &data.Text, Secret: d.Secret}
			}
			break
		}
	}
	return a.Show(o.json, records, func(table io.Writer) {
		fmt.Fprintln(table, "KEY\tVALUE")
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			// The table shows keys as they are written in programs, JSON their full names.
			fmt.Fprintf(table, "%s\t%s\n", strings.TrimPrefix(key, c.project.Name.Text+":"), texts[key])
		}
	})
}

// masked is an opener for commands that must not show secrets, and so need no passphrase (F4.16).
type masked struct{}

// Decrypt returns the same text for every secret.
func (masked) Decrypt(string) (string, error) { return console.HiddenSecret, nil }

// shown returns the text and the JSON record of an entry. The record has the plain text of a secret only with
// --show-secrets.
func (o *options) shown(e *project.Entry, open project.Opener) (string, console.ConfigRecord, error) {
	record := console.ConfigRecord{Secret: e.IsSecret()}
	text, data, err := e.Open(open)
	if err != nil {
		return "", record, err
	}
	if !record.Secret || o.showSecrets {
		record.Value = &text
	}
	// data of a masked secret is masked as well: it went through the same opener.
	if e.IsObject() {
		record.ObjectValue = data
	}
	return text, record, nil
}

// inherited returns the text and the JSON record of a value from an environment. It opens nothing: a value that the
// document does not contain in plain text is shown as unopened.
func inherited(v value.Value) (string, console.ConfigRecord) {
	if v.ContainsSecret() || v.ContainsUnknown() {
		return unopened, console.ConfigRecord{Secret: true}
	}
	record := console.RecordOf(project.PlainData(v), false)
	return *record.Value, record
}

// unopened replaces a value that is known only after opening its environment.
const unopened = "[from environment]"

// newGet returns the command config get.
func newGet(a *console.Console, o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "get KEY", Short: "Show one value, secrets in plain text", Args: exactly("a key"),
		RunE: func(cmd *cobra.Command, args []string) error { return get(cmd.Context(), a, o, args[0]) },
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.Flags().BoolVar(&o.path, "path", false, "the key is a path into a value, as in servers[0].port")
	return cmd
}

// get shows one value in plain text, even if it is a secret (F7.12).
func get(ctx context.Context, a *console.Console, o *options, key string) error {
	c, err := read(ctx, a, o)
	if err != nil {
		return err
	}
	path, err := console.ParseKey(o.path, c.project.Name.Text, key)
	if err != nil {
		return err
	}
	e := c.settings.Entry(path.Key)
	if e == nil {
		// Environments are read only for a key that the file lacks: they may take a request.
		if err := a.Report(a.Inherit(c.project, c.settings, c.name)); err != nil {
			return err
		}
		if _, has := c.settings.Inherited(path.Key); has {
			return fmt.Errorf("config %s of stack %s comes from an environment\nShow it with: yamlhost env open NAME "+
				"pulumiConfig --show-secrets", path.Key, c.stack)
		}
		return c.noSuchKey(key, path.Key)
	}
	// The part is taken while everything is sealed, so that only the secrets in it are opened.
	part, found := project.PartOf(e.Data(), path.Steps)
	if !found {
		return fmt.Errorf("config %s has no value at %s in stack %s", path.Key, key, c.stack)
	}
	isSecret := project.HasSecure(part)
	if isSecret {
		manager, err := c.secrets.Manager(c.settings, c.stack)
		if err != nil {
			return err
		}
		part, err = project.MapSecure(part, func(s project.Secure) (any, error) { return manager.Decrypt(string(s)) })
		if err != nil {
			return console.ExplainSecret(fmt.Errorf("decrypt config %s: %w", path.Key, err), c.stack)
		}
	}
	if o.json {
		return a.WriteJSON(console.RecordOf(part, isSecret))
	}
	// Data is exactly what a program reads: no colour, and no masks.
	_, err = fmt.Fprintln(a.Data(), project.TextOf(part))
	return err
}

// exactly returns a cobra argument check for one argument, which what describes in the error message.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes %s, and nothing else\nSee %s --help.", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[console.ConfigRecord]("value", "a configuration value", "`config get --json`"),
	contract.Of[map[string]console.ConfigRecord]("config", "the configuration of a stack", "`config --json`"),
}
