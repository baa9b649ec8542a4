package config

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// configOptions are the flags of `config` and what is below it.
type configOptions struct {
	stack       string
	file        string
	showSecrets bool
	json        bool
	path        bool
	secret      bool
	plaintext   bool
	raw         bool
	kind        string // --type
	key         string
	keys        []string
	value       *string // nil to read it
}

func NewConfig(a *console.Console) *cobra.Command {
	o := &configOptions{}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change a stack's configuration",
		Args:  console.UnknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return configList(cmd.Context(), a, o) },
	}
	cmd.PersistentFlags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	cmd.PersistentFlags().StringVar(&o.file, "config-file", "", "use this file instead of Pulumi.<stack>.yaml")
	listFlags := func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "show the plain text of secrets")
		cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	}
	listFlags(cmd)
	list := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "Show all values", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return configList(cmd.Context(), a, o) },
	}
	listFlags(list)
	get := &cobra.Command{
		Use: "get KEY", Short: "Show one value, secrets in plain text", Args: exactly("a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.key = args[0]
			return configGet(cmd.Context(), a, o)
		},
	}
	get.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	get.Flags().BoolVar(&o.path, "path", false, "the key is a path into a value, as in servers[0].port")
	set := &cobra.Command{
		Use: "set KEY [VALUE]", Short: "Set a value; without one it is read from standard input", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.key = args[0]; len(args) > 1 {
				o.value = &args[1]
			}
			return configSet(cmd.Context(), a, o)
		},
	}
	set.Flags().BoolVar(&o.path, "path", false, "the key is a path into a value, as in servers[0].port")
	set.Flags().BoolVar(&o.secret, "secret", false, "encrypt the value")
	set.Flags().BoolVar(&o.plaintext, "plaintext", false, "store the value as it is, even if it looks like a secret")
	set.Flags().BoolVar(&o.raw, "raw", false, "keep the line break at the end of standard input")
	set.Flags().StringVar(&o.kind, "type", "", "with --path: string, int, bool or float")
	rm := &cobra.Command{
		Use: "rm KEY...", Aliases: []string{"remove"}, Short: "Remove values", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.keys = args
			return configRemove(cmd.Context(), a, o)
		},
	}
	rm.Flags().BoolVar(&o.path, "path", false, "the keys are paths into values, as in servers[0].port")
	cmd.AddCommand(list, get, set, rm)
	return cmd
}

// configured is a stack's settings file, opened for `config`.
type configured struct {
	project  *project.Project
	stack    string
	settings *project.Settings
}

// editConfig opens the settings of a stack, lets edit change them, and saves them. Nobody else edits them meanwhile.
func editConfig(ctx context.Context, a *console.Console, o *configOptions, edit func(*configured) error) error {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return err
	}
	release, err := a.Hold(a.SettingsPath(p, "any", o.file)) // the files of all stacks are in one folder
	if err != nil {
		return err
	}
	defer release()
	c, err := openConfig(ctx, a, o)
	if err != nil {
		return err
	}
	if err := edit(c); err != nil {
		return err
	}
	return c.settings.Save()
}

// openConfig opens the settings of a stack. The stack may be yet to come if it is named and has a file.
func openConfig(ctx context.Context, a *console.Console, o *configOptions) (*configured, error) {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return nil, err
	}
	s, err := a.OpenStack(ctx, p, o.stack)
	var missing *console.MissingStackError
	if errors.As(err, &missing) {
		settings, diags, loadErr := a.LoadSettings(p, missing.Ref.Stack, o.file)
		if loadErr != nil || !settings.Exists {
			return nil, err
		}
		return &configured{p, missing.Ref.Stack, settings}, a.Report(diags)
	}
	if err != nil {
		return nil, err
	}
	settings, diags, err := a.LoadSettings(p, s.Ref.Stack, o.file)
	if err != nil {
		return nil, err
	}
	return &configured{p, s.Ref.Stack, settings}, a.Report(diags)
}

