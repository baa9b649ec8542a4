package stack

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

func newStackTag(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tag", Short: "Show and change the stack's tags", Args: console.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List tags", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return tagList(cmd.Context(), a, o) }}
	list.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.AddCommand(list,
		&cobra.Command{Use: "get NAME", Short: "Show a tag", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return tagGet(cmd.Context(), a, o, args[0]) }},
		&cobra.Command{Use: "set NAME VALUE", Short: "Set a tag", Args: cobra.ExactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return tagChange(cmd.Context(), a, o, func(tags map[string]string) error {
					tags[args[0]] = args[1]
					return nil
				})
			}},
		&cobra.Command{Use: "rm NAME", Aliases: []string{"remove", "delete"}, Short: "Remove a tag", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return tagChange(cmd.Context(), a, o, func(tags map[string]string) error {
					if _, found := tags[args[0]]; !found {
						return fmt.Errorf("the stack has no tag %q", args[0])
					}
					delete(tags, args[0])
					return nil
				})
			}})
	return cmd
}

// tagsOf returns the tags of the stack that the command is about.
func tagsOf(ctx context.Context, a *console.Console, o *stackOptions) (map[string]string, error) {
	s, err := a.Stacks().Current(ctx, o.stack)
	if err != nil {
		return nil, err
	}
	return s.Backend.Tags(s.Ref)
}

func tagList(ctx context.Context, a *console.Console, o *stackOptions) error {
	tags, err := tagsOf(ctx, a, o)
	if err != nil {
		return err
	}
	if o.json {
		return a.WriteJSON(tags)
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		fmt.Fprintf(a.Streams.Out, "%s\t%s\n", name, tags[name])
	}
	return nil
}

func tagGet(ctx context.Context, a *console.Console, o *stackOptions, name string) error {
	tags, err := tagsOf(ctx, a, o)
	if err != nil {
		return err
	}
	text, found := tags[name]
	if !found {
		return fmt.Errorf("the stack has no tag %q", name)
	}
	_, err = fmt.Fprintln(a.Data(), text)
	return err
}

func tagChange(ctx context.Context, a *console.Console, o *stackOptions, change func(map[string]string) error) error {
	s, err := a.Stacks().Current(ctx, o.stack)
	if err != nil {
		return err
	}
	return s.Backend.EditTags(s.Ref, change)
}
