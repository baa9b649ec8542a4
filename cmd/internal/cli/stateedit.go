package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// stateEditOptions are the flags of `state` and what is below it.
type stateEditOptions struct {
	stack, source, dest             string
	yes, force, all                 bool
	targetDependents, includeParent bool
}

// addStateEdits adds the commands that change a state by hand, and nothing in the world, to the group `state`.
func addStateEdits(a *app, group *cobra.Command) {
	o := &stateEditOptions{}
	remove := a.stateCommand(o, "delete [URN]...", "Take resources out of the state; what they are in the world stays", a.stateDelete)
	remove.Aliases = []string{"remove"}
	remove.Flags().BoolVar(&o.force, "force", false, "take it out even if it is protected")
	remove.Flags().BoolVar(&o.targetDependents, "target-dependents", false, "take out what depends on it too")
	remove.Flags().BoolVar(&o.all, "all", false, "take out everything")
	all := func(cmd *cobra.Command) *cobra.Command {
		cmd.Flags().BoolVar(&o.all, "all", false, "all resources")
		return cmd
	}
	move := a.stateCommand(o, "move URN...", "Move resources and their children to another stack", a.stateMove)
	move.Flags().StringVar(&o.source, "source", "", "the stack to move from; by default the selected one")
	move.Flags().StringVar(&o.dest, "dest", "", "the stack to move to")
	move.Flags().BoolVar(&o.includeParent, "include-parents", false, "move their parents too")
	commands := []*cobra.Command{remove, move,
		a.stateCommand(o, "rename URN NAME", "Give a resource another name", a.stateRename),
		all(a.stateCommand(o, "protect [URN]...", "Protect resources from being deleted", a.stateMark("protected", protection, true))),
		all(a.stateCommand(o, "unprotect [URN]...", "Allow resources to be deleted", a.stateMark("no longer protected", protection, false))),
		all(a.stateCommand(o, "taint [URN]...", "Have resources replaced by the next update", a.stateMark("tainted", taint, true))),
		all(a.stateCommand(o, "untaint [URN]...", "Take that back", a.stateMark("no longer tainted", taint, false))),
	}
	for _, cmd := range commands {
		cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
		cmd.Flags().BoolVarP(&o.yes, "yes", "y", a.world.envTrue("PULUMI_SKIP_CONFIRMATIONS"), "do not ask")
	}
	group.AddCommand(commands...)
}

func (a *app) stateCommand(o *stateEditOptions, use, short string, run func(context.Context, *stateEditOptions, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), o, args) }}
}

// editState changes the chosen stack's state. Secrets stay sealed, so that no passphrase is needed (F4.16).
func (a *app) editState(ctx context.Context, o *stateEditOptions, command, question string,
	edit func(*state.Snapshot) (*state.Snapshot, error)) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	if question != "" && !o.yes && a.interactive() {
		if err := a.confirm(question); err != nil {
			return err
		}
	}
	begin := backend.BeginOptions{Command: command}
	return s.backend.Edit(ctx, s.ref, begin, func(base *state.Snapshot) (*state.Snapshot, error) {
		next, err := edit(base)
		return next, withNear(err, base)
	})
}

// withNear adds the URN that was perhaps meant to an error about one that is not there.
func withNear(err error, s *state.Snapshot) error {
	var missing *state.MissingError
	if !errors.As(err, &missing) {
		return err
	}
	names := make([]string, len(s.Resources))
	for i, r := range s.Resources {
		names[i] = string(r.URN)
	}
	if near := diag.Suggest(string(missing.URN), names); len(near) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, near[0])
	}
	return fmt.Errorf("%w; `yamlhost stack --show-urns` lists what there is", err)
}

// urnsOf reads arguments that name resources.
func urnsOf(args []string) ([]urn.URN, error) {
	urns := make([]urn.URN, len(args))
	for i, text := range args {
		u, err := urn.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a URN; `yamlhost stack --show-urns` lists the URNs of the stack", text)
		}
		urns[i] = u
	}
	return urns, nil
}

// named are the URNs of a command that takes some, or --all.
func (o *stateEditOptions) named(args []string) ([]urn.URN, error) {
	switch {
	case o.all && len(args) > 0:
		return nil, withCode(codeError, "name resources or use --all, not both")
	case !o.all && len(args) == 0:
		return nil, withCode(codeError, "missing URN; `yamlhost stack --show-urns` lists the URNs of the stack")
	}
	return urnsOf(args)
}

func (a *app) stateDelete(ctx context.Context, o *stateEditOptions, args []string) error {
	urns, err := o.named(args)
	if err != nil {
		return err
	}
	var removed []urn.URN
	err = a.editState(ctx, o, "state delete", "This takes resources out of the state; they will not be managed any more. Go on?",
		func(s *state.Snapshot) (*state.Snapshot, error) {
			if o.all {
				for _, r := range s.Resources {
					if !slices.Contains(urns, r.URN) {
						urns = append(urns, r.URN)
					}
				}
			}
			next, gone, err := s.Without(urns, state.RemoveOptions{Force: o.force, Dependents: o.targetDependents})
			removed = gone
			return next, adviseDelete(err)
		})
	if err == nil {
		fmt.Fprintf(a.streams.Err, "%s taken out of the state\n", count(len(removed), "resource"))
	}
	return err
}