// shown is an entry as people and programs see it: its text and JSON record, with secrets hidden unless open is given.
func shown(e *project.Entry, open project.Opener) (string, console.ConfigRecord, error) {
	record := console.ConfigRecord{Secret: e.IsSecret()}
	text, data, err := e.Open(console.OpenerOrMask(open))
	if err != nil {
		return "", record, err
	}
	if !record.Secret || open != nil {
		record.Value = &text
	}
	if e.IsObject() {
		record.ObjectValue = data
	}
	return text, record, nil
}

// configList shows all values of a stack and those that the project file gives.
func configList(ctx context.Context, a *console.Console, o *configOptions) error {
	c, err := openConfig(ctx, a, o)
	if err != nil {
		return err
	}
	var open project.Opener
	if o.showSecrets {
		if open, err = a.Manager(c.settings, c.stack); err != nil {
			return err
		}
	}
	texts, records := map[string]string{}, map[string]console.ConfigRecord{}
	for _, e := range c.settings.Entries() {
		text, record, err := shown(e, open)
		if err != nil {
			return a.ExplainSecret(err, c.stack)
		}
		texts[e.Key.String()], records[e.Key.String()] = text, record
	}
	for _, d := range c.project.Config {
		key := d.Key.String()
		if _, found := records[key]; found {
			continue
		}
		for _, data := range []*project.Data{d.Value, d.Default} {
			if data != nil {
				texts[key], records[key] = data.Text, console.ConfigRecord{Value: &data.Text}
				break
			}
		}
	}
	if o.json {
		return a.WriteJSON(records)
	}
	keys := make([]string, 0, len(texts))
	for key := range texts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	tw := tabwriter.NewWriter(a.Streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "KEY\tVALUE")
	for _, key := range keys {
		fmt.Fprintf(tw, "%s\t%s\n", strings.TrimPrefix(key, c.project.Name.Text+":"), texts[key])
	}
	return tw.Flush()
}

// configGet shows one value in plain text, whatever it is (F7.12).
func configGet(ctx context.Context, a *console.Console, o *configOptions) error {
	c, err := openConfig(ctx, a, o)
	if err != nil {
		return err
	}
	path, err := console.ParseKey(o.path, c.project.Name.Text, o.key)
	if err != nil {
		return err
	}
	e := c.settings.Entry(path.Key)
	if e == nil {
		return noSuchKey(a, c, o.key, path.Key)
	}
	part, found := e.Part(path.Steps)
	if !found {
		return fmt.Errorf("config %s has nothing at %s in stack %s", path.Key, o.key, c.stack)
	}
	isSecret := project.HasSecure(part)
	if isSecret {
		manager, err := a.Manager(c.settings, c.stack)
		if err != nil {
			return err
		}
		part, err = project.MapSecure(part, func(s project.Secure) (any, error) { return manager.Decrypt(string(s)) })
		if err != nil {
			return a.ExplainSecret(fmt.Errorf("decrypt config %s: %w", path.Key, err), c.stack)
		}
	}
	text := project.TextOf(part)
	if o.json {
		record := console.ConfigRecord{Value: &text, Secret: isSecret}
		switch part.(type) {
		case []any, map[string]any:
			record.ObjectValue = part
		}
		return a.WriteJSON(record)
	}
	_, err = fmt.Fprintln(a.Data(), text)
	return err
}

// noSuchKey names the keys that are near to one that is not there.
func noSuchKey(a *console.Console, c *configured, asked string, key project.Key) error {
	var names []string
	for _, e := range c.settings.Entries() {
		names = append(names, strings.TrimPrefix(e.Key.String(), c.project.Name.Text+":"))
	}
	text := fmt.Sprintf("configuration key %q is not set in stack %s", key, c.stack)
	if near := diag.Suggest(asked, names); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %s?", near[0])
	}
	return errors.New(text)
}

