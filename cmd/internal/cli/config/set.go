package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// A setting is one value to set, with the flags that apply to it. config set makes one from its arguments, and set-all
// one for each of its values.
type setting struct {
	key       string
	value     *string // nil if standard input provides it
	secret    bool
	plaintext bool
	raw       bool
	kind      string // --type
	object    any    // data whose text is value, unless the data is a string
}

// newSet returns the command config set.
func newSet(a *console.Console, o *options) *cobra.Command {
	s := &setting{}
	cmd := &cobra.Command{
		Use: "set KEY [VALUE]", Short: "Set a value; without one it is read from standard input", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.key = args[0]; len(args) > 1 {
				s.value = &args[1]
			}
			return set(cmd.Context(), a, o, s)
		},
	}
	cmd.Flags().BoolVar(&o.path, "path", false, "the key is a path into a value, as in servers[0].port")
	cmd.Flags().BoolVar(&s.secret, "secret", false, "encrypt the value")
	cmd.Flags().BoolVar(&s.plaintext, "plaintext", false, "store the value in plain text, even if it looks like a secret")
	cmd.Flags().BoolVar(&s.raw, "raw", false, "keep the line break at the end of standard input")
	cmd.Flags().StringVar(&s.kind, "type", "", "with --path: string, int, bool or float")
	return cmd
}

// set sets one value in the settings of a stack. The key is parsed before the value is read, so that nobody types a
// secret for a key that is refused.
func set(ctx context.Context, a *console.Console, o *options, v *setting) error {
	if v.secret && v.plaintext {
		return console.WithCode(console.CodeBadUsage, "--secret and --plaintext cannot be used together")
	}
	if !slices.Contains([]string{"", "string", "int", "bool", "float"}, v.kind) {
		return console.WithCode(console.CodeBadUsage, "--type takes string, int, bool or float, not %q", v.kind)
	}
	opened, err := open(ctx, a, o)
	if err != nil {
		return err
	}
	path, err := console.ParseKey(o.path, opened.project.Name.Text, v.key)
	if err != nil {
		return err
	}
	text, err := v.text(a) // read before locking the file, as a person may take a long time
	if err != nil {
		return err
	}
	return edit(ctx, a, o, func(c *configured) error {
		if err := c.set(v, path, text); err != nil {
			return err
		}
		// An error of examine keeps edit from saving, although the value has been set in memory.
		return c.examine(ctx, path.Key)
	})
}

// examine reports what the program says against the new values of keys: a value of another type than declared is an
// error, a key that nothing reads a warning. The Pulumi CLI takes both. It looks at the text that would be written,
// with the checker of the program, and reports only what is about these keys: other faults of the file are older.
func (c *configured) examine(ctx context.Context, keys ...project.Key) error {
	a, ws := c.console, c.program()
	if ws == nil || a.World.AsPulumi {
		return nil
	}
	// The text is parsed again, as positions of findings refer to a text.
	text, err := c.settings.Text()
	if err != nil {
		return err
	}
	next, _ := project.ParseSettings(diag.NewSource(a.Short(c.settings.Path), text), c.project.Name.Text)
	var found diag.Diagnostics
	for _, d := range workspace.CheckSettings(ctx, ws, next, c.stack, parser.NewDocument(ws.Source).File) {
		for _, key := range keys {
			// The subject is the value, or the whole entry for a key that nothing reads.
			if e := next.Entry(key); e != nil && (d.Subject == e.Place || d.Subject == e.Range) {
				found.Add(d)
			}
		}
	}
	if found.HasErrors() {
		return fmt.Errorf("%s\nNothing was changed.", found.Sorted()[0].Summary)
	}
	return a.Report(found)
}

// program returns the workspace of the program; nil if its text is not available.
func (c *configured) program() *workspace.Workspace {
	ws, err := c.console.OpenTarget(c.console.World.Dir, c.console.Looking())
	if err != nil || ws.Source == nil {
		return nil
	}
	return ws
}

// startFrom gives a key without a value the declared default, of which a part is about to be set. Otherwise the rest of
// a default would be lost with the first part that is set.
func (c *configured) startFrom(key project.Key) error {
	if c.settings.Entry(key) != nil {
		return nil
	}
	// The project file comes before the program, as in a run (L2.2).
	for _, d := range c.project.Config {
		if d.Key == key && d.Default != nil {
			c.settings.Set(key, d.Default.Data())
			return nil
		}
	}
	ws := c.program()
	if ws == nil {
		return nil
	}
	// Faults of the program are the check's to report; declarations that could be read are used.
	file, _ := ws.Parse(nil)
	for _, d := range file.Config {
		name := d.Name.Value
		if d.Key != nil {
			name = d.Key.Value
		}
		if declared, err := project.ParseKey(name, c.project.Name.Text); err != nil || declared != key ||
			d.Default == nil {
			continue
		}
		// Nothing is run here, so only literals have a value.
		v, err := program.Literal(d.Default)
		if err != nil {
			return fmt.Errorf("the default of %s is computed by the program, so that no part of it can be set\nSet the whole "+
				"value, without --path.", key)
		}
		c.settings.Set(key, project.PlainData(v))
		return nil
	}
	return nil
}

