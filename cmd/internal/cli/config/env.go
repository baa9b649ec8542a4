package config

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// newEnv makes `config env` and the commands below it.
func newEnv(a *console.Console, o *target) *cobra.Command {
	cmd := &cobra.Command{Use: "env", Short: "Choose the environments that a stack imports", Args: console.UnknownCommand}
	cmd.AddCommand(
		&cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List the environments of a stack", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return listEnvironments(cmd.Context(), a, o) }},
		&cobra.Command{Use: "add NAME...", Short: "Add environments, behind the others", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return addEnvironments(cmd.Context(), a, o, args) }},
		&cobra.Command{Use: "rm NAME...", Aliases: []string{"remove"}, Short: "Remove environments", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return removeEnvironments(cmd.Context(), a, o, args) }})
	return cmd
}

func listEnvironments(ctx context.Context, a *console.Console, o *target) error {
	c, err := open(ctx, a, o)
	if err != nil {
		return err
	}
	for _, name := range c.settings.Imports() {
		fmt.Fprintln(a.Streams.Out, name)
	}
	return nil
}

// addEnvironments adds environments that exist and can be evaluated.
func addEnvironments(ctx context.Context, a *console.Console, o *target, names []string) error {
	return edit(ctx, a, o, func(c *configured) error {
		options, err := a.Environments(c.project, c.name)
		if err != nil {
			return err
		}
		options.Check = true
		for _, name := range names {
			_, diags, err := options.Named(ctx, name)
			if err == nil {
				err = a.Report(diags)
			}
			if err != nil {
				return err
			}
			if !c.settings.AddImport(name) {
				return fmt.Errorf("stack %s imports %s already", c.stack, name)
			}
		}
		return nil
	})
}

func removeEnvironments(ctx context.Context, a *console.Console, o *target, names []string) error {
	return edit(ctx, a, o, func(c *configured) error {
		for _, name := range names {
			if !c.settings.RemoveImport(name) {
				return fmt.Errorf("stack %s does not import the environment %s%s", c.stack, name,
					diag.DidYouMean(name, c.settings.Imports()))
			}
		}
		return nil
	})
}