// configSet sets one value.
func configSet(ctx context.Context, a *console.Console, o *configOptions) error {
	c, err := openConfig(ctx, a, o)
	if err != nil {
		return err
	}
	path, err := console.ParseKey(o.path, c.project.Name.Text, o.key)
	if err != nil {
		return err
	}
	text, err := valueToSet(a, o) // before the file is held: people may take their time
	if err != nil {
		return err
	}
	if o.secret && o.plaintext {
		return errors.New("--secret and --plaintext exclude each other")
	}
	return editConfig(ctx, a, o, func(c *configured) error { return setValue(a, c, o, path, text) })
}

// setValue sets one value in settings that are held.
func setValue(a *console.Console, c *configured, o *configOptions, path project.KeyPath, text string) (err error) {
	seal := o.secret || !o.plaintext && workspace.SecretKeys(c.project, nil)[path.Key] // plain text would only be refused later
	if !seal && !o.plaintext && LooksSecret(path.Key.Name, text) {
		return fmt.Errorf("config value for %s looks like a secret; use --secret to encrypt it, or --plaintext to store it as it is", path.Key)
	}
	var v any = text
	switch {
	case seal:
		if v, err = a.SealedConfig(c.settings, c.stack, path.Key, text); err != nil {
			return err
		}
	case o.kind != "":
		if v, err = typed(o.kind, text); err != nil {
			return err
		}
	case len(path.Steps) > 0:
		v = project.Coerce(text)
	}
	return c.settings.SetPath(path, v)
}

// valueToSet is the value of the command line, or what standard input says (F3.15).
func valueToSet(a *console.Console, o *configOptions) (string, error) {
	if o.value != nil {
		return *o.value, nil
	}
	if a.Interactive() {
		fmt.Fprint(a.Streams.Err, "value: ")
		if o.secret && a.Streams.ReadPassword != nil {
			text, err := a.Streams.ReadPassword()
			fmt.Fprintln(a.Streams.Err)
			return text, err
		}
		return console.ReadLine(a.Streams.In)
	}
	text, err := a.StandardInput()
	if !o.raw {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	return text, err
}

// typed is a text as --type wants it.
func typed(kind, text string) (any, error) {
	switch kind {
	case "string":
		return text, nil
	case "int":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
	case "bool":
		if b, err := strconv.ParseBool(text); err == nil {
			return b, nil
		}
	case "float":
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f, nil
		}
	default:
		return nil, fmt.Errorf("--type takes string, int, bool or float, not %q", kind)
	}
	return nil, fmt.Errorf("%q is not of type %s", text, kind)
}

var secretName = regexp.MustCompile(`(?i)passwd|pass|password|pwd|secret|token`)

// LooksSecret reports whether a value under that name should rather be encrypted (F3.15): its characters are as mixed as
// those of generated passwords.
func LooksSecret(name, text string) bool {
	if !secretName.MatchString(name) || len(text) < 8 || strings.ContainsAny(text, " \n") {
		return false
	}
	counts := map[rune]float64{}
	for _, r := range text {
		counts[r]++
	}
	entropy, total := 0.0, float64(len([]rune(text)))
	for _, n := range counts {
		entropy -= n / total * math.Log2(n/total)
	}
	return entropy*total >= 32
}

// configRemove removes values.
func configRemove(ctx context.Context, a *console.Console, o *configOptions) error {
	return editConfig(ctx, a, o, func(c *configured) error {
		for _, text := range o.keys {
			path, err := console.ParseKey(o.path, c.project.Name.Text, text)
			if err != nil {
				return err
			}
			found, err := c.settings.RemovePath(path)
			if err != nil {
				return err
			}
			if !found {
				return noSuchKey(a, c, text, path.Key)
			}
		}
		return nil
	})
}

// exactly is an argument check with words of its own.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes %s, and nothing else\nSee %s --help.", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}