// seals reports whether a value has to be sealed: because of a flag, or because the key is declared secret, for which
// plain text would be rejected later.
func (c *configured) seals(o *setting, path project.KeyPath) bool {
	return o.secret || !o.plaintext && workspace.SecretKeys(c.project, nil)[path.Key]
}

// set sets one value in the settings, which the caller must hold. A secret is sealed before anything is changed, for
// its key service may refuse. With a path the value gets the type that its text has.
func (c *configured) set(o *setting, path project.KeyPath, text string) (err error) {
	seal := c.seals(o, path)
	// The Pulumi CLI refuses such a value, too: once committed, a secret in plain text stays in the history of the
	// repository.
	if !seal && !o.plaintext && LooksSecret(path.Key.Name, text) {
		return fmt.Errorf(
			"config value for %s looks like a secret; use --secret to encrypt it, or --plaintext to store it in plain "+
				"text", path.Key)
	}
	var v any = text
	switch {
	case seal:
		manager, err := c.sealer()
		if err == nil {
			v, err = manager.SealedConfig(c.stack, path.Key, text)
		}
		if err != nil {
			return err
		}
	// Only set-all --json has one, which knows the types of its values.
	case o.object != nil:
		v = o.object
	case o.kind != "":
		if v, err = typed(o.kind, text); err != nil {
			return err
		}
	// Whole values stay texts, since the program declares their types. Inside of an object nothing declares them.
	case len(path.Steps) > 0:
		v = project.Coerce(text)
	}
	if len(path.Steps) > 0 {
		if err := c.startFrom(path.Key); err != nil {
			return err
		}
	}
	return c.settings.SetPath(path, v)
}

// text returns the value given on the command line, or reads it from standard input (F3.15). A terminal shows no
// secret. Empty input is mostly a command before the pipe that failed.
func (o *setting) text(a *console.Console) (string, error) {
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
		// One line at a terminal, everything from a pipe: a key file has several lines.
		return console.ReadLine(a.Streams.In)
	}
	text, err := a.Prompt().StandardInput()
	if err == nil && text == "" && !a.World.AsPulumi {
		return "", console.WithCode(console.CodeBadUsage, "there is no value: standard input is empty\nGive it after the key, an "+
			"empty one as ''.")
	}
	// A command such as echo ends its output with a line break, which is no part of the value.
	if !o.raw {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	return text, err
}

