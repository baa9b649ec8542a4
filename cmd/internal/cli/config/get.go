package config

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// getting holds the arguments of `config get`.
type getting struct {
	*target
	key  string
	path bool
	json bool
}

func newGet(a *console.Console, o *target) *cobra.Command {
	g := &getting{target: o}
	cmd := &cobra.Command{
		Use: "get KEY", Short: "Show one value, secrets in plain text", Args: exactly("a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			g.key = args[0]
			return get(cmd.Context(), a, g)
		},
	}
	cmd.Flags().BoolVarP(&g.json, "json", "j", false, "write JSON")
	cmd.Flags().BoolVar(&g.path, "path", false, "the key is a path into a value, as in servers[0].port")
	return cmd
}

// get shows one value in plain text, whatever it is (F7.12).
func get(ctx context.Context, a *console.Console, o *getting) error {
	c, path, err := openAt(ctx, a, o.target, o.path, o.key)
	if err != nil {
		return err
	}
	e := c.settings.Entry(path.Key)
	if e == nil {
		if err := a.Report(a.Inherit(c.project, c.settings, c.name)); err != nil {
			return err
		}
		if _, has := c.settings.Inherited()[path.Key]; has {
			return fmt.Errorf("config %s of stack %s comes from an environment\nShow it with: yamlhost env open NAME "+
				"pulumiConfig --show-secrets", path.Key, c.stack)
		}
		return noSuchKey(a, c, o.key, path.Key)
	}
	part, found := e.Part(path.Steps)
	if !found {
		return fmt.Errorf("config %s has no value at %s in stack %s", path.Key, o.key, c.stack)
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

// exactly is an argument check with words of its own.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes %s, and nothing else\nSee %s --help.", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[console.ConfigRecord]("value", "a configuration value", "`config get --json`"),
	contract.Of[map[string]console.ConfigRecord]("config", "the configuration of a stack", "`config --json`"),
}
