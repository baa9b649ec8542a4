package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// settingAll holds the arguments of `config set-all`.
type settingAll struct {
	*target
	secrets []string // key=value
	plain   []string
	path    bool
	json    string // as `config --json` writes it
}

func newSetAll(a *console.Console, o *target) *cobra.Command {
	s := &settingAll{target: o}
	cmd := &cobra.Command{
		Use: "set-all", Short: "Set several values at once, all or none of them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return setAll(cmd.Context(), a, s) },
	}
	cmd.Flags().StringArrayVar(&s.secrets, "secret", nil, "encrypt this value, as key=value; may be repeated")
	cmd.Flags().StringArrayVar(&s.plain, "plaintext", nil,
		"store this value in plain text, as key=value; may be repeated")
	cmd.Flags().BoolVar(&s.path, "path", false, "the keys are paths into values, as in servers[0].port")
	cmd.Flags().StringVar(&s.json, "json", "", "set the values of this JSON, in the form that config --json "+
		"--show-secrets writes")
	return cmd
}

// setAll sets several values. A mistake in one of them leaves the file as it was.
func setAll(ctx context.Context, a *console.Console, o *settingAll) error {
	all, err := o.settings()
	if err != nil {
		return err
	}
	return edit(ctx, a, o.target, func(c *configured) error {
		paths := make([]project.KeyPath, len(all))
		var secret []string
		for i := range all {
			var err error
			if paths[i], err = console.ParseKey(o.path, c.project.Name.Text, all[i].key); err != nil {
				return err
			}
			if c.seals(&all[i], paths[i]) {
				secret = append(secret, *all[i].value)
			}
		}
		if len(secret) > 1 {
			manager, err := c.sealer()
			if err != nil {
				return err
			}
			manager.Prepare(secret)
		}
		for i := range all {
			if err := setValue(a, c, &all[i], paths[i], *all[i].value); err != nil {
				return err
			}
		}
		return nil
	})
}

// settings returns the values of the command line: secrets after plain ones, each in the order given.
func (o *settingAll) settings() (all []setting, err error) {
	if o.json != "" {
		if len(o.plain)+len(o.secrets) > 0 || o.path {
			return nil, errors.New("--json has all values: it cannot be used with --plaintext, --secret or --path")
		}
		return fromJSON(o.json)
	}
	for i, text := range slices.Concat(o.plain, o.secrets) {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("%q is not of the form key=value", text)
		}
		secret := i >= len(o.plain)
		all = append(all, setting{key: key, value: &value, secret: secret, plaintext: !secret})
	}
	if len(all) == 0 {
		return nil, errors.New("nothing to set; give --plaintext key=value, --secret key=value or --json")
	}
	return all, nil
}

// fromJSON returns the values of a document as `config --json --show-secrets` writes it (F7.12), by key.
func fromJSON(text string) (all []setting, err error) {
	var records map[string]console.ConfigRecord
	if err := json.Unmarshal([]byte(text), &records); err != nil {
		return nil, errors.New(
			"--json is not what `config --json` writes: an object with an object of value and secret for each key")
	}
	for key, r := range records {
		if r.Value == nil {
			return nil, fmt.Errorf("--json has no value for %s; write it with --show-secrets", key)
		}
		all = append(all, setting{key: key, value: r.Value, secret: r.Secret, plaintext: !r.Secret, object: r.ObjectValue})
	}
	slices.SortStableFunc(all, func(a, b setting) int { return strings.Compare(a.key, b.key) })
	return all, nil
}
