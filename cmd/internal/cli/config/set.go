package config

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// setting is one value that `config set` sets, and how.
type setting struct {
	*target
	key       string
	value     *string // nil to read it
	path      bool
	secret    bool
	plaintext bool
	raw       bool
	kind      string // --type
	object    any    // what value is the text of, if that is no text
}

func newSet(a *console.Console, o *target) *cobra.Command {
	s := &setting{target: o}
	cmd := &cobra.Command{
		Use: "set KEY [VALUE]", Short: "Set a value; without one it is read from standard input", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.key = args[0]; len(args) > 1 {
				s.value = &args[1]
			}
			return set(cmd.Context(), a, s)
		},
	}
	cmd.Flags().BoolVar(&s.path, "path", false, "the key is a path into a value, as in servers[0].port")
	cmd.Flags().BoolVar(&s.secret, "secret", false, "encrypt the value")
	cmd.Flags().BoolVar(&s.plaintext, "plaintext", false, "store the value in plain text, even if it looks like a secret")
	cmd.Flags().BoolVar(&s.raw, "raw", false, "keep the line break at the end of standard input")
	cmd.Flags().StringVar(&s.kind, "type", "", "with --path: string, int, bool or float")
	return cmd
}

// set sets one value.
func set(ctx context.Context, a *console.Console, o *setting) error {
	_, path, err := openAt(ctx, a, o.target, o.path, o.key)
	if err != nil {
		return err
	}
	text, err := valueToSet(a, o) // before the file is held: people may take their time
	if err != nil {
		return err
	}
	if o.secret && o.plaintext {
		return errors.New("--secret and --plaintext cannot be used together")
	}
	return edit(ctx, a, o.target, func(c *configured) error { return setValue(a, c, o, path, text) })
}

// seals reports whether a value is to be sealed: plain text for a key that is declared secret would only be refused
// later.
func (c *configured) seals(o *setting, path project.KeyPath) bool {
	return o.secret || !o.plaintext && workspace.SecretKeys(c.project, nil)[path.Key]
}

// setValue sets one value in settings that are held.
func setValue(a *console.Console, c *configured, o *setting, path project.KeyPath, text string) (err error) {
	seal := c.seals(o, path)
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
	case o.object != nil:
		v = o.object
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
func valueToSet(a *console.Console, o *setting) (string, error) {
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
	text, err := a.Prompt().StandardInput()
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

var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)passwd|pass|password|pwd|secret|token`)
})

// LooksSecret reports whether a value under that name should rather be encrypted (F3.15): its characters are as mixed
// as in a generated password.
func LooksSecret(name, text string) bool {
	if !secretName().MatchString(name) || len(text) < 8 || strings.ContainsAny(text, " \n") {
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