// typed converts text to the type that --type names.
func typed(kind, text string) (any, error) {
	switch kind {
	case "string":
		return text, nil
	// A text that does not fit falls through to the error at the end.
	case "int":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
	case "bool":
		if b, err := strconv.ParseBool(text); err == nil {
			return b, nil
		}
	case "float":
		if value.LosesDigits(text) {
			return text, nil // a stack's number is a text too, which keeps the digits
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%q is not %s", text, diag.WithArticle(kind))
}

// LooksSecret reports whether the value of a configuration key should rather be encrypted (F3.15): the key sounds
// secret, and the value's characters are as mixed as in a generated password.
func LooksSecret(name, text string) bool {
	// Blanks and line breaks make prose more likely than a password.
	if !diag.SoundsSecret(name) || len(text) < 8 || strings.ContainsAny(text, " \n") {
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
	// entropy is in bits for each character, total the number of characters.
	return entropy*total >= 32
}

// settingAll holds the values of `config set-all`.
type settingAll struct {
	secrets []string // key=value
	plain   []string
	json    string // a document in the form of `config --json`
}

// newSetAll returns the command config set-all.
func newSetAll(a *console.Console, o *options) *cobra.Command {
	s := &settingAll{}
	cmd := &cobra.Command{
		Use: "set-all", Short: "Set several values at once, all or none of them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return setAll(cmd.Context(), a, o, s) },
	}
	cmd.Flags().StringArrayVar(&s.secrets, "secret", nil, "encrypt this value, as key=value; may be repeated")
	cmd.Flags().StringArrayVar(&s.plain, "plaintext", nil,
		"store this value in plain text, as key=value; may be repeated")
	cmd.Flags().BoolVar(&o.path, "path", false, "the keys are paths into values, as in servers[0].port")
	cmd.Flags().StringVar(&s.json, "json", "", "set the values of this JSON, in the form that config --json "+
		"--show-secrets writes")
	return cmd
}

// setAll sets several values. If one of them is invalid, the file stays unchanged. Secrets are handed to the manager
// together, since a service seals many in one request.
func setAll(ctx context.Context, a *console.Console, o *options, values *settingAll) error {
	all, err := values.settings(o.path)
	if err != nil {
		return err
	}
	return edit(ctx, a, o, func(c *configured) error {
		var keys []project.Key
		paths := make([]project.KeyPath, len(all))
		var secret []string
		// First all keys: a wrong one must not be found after half of the secrets have been sealed.
		for i := range all {
			var err error
			if paths[i], err = console.ParseKey(o.path, c.project.Name.Text, all[i].key); err != nil {
				return err
			}
			if c.seals(&all[i], paths[i]) {
				secret = append(secret, *all[i].value)
			}
		}
		// For a single value the request would be the same.
		if len(secret) > 1 {
			manager, err := c.sealer()
			if err != nil {
				return err
			}
			manager.Prepare(secret)
		}
		for i := range all {
			if err := c.set(&all[i], paths[i], *all[i].value); err != nil {
				return err
			}
			keys = append(keys, paths[i].Key)
		}
		return c.examine(ctx, keys...)
	})
}

// settings returns the values of the command line: plain ones first, then secrets, each in the order given.
func (o *settingAll) settings(paths bool) (all []setting, err error) {
	if o.json != "" {
		if len(o.plain)+len(o.secrets) > 0 || paths {
			return nil, errors.New("--json has all values: it cannot be used with --plaintext, --secret or --path")
		}
		return fromJSON(o.json)
	}
	for i, text := range slices.Concat(o.plain, o.secrets) {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("%q is not of the form key=value", text)
		}
		// A value of --plaintext is wanted in plain text, even if it looks like a secret.
		secret := i >= len(o.plain)
		all = append(all, setting{key: key, value: &value, secret: secret, plaintext: !secret})
	}
	if len(all) == 0 {
		return nil, errors.New("nothing to set; give --plaintext key=value, --secret key=value or --json")
	}
	return all, nil
}

// fromJSON returns the values, by key, of a document that `config --json --show-secrets` has written (F7.12). The
// result is sorted, as the order of an object means nothing and that of the file should not change from call to call.
func fromJSON(text string) (all []setting, err error) {
	var records map[string]struct {
		Value       *string
		ObjectValue json.RawMessage
		Secret      bool
	}
	if err := json.Unmarshal([]byte(text), &records); err != nil {
		return nil, errors.New(
			"--json is not what `config --json` writes: an object with an object of value and secret for each key")
	}
	for key, r := range records {
		if r.Value == nil {
			return nil, fmt.Errorf("--json has no value for %s; write it with --show-secrets", key)
		}
		var object any
		if len(r.ObjectValue) > 0 && !r.Secret {
			if object, err = project.FromJSON(r.ObjectValue); err != nil {
				return nil, fmt.Errorf("--json has an objectValue of %s that cannot be read: %w", key, err)
			}
		}
		all = append(all, setting{key: key, value: r.Value, secret: r.Secret, plaintext: !r.Secret, object: object})
	}
	slices.SortStableFunc(all, func(a, b setting) int { return strings.Compare(a.key, b.key) })
	return all, nil
}

// newRemove returns the command config rm.
func newRemove(a *console.Console, o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rm KEY...", Aliases: []string{"remove", "delete", "rm-all", "remove-all", "delete-all"}, Short: "Remove values", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return remove(cmd.Context(), a, o, args) },
	}
	cmd.Flags().BoolVar(&o.path, "path", false, "the keys are paths into values, as in servers[0].port")
	return cmd
}

// remove removes values from the settings. With one key missing, none is removed: the file is saved when all have been
// found. Environments and defaults are not touched, so a removed key may still have a value from there.
func remove(ctx context.Context, a *console.Console, o *options, keys []string) error {
	return edit(ctx, a, o, func(c *configured) error {
		for _, text := range keys {
			path, err := console.ParseKey(o.path, c.project.Name.Text, text)
			if err != nil {
				return err
			}
			found, err := c.settings.RemovePath(path)
			if err != nil {
				return err
			}
			if !found && !a.World.AsPulumi { // the Pulumi CLI is content
				return c.noSuchKey(text, path.Key)
			}
		}
		return nil
	})
}
