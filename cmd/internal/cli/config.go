package cli

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

func newConfig(a *app) *cobra.Command {
	o := &configOptions{}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change a stack's configuration",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.configList(cmd.Context(), o) },
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
		RunE: func(cmd *cobra.Command, _ []string) error { return a.configList(cmd.Context(), o) },
	}
	listFlags(list)
	get := &cobra.Command{
		Use: "get KEY", Short: "Show one value, secrets in plain text", Args: exactly("a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.key = args[0]
			return a.configGet(cmd.Context(), o)
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
			return a.configSet(cmd.Context(), o)
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
			return a.configRemove(cmd.Context(), o)
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
func (a *app) editConfig(ctx context.Context, o *configOptions, edit func(*configured) error) error {
	p, err := a.soundProject(a.world.Dir)
	if err != nil {
		return err
	}
	release, err := a.hold(a.settingsPath(p, "any", o.file)) // the files of all stacks are in one folder
	if err != nil {
		return err
	}
	defer release()
	c, err := a.openConfig(ctx, o)
	if err != nil {
		return err
	}
	if err := edit(c); err != nil {
		return err
	}
	return c.settings.Save()
}

// openConfig opens the settings of a stack. The stack may be yet to come if it is named and has a file.
func (a *app) openConfig(ctx context.Context, o *configOptions) (*configured, error) {
	p, err := a.soundProject(a.world.Dir)
	if err != nil {
		return nil, err
	}
	s, err := a.openStack(ctx, p, o.stack)
	var missing *missingStackError
	if errors.As(err, &missing) {
		settings, diags, loadErr := a.loadSettings(p, missing.ref.Stack, o.file)
		if loadErr != nil || !settings.Exists {
			return nil, err
		}
		return &configured{p, missing.ref.Stack, settings}, a.report(diags)
	}
	if err != nil {
		return nil, err
	}
	settings, diags, err := a.loadSettings(p, s.ref.Stack, o.file)
	if err != nil {
		return nil, err
	}
	return &configured{p, s.ref.Stack, settings}, a.report(diags)
}

// configRecord is a value in JSON (F7.12).
type configRecord struct {
	Value       *string `json:"value,omitempty"`
	ObjectValue any     `json:"objectValue,omitempty"`
	Secret      bool    `json:"secret"`
}

// shown is an entry as people and programs see it: its text and JSON record, with secrets hidden unless open is given.
func shown(e *project.Entry, open project.Opener) (string, configRecord, error) {
	record := configRecord{Secret: e.IsSecret()}
	text, data, err := e.Open(openerOrMask(open))
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

// masked takes the place of a secrets manager where secrets are not to be seen, so that no passphrase is needed (F4.16).
type masked struct{}

func (masked) Decrypt(string) (string, error) { return hiddenSecret, nil }

const hiddenSecret = "[secret]"

func openerOrMask(open project.Opener) project.Opener {
	if open == nil {
		return masked{}
	}
	return open
}

// configList shows all values of a stack and those that the project file gives.
func (a *app) configList(ctx context.Context, o *configOptions) error {
	c, err := a.openConfig(ctx, o)
	if err != nil {
		return err
	}
	var open project.Opener
	if o.showSecrets {
		if open, err = a.manager(c.settings, c.stack); err != nil {
			return err
		}
	}
	texts, records := map[string]string{}, map[string]configRecord{}
	for _, e := range c.settings.Entries() {
		text, record, err := shown(e, open)
		if err != nil {
			return a.explainSecret(err, c.stack)
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
				texts[key], records[key] = data.Text, configRecord{Value: &data.Text}
				break
			}
		}
	}
	if o.json {
		return a.writeJSON(records)
	}
	keys := make([]string, 0, len(texts))
	for key := range texts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	tw := tabwriter.NewWriter(a.streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "KEY\tVALUE")
	for _, key := range keys {
		fmt.Fprintf(tw, "%s\t%s\n", strings.TrimPrefix(key, c.project.Name.Text+":"), texts[key])
	}
	return tw.Flush()
}

// configGet shows one value in plain text, whatever it is (F7.12).
func (a *app) configGet(ctx context.Context, o *configOptions) error {
	c, err := a.openConfig(ctx, o)
	if err != nil {
		return err
	}
	path, err := parseKey(o, c.project.Name.Text, o.key)
	if err != nil {
		return err
	}
	e := c.settings.Entry(path.Key)
	if e == nil {
		return a.noSuchKey(c, o.key, path.Key)
	}
	part, found := e.Part(path.Steps)
	if !found {
		return fmt.Errorf("config %s has nothing at %s in stack %s", path.Key, o.key, c.stack)
	}
	isSecret := project.HasSecure(part)
	if isSecret {
		manager, err := a.manager(c.settings, c.stack)
		if err != nil {
			return err
		}
		part, err = project.MapSecure(part, func(s project.Secure) (any, error) { return manager.Decrypt(string(s)) })
		if err != nil {
			return a.explainSecret(fmt.Errorf("decrypt config %s: %w", path.Key, err), c.stack)
		}
	}
	text := project.TextOf(part)
	if o.json {
		record := configRecord{Value: &text, Secret: isSecret}
		switch part.(type) {
		case []any, map[string]any:
			record.ObjectValue = part
		}
		return a.writeJSON(record)
	}
	_, err = fmt.Fprintln(a.data(), text)
	return err
}

func parseKey(o *configOptions, namespace, text string) (project.KeyPath, error) {
	if o.path {
		return project.ParseKeyPath(text, namespace)
	}
	key, err := project.ParseKey(text, namespace)
	return project.KeyPath{Key: key}, err
}

// noSuchKey names the keys that are near to one that is not there.
func (a *app) noSuchKey(c *configured, asked string, key project.Key) error {
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
func (a *app) configSet(ctx context.Context, o *configOptions) error {
	c, err := a.openConfig(ctx, o)
	if err != nil {
		return err
	}
	path, err := parseKey(o, c.project.Name.Text, o.key)
	if err != nil {
		return err
	}
	text, err := a.valueToSet(o) // before the file is held: people may take their time
	if err != nil {
		return err
	}
	if o.secret && o.plaintext {
		return errors.New("--secret and --plaintext exclude each other")
	}
	return a.editConfig(ctx, o, func(c *configured) error { return a.setValue(c, o, path, text) })
}

// setValue sets one value in settings that are held.
func (a *app) setValue(c *configured, o *configOptions, path project.KeyPath, text string) (err error) {
	seal := o.secret || !o.plaintext && workspace.SecretKeys(c.project, nil)[path.Key] // plain text would only be refused later
	if !seal && !o.plaintext && looksSecret(path.Key.Name, text) {
		return fmt.Errorf("config value for %s looks like a secret; use --secret to encrypt it, or --plaintext to store it as it is", path.Key)
	}
	var v any = text
	switch {
	case seal:
		if v, err = a.sealedConfig(c.settings, c.stack, path.Key, text); err != nil {
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
func (a *app) valueToSet(o *configOptions) (string, error) {
	if o.value != nil {
		return *o.value, nil
	}
	if a.interactive() {
		fmt.Fprint(a.streams.Err, "value: ")
		if o.secret && a.streams.ReadPassword != nil {
			text, err := a.streams.ReadPassword()
			fmt.Fprintln(a.streams.Err)
			return text, err
		}
		return readLine(a.streams.In)
	}
	text, err := a.standardInput()
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

// looksSecret reports whether a value under that name should rather be encrypted (F3.15): its characters are as mixed as
// those of generated passwords.
func looksSecret(name, text string) bool {
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
func (a *app) configRemove(ctx context.Context, o *configOptions) error {
	return a.editConfig(ctx, o, func(c *configured) error {
		for _, text := range o.keys {
			path, err := parseKey(o, c.project.Name.Text, text)
			if err != nil {
				return err
			}
			found, err := c.settings.RemovePath(path)
			if err != nil {
				return err
			}
			if !found {
				return a.noSuchKey(c, text, path.Key)
			}
		}
		return nil
	})
}

// setFromFlags carries out -c key=value of an operation, which is kept in the stack's file as Pulumi keeps it. Values of keys
// that are declared secret, or are secret in the file already, are sealed. The caller holds the file.
func (p *pipeline) setFromFlags() error {
	pairs, projectName := p.options.config, p.workspace.Project.Name.Text
	if len(pairs) == 0 {
		return nil
	}
	secret := p.workspace.SecretKeys()
	for _, pair := range pairs {
		name, text, found := strings.Cut(pair, "=")
		if !found {
			return fmt.Errorf("--config takes key=value, not %q", pair)
		}
		path, err := parseKey(&configOptions{path: p.options.configPath}, projectName, name)
		if err != nil {
			return err
		}
		entry := p.settings.Entry(path.Key)
		var v any = text
		switch {
		case secret[path.Key] || entry != nil && entry.IsSecret():
			if v, err = p.app.sealedConfig(p.settings, p.stack.ref.Stack, path.Key, text); err != nil {
				return err
			}
		case len(path.Steps) > 0:
			v = project.Coerce(text)
		}
		if err := p.settings.SetPath(path, v); err != nil {
			return err
		}
	}
	return p.settings.Save()
}

// sealedConfig seals a value for settings that are held.
func (a *app) sealedConfig(settings *project.Settings, stack string, key project.Key, text string) (any, error) {
	manager, err := a.heldManager(settings, stack)
	if err != nil {
		return nil, err
	}
	sealed, err := manager.Encrypt(text)
	if err != nil {
		return nil, a.explainSecret(fmt.Errorf("encrypt config %s: %w", key, err), stack)
	}
	return project.Secure(sealed), nil
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
