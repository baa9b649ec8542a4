package config

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// removal holds the arguments of `config rm`.
type removal struct {
	*target
	keys []string
	path bool
}

func newRemove(a *console.Console, o *target) *cobra.Command {
	r := &removal{target: o}
	cmd := &cobra.Command{
		Use: "rm KEY...", Aliases: []string{"remove", "delete", "rm-all", "remove-all", "delete-all"}, Short: "Remove values", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.keys = args
			return remove(cmd.Context(), a, r)
		},
	}
	cmd.Flags().BoolVar(&r.path, "path", false, "the keys are paths into values, as in servers[0].port")
	return cmd
}

// remove removes values.
func remove(ctx context.Context, a *console.Console, o *removal) error {
	return edit(ctx, a, o.target, func(c *configured) error {
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
