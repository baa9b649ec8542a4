package operation

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// setting is one value that the command line sets before an operation.
type setting struct {
	name, text string
	// outside reports whether the value came from the environment or a file, so that it may be a secret, which must not
	// appear as plain text.
	outside bool
}

// ConfigSourceFlags adds the flags that take configuration from elsewhere than the command line.
func ConfigSourceFlags(cmd *cobra.Command, o *ConfigOptions) {
	cmd.Flags().StringArrayVar(&o.configFrom, "config-from", nil,
		"set configuration from a file, as key=FILE, - for standard input; may be repeated")
	cmd.Flags().StringVar(&o.configEnv, "config-env", "",
		"set configuration from environment variables with this prefix")
}

// TimeFlags adds the flags that bound how long a command takes.
func TimeFlags(cmd *cobra.Command, o *OpenOptions) {
	cmd.Flags().DurationVar(&o.Timeout, "timeout", 0, "interrupt the command when it takes longer, such as 30m")
	cmd.Flags().DurationVar(&o.LockTimeout, "lock-timeout", 0,
		"how long to wait for another run that holds the stack, such as 5m")
	console.AtLeast(cmd.Flags(), "timeout", 0)
	console.AtLeast(cmd.Flags(), "lock-timeout", 0)
}

// settingsFromFlags returns the settings of --config, --config-from and --config-env, in this order. declared are the
// known keys; namespace is for keys without one.
func settingsFromFlags(a *console.Console, o *ConfigOptions, declared []project.Key, namespace string) ([]setting,
	error) {
	var list []setting
	for _, pair := range o.Config {
		name, text, _ := strings.Cut(pair, "=")
		list = append(list, setting{name: name, text: text})
	}
	stdin := false
	for _, pair := range o.configFrom {
		name, file, _ := strings.Cut(pair, "=")
		var text string
		switch {
		case file != "-":
			read, err := os.ReadFile(a.Path(file))
			if err != nil {
				return nil, fmt.Errorf("--config-from %s=%s: %w", name, file, console.PlainError(err))
			}
			text = string(read)
		case stdin:
			return nil, console.WithCode(console.CodeBadUsage, "--config-from can read standard input for one key only")
		default:
			stdin = true
			read, err := a.Prompt().StandardInput()
			if err != nil {
				return nil, err
			}
			text = read
		}
		list = append(list, setting{name: name, text: strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"),
			outside: true})
	}
	if prefix := o.configEnv; prefix != "" {
		found := environmentSettings(prefix, a.World.Env, declared, namespace)
		if len(found) == 0 {
			fmt.Fprintf(a.Streams.Err, "warning: no environment variable begins with %s\n", prefix)
		}
		list = append(list, found...)
	}
	return list, nil
}

// environmentSettings returns the variables with a prefix, by name. The rest of a variable's name is a key, with two
// underscores for the colon after a namespace. Case and additional underscores do not matter for known keys, so that
// APP_DB_PASSWORD sets dbPassword.
func environmentSettings(prefix string, environment []string, declared []project.Key, namespace string) []setting {
	plain := func(text string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(text)) }
	found := map[string]string{}
	for _, variable := range environment {
		name, text, _ := strings.Cut(variable, "=")
		rest, has := strings.CutPrefix(name, prefix)
		if !has || rest == "" {
			continue
		}
		key := strings.Replace(rest, "__", ":", 1)
		space, word, qualified := strings.Cut(key, ":")
		if !qualified {
			space, word = namespace, key
		}
		exact := slices.ContainsFunc(declared, func(k project.Key) bool {
			return k.Namespace == space && k.Name == word
		})
		if i := slices.IndexFunc(declared, func(k project.Key) bool {
			return plain(k.Namespace) == plain(space) &&
				plain(k.Name) == plain(word)
		}); !exact && i >= 0 {
			key = declared[i].String()
		}
		found[key] = text
	}
	var list []setting
	for _, key := range slices.Sorted(maps.Keys(found)) {
		list = append(list, setting{name: key, text: found[key], outside: true})
	}
	return list
}

// setFromFlags writes the settings of --config, --config-from and --config-env to the stack's file, as Pulumi does for
// -c. It seals values of keys that are declared secret, or are secret in the file; a value from a file or the
// environment is sealed unless its key is declared public. The caller has locked the file.
func setFromFlags(a *console.Console, o *ConfigOptions, ws *workspace.Workspace, settings *project.Settings,
	s *console.Stack) error {
	if !o.setsConfig() {
		return nil
	}
	declared := ws.DeclaredKeys()
	known := slices.Collect(maps.Keys(declared))
	for _, e := range settings.Entries() {
		known = append(known, e.Key)
	}
	given, err := settingsFromFlags(a, o, known, ws.Project.Name.Text)
	if err != nil {
		return err
	}
	for _, set := range given {
		path, err := console.ParseKey(o.ConfigPath && !set.outside, ws.Project.Name.Text, set.name)
		if err != nil {
			return err
		}
		entry := settings.Entry(path.Key)
		secret, isDeclared := declared[path.Key]
		var v any = set.text
		switch {
		case secret || entry != nil && entry.IsSecret() || set.outside && !isDeclared:
			if v, err = a.Secrets().Of(s.Backend, s.Ref).SealedConfig(settings, s.Ref.Stack, path.Key,
				set.text); err != nil {
				return err
			}
		case len(path.Steps) > 0:
			v = project.Coerce(set.text)
		}
		if err := settings.SetPath(path, v); err != nil {
			return err
		}
	}
	return settings.Save()
}

// setsConfig reports whether a flag sets configuration.
func (o *ConfigOptions) setsConfig() bool {
	return len(o.Config)+len(o.configFrom) > 0 || o.configEnv != ""
}

// configuration holds the settings file of a stack, and the stack's configuration in plain text.
type configuration struct {
	settings *project.Settings
	values   map[project.Key]project.Text
}

// engine returns the configuration in the form for the engine (F3.12).
func (c *configuration) engine() (texts map[string]string, secretKeys []string) {
	texts = make(map[string]string, len(c.values))
	for key, text := range c.values {
		texts[key.String()] = text.Text
		if text.Secret {
			secretKeys = append(secretKeys, key.String())
		}
	}
	slices.Sort(secretKeys)
	return texts, secretKeys
}

// secrets returns the plain texts of secret configuration, to be masked wherever they appear (L9.34).
func (c *configuration) secrets() []string {
	var texts []string
	for _, text := range c.values {
		if text.Secret {
			texts = append(texts, text.Text)
		}
	}
	return texts
}

// record returns the configuration in the form of stack files, so that no secret is in plain text. It omits secrets of
// environments, which are opened for each operation and not stored with the stack.
func (c *configuration) record() map[string]json.RawMessage {
	config := make(map[string]json.RawMessage, len(c.values))
	for key, text := range c.values {
		var form any = text.Text
		if e := c.settings.Entry(key); e != nil {
			form = e.Data()
		} else if text.Inherited {
			if text.Secret {
				continue
			}
			v, _ := c.settings.Inherited(key)
			form = project.PlainData(v)
		}
		if raw, err := json.Marshal(form); err == nil {
			config[key.String()] = raw
		}
	}
	return config
}

// source returns the text of the settings file; nil before it is read.
func (c *configuration) source() *diag.Source {
	if c.settings == nil {
		return nil
	}
	return c.settings.Source
}
