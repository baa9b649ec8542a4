package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

func newStackTag(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tag", Short: "Show and change the stack's tags", Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List tags", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tagList(cmd.Context(), o) }}
	list.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.AddCommand(list,
		&cobra.Command{Use: "get NAME", Short: "Show a tag", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return a.tagGet(cmd.Context(), o, args[0]) }},
		&cobra.Command{Use: "set NAME VALUE", Short: "Set a tag", Args: cobra.ExactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.tagChange(cmd.Context(), o, func(tags map[string]string) error {
					tags[args[0]] = args[1]
					return nil
				})
			}},
		&cobra.Command{Use: "rm NAME", Aliases: []string{"remove"}, Short: "Remove a tag", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.tagChange(cmd.Context(), o, func(tags map[string]string) error {
					if _, found := tags[args[0]]; !found {
						return fmt.Errorf("the stack has no tag %q", args[0])
					}
					delete(tags, args[0])
					return nil
				})
			}})
	return cmd
}

func (a *app) tagList(ctx context.Context, o *stackOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	tags, err := s.backend.Tags(s.ref)
	if err != nil {
		return err
	}
	if o.json {
		return a.writeJSON(tags)
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		fmt.Fprintf(a.streams.Out, "%s\t%s\n", name, tags[name])
	}
	return nil
}

func (a *app) tagGet(ctx context.Context, o *stackOptions, name string) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	tags, err := s.backend.Tags(s.ref)
	if err != nil {
		return err
	}
	text, found := tags[name]
	if !found {
		return fmt.Errorf("the stack has no tag %q", name)
	}
	_, err = fmt.Fprintln(a.data(), text)
	return err
}

func (a *app) tagChange(ctx context.Context, o *stackOptions, change func(map[string]string) error) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	return s.backend.EditTags(s.ref, change)
}