// adviseDelete adds the way out.
func adviseDelete(err error) error {
	var protected *state.ProtectedError
	var used *state.InUseError
	switch {
	case errors.As(err, &protected):
		return fmt.Errorf("%w; use --force to take it out nevertheless", err)
	case errors.As(err, &used):
		return fmt.Errorf("%w\nTake those out first, or all at once with --target-dependents", err)
	}
	return err
}

func (a *app) stateRename(ctx context.Context, o *stateEditOptions, args []string) error {
	if len(args) != 2 {
		return withCode(codeError, "state rename takes a URN and the new name")
	}
	urns, err := urnsOf(args[:1])
	if err != nil {
		return err
	}
	if args[1] == "" {
		return withCode(codeError, "the new name is empty")
	}
	if !utf8.ValidString(args[1]) {
		return withCode(codeError, "the new name %q is not UTF-8; a state has no way to keep it", args[1])
	}
	if urns[0].QualifiedType() == urn.RootStackType {
		return withCode(codeError, "the stack is renamed with `yamlhost stack rename`")
	}
	err = a.editState(ctx, o, "state rename", "The program has to use the new name too, or else the resource is replaced. Go on?",
		func(s *state.Snapshot) (*state.Snapshot, error) { return s.Renamed(urns[0], args[1]) })
	if err == nil {
		fmt.Fprintf(a.streams.Err, "%s is named %s now\n", urns[0], args[1])
	}
	return err
}

func protection(r *state.Resource) *bool { return &r.Protect }

func taint(r *state.Resource) *bool { return &r.Taint }

// stateMark sets or clears a mark on resources, and counts those that were otherwise before.
func (a *app) stateMark(what string, mark func(*state.Resource) *bool, set bool) func(context.Context, *stateEditOptions, []string) error {
	return func(ctx context.Context, o *stateEditOptions, args []string) error {
		urns, err := o.named(args)
		if err != nil {
			return err
		}
		if o.all {
			urns = nil
		}
		n := 0
		err = a.editState(ctx, o, "state edit", "", func(s *state.Snapshot) (*state.Snapshot, error) {
			return s.WithEach(urns, func(r *state.Resource) {
				if m := mark(r); *m != set {
					*m = set
					n++
				}
			})
		})
		if err == nil {
			fmt.Fprintf(a.streams.Err, "%s %s\n", count(n, "resource"), what)
		}
		return err
	}
}

// stateMove moves resources between stacks. The target is written first: after a crash in between, what was moved is in both
// states and can be taken out of one of them.
func (a *app) stateMove(ctx context.Context, o *stateEditOptions, args []string) error {
	if o.dest == "" {
		return withCode(codeError, "missing --dest, the stack to move to")
	}
	urns, err := o.named(args)
	if err != nil {
		return err
	}
	if o.source == "" {
		o.source = o.stack
	}
	from, err := a.currentStack(ctx, o.source)
	if err != nil {
		return err
	}
	to, err := a.currentStack(ctx, o.dest)
	if err != nil {
		return err
	}
	if from.ref == to.ref {
		return withCode(codeError, "source and destination are the same stack")
	}
	if !o.yes && a.interactive() {
		if err := a.confirm(fmt.Sprintf("Move %s from %s to %s?", count(len(urns), "resource"), from.ref.Stack, to.ref.Stack)); err != nil {
			return err
		}
	}
	moved, err := a.moveBetween(ctx, from, to, state.Move{URNs: urns, IncludeParents: o.includeParent, Project: to.ref.Project, Stack: to.ref.Stack})
	if err != nil {
		return err
	}
	for _, u := range moved.Resources {
		fmt.Fprintf(a.streams.Err, "  moved: %s\n", u)
	}
	for _, text := range moved.Broken {
		fmt.Fprintf(a.streams.Err, "  warning: %s\n", text)
	}
	fmt.Fprintf(a.streams.Err, "%s moved from %s to %s\n", count(len(moved.Resources), "resource"), from.ref.Stack, to.ref.Stack)
	return nil
}

func (a *app) moveBetween(ctx context.Context, from, to *stack, move state.Move) (moved *state.Moved, err error) {
	begin := func(s *stack) (backend.BeginOptions, error) {
		settings, diags, err := a.loadSettings(s.project, s.ref.Stack, "")
		if err == nil && diags.HasErrors() {
			err = a.report(diags)
		}
		if err != nil {
			return backend.BeginOptions{}, err
		}
		vault, err := a.manager(settings, s.ref.Stack)
		return backend.BeginOptions{Command: "state move", Secrets: vault, Open: vault.opener}, err
	}
	source, err := begin(from)
	if err != nil {
		return nil, err
	}
	target, err := begin(to)
	if err != nil {
		return nil, err
	}
	err = from.backend.Edit(ctx, from.ref, source, func(base *state.Snapshot) (*state.Snapshot, error) {
		err := to.backend.Edit(ctx, to.ref, target, func(there *state.Snapshot) (*state.Snapshot, error) {
			var err error
			if moved, err = move.Apply(base, there); err != nil {
				return nil, withNear(err, base)
			}
			return moved.Target, nil
		})
		if err != nil {
			return nil, err
		}
		return moved.Source, nil
	})
	return moved, err
}
