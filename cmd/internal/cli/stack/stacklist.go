package stack

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// newStackList returns the command stack ls.
func newStackList(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the project's stacks", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return stackList(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVarP(&o.all, "all", "a", false, "list the stacks of all projects")
	cmd.Flags().StringVarP(&o.project, "project", "p", "", "list the stacks of this project")
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return cmd
}

// stackRecord is a stack in the JSON form of `stack ls` (F7.12).
type stackRecord struct {
	Name             string  `json:"name"`
	Current          bool    `json:"current"`
	LastUpdate       string  `json:"lastUpdate,omitempty"`
	UpdateInProgress *bool   `json:"updateInProgress,omitempty"` // under the name pulumi only for services
	ResourceCount    *int    `json:"resourceCount,omitempty"`
	URL              *string `json:"url,omitempty"`
}

// stackList lists stacks. It needs a sound project unless stacks of others are asked for: the project decides which
// backend and which stack are meant.
func stackList(ctx context.Context, a *console.Console, o *stackOptions) error {
	p, diags, err := a.OpenProject(a.World.Dir)
	switch {
	case err == nil && !diags.HasErrors():
	case o.all || o.project != "":
		p = nil
	case err != nil:
		return err
	default:
		return a.Report(diags)
	}
	b, err := a.Backends().Open(p)
	if err != nil {
		return err
	}
	name, current := "", backend.Ref{}
	if p != nil {
		// No stack may be selected, or one that cannot be named here. Then none has the mark.
		if current, _, err = a.Stacks().Chosen(b, p, o.stack); err != nil {
			current = backend.Ref{}
		}
		if !o.all {
			name = p.Name.Text
		}
	}
	// The name of another project is taken as it is, since its file is not here.
	if o.project != "" {
		name = o.project
	}
	// A remote store is then asked for all stacks at once, and not several times for each.
	if b, err = b.Prefetch(name); err != nil {
		return err
	}
	refs, err := b.Stacks(ctx, name)
	if err != nil {
		return err
	}
	records := make([]stackRecord, len(refs))
	// Each calls this concurrently, for distinct i.
	backend.Each(refs, func(i int, ref backend.Ref) {
		records[i] = describeStack(ctx, a, b, ref, ref == current, o.all && !a.World.AsPulumi)
	})
	return a.Show(o.json, records, func(table io.Writer) {
		fmt.Fprintln(table, "NAME\tLAST UPDATE\tRESOURCE COUNT")
		for _, r := range records {
			mark, last, resources := "", "n/a", "n/a"
			if r.Current {
				mark = "*"
			}
			if t, err := time.Parse(timeFormat, r.LastUpdate); err == nil {
				last = t.Format("2006-01-02 15:04:05 MST")
			}
			if r.ResourceCount != nil {
				resources = strconv.Itoa(*r.ResourceCount)
			}
			fmt.Fprintf(table, "%s%s\t%s\t%s\n", r.Name, mark, last, resources)
		}
	})
}

// timeFormat is RFC 3339 with milliseconds, in UTC (F7.12).
const timeFormat = "2006-01-02T15:04:05.000Z"

// describeStack returns what is known about a stack without reading its whole state. Information that cannot be read is
// omitted.
func describeStack(ctx context.Context, a *console.Console, b *backend.Backend, ref backend.Ref, current,
	qualified bool) stackRecord {
	r := stackRecord{Name: ref.Stack, Current: current}
	// Stacks of several projects may have one name.
	if qualified {
		r.Name = ref.QualifiedName()
	}
	if page := b.Page(ref); page != "" {
		r.URL = &page
	}
	if found, err := b.Overview(ctx, ref); err == nil {
		updated := found.Updated
		if updated.IsZero() && a.World.AsPulumi { // it has no stacks that were never updated
			updated = found.Written
		}
		if !updated.IsZero() {
			r.LastUpdate, r.ResourceCount = updated.UTC().Format(timeFormat), &found.Resources
		}
	}
	// The Pulumi CLI has no such field for local backends.
	if a.World.AsPulumi && b.Service() == nil {
		return r
	}
	if locks, err := b.Locks(ref); err == nil {
		r.UpdateInProgress = new(len(locks) > 0)
	}
	return r
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[[]stackRecord]("stacks", "stacks", "`stack ls --json`"),
	contract.Of[[]historyRecord]("history", "the operations on a stack, the last one first", "`stack history --json`"),
	contract.Of[map[string]string]("tags", "the tags of a stack", "`stack tag ls --json`"),
}

// newStackTag returns the command stack tag with its subcommands.
func newStackTag(a *console.Console, o *stackOptions) *cobra.Command {
	list := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List tags", Args: cobra.NoArgs,
		RunE: o.on(a, tagList)}
	list.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return console.Group("tag", "Show and change the stack's tags", list,
		&cobra.Command{Use: "get NAME", Short: "Show a tag", Args: cobra.ExactArgs(1), RunE: o.on(a, tagGet)},
		&cobra.Command{Use: "set NAME VALUE", Short: "Set a tag", Args: cobra.ExactArgs(2), RunE: o.on(a, tagSet)},
		&cobra.Command{Use: "rm NAME", Aliases: []string{"remove", "delete"}, Short: "Remove a tag", Args: cobra.ExactArgs(1),
			RunE: o.on(a, tagRemove)})
}

// tagList shows all tags of the chosen stack.
func tagList(_ context.Context, a *console.Console, o *stackOptions, s *console.Stack, _ []string) error {
	tags, err := s.Backend.Tags(s.Ref)
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

// tagGet prints the value of one tag.
func tagGet(_ context.Context, a *console.Console, _ *stackOptions, s *console.Stack, args []string) error {
	tags, err := s.Backend.Tags(s.Ref)
	if err != nil {
		return err
	}
	text, found := tags[args[0]]
	if !found {
		return fmt.Errorf("the stack has no tag %q", args[0])
	}
	_, err = fmt.Fprintln(a.Data(), text)
	return err
}

// tagSet sets a tag, replacing its value. EditTags holds the lock of the tags, so edits of two commands are both kept.
func tagSet(_ context.Context, _ *console.Console, _ *stackOptions, s *console.Stack, args []string) error {
	return s.Backend.EditTags(s.Ref, func(tags map[string]string) error {
		tags[args[0]] = args[1]
		return nil
	})
}

// tagRemove removes a tag. A missing one is an error, except under the name of the Pulumi CLI.
func tagRemove(_ context.Context, a *console.Console, _ *stackOptions, s *console.Stack, args []string) error {
	return s.Backend.EditTags(s.Ref, func(tags map[string]string) error {
		if _, found := tags[args[0]]; !found && !a.World.AsPulumi { // the Pulumi CLI is content
			return fmt.Errorf("the stack has no tag %q", args[0])
		}
		delete(tags, args[0])
		return nil
	})
}
