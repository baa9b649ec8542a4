package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// stateEditOptions are the flags of the subcommands of `state` that edit a state.
type stateEditOptions struct {
	stack, source, dest             string
	yes, force, all                 bool
	targetDependents, includeParent bool
}

// stateEdits returns the subcommands of `state` that edit a state by hand without changing real resources.
func stateEdits(a *console.Console) []*cobra.Command {
	// They share the options, as one of them runs in a process.
	o := &stateEditOptions{}
	remove := stateCommand(a, o, "delete [URN]...", "Remove resources from the state; the resources themselves stay",
		stateDelete)
	remove.Aliases = []string{"remove", "rm"}
	remove.Flags().BoolVar(&o.force, "force", false, "remove it even if it is protected")
	remove.Flags().BoolVar(&o.targetDependents, "target-dependents", false, "remove its dependants too")
	remove.Flags().BoolVar(&o.all, "all", false, "take out everything")
	all := func(cmd *cobra.Command) *cobra.Command {
		cmd.Flags().BoolVar(&o.all, "all", false, "all resources")
		return cmd
	}
	move := stateCommand(a, o, "move [URN]...", "Move resources and their children to another stack",
		stateMove)
	move.Aliases = []string{"mv"}
	move.Flags().StringVar(&o.source, "source", "", "the stack to move from; by default the selected one")
	move.Flags().StringVar(&o.dest, "dest", "", "the stack to move to")
	move.Flags().BoolVar(&o.includeParent, "include-parents", false, "move their parents too")
	commands := []*cobra.Command{remove, move,
		stateCommand(a, o, "rename [URN [NAME]]", "Give a resource another name", stateRename),
		all(stateCommand(a, o, "protect [URN]...", "Protect resources from being deleted",
			stateMark("protect", "protected", protection, true))),
		all(stateCommand(a, o, "unprotect [URN]...", "Allow resources to be deleted",
			stateMark("unprotect", "no longer protected", protection, false))),
		all(stateCommand(a, o, "taint [URN]...", "Have resources replaced by the next update",
			stateMark("taint", "tainted", taint, true))),
		all(stateCommand(a, o, "untaint [URN]...", "Undo `taint`: have resources no longer replaced",
			stateMark("untaint", "no longer tainted", taint, false))),
	}
	for _, cmd := range commands {
		cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
		cmd.Flags().BoolVarP(&o.yes, "yes", "y", a.World.Enabled("PULUMI_SKIP_CONFIRMATIONS"), "do not ask")
	}
	return commands
}

// An editCommand is the body of a command that edits a state; args name resources.
type editCommand func(ctx context.Context, a *console.Console, o *stateEditOptions, args []string) error

// stateCommand returns a subcommand of `state` whose body is run.
func stateCommand(a *console.Console, o *stateEditOptions, use, short string, run editCommand) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), a, o, args) }}
}

// editState edits the chosen stack's state. Secrets stay sealed, so that no passphrase is needed (F4.16). The edit is a
// pure function of the state, which the backend calls under its lock.
func editState(ctx context.Context, a *console.Console, o *stateEditOptions, command, question string,
	edit func(*state.Snapshot) (*state.Snapshot, error)) error {
	s, err := a.Stacks().Current(ctx, o.stack)
	if err != nil {
		return err
	}
	// Without a terminal nothing is asked: such commands stand in scripts of the Pulumi CLI, without --yes.
	if question != "" && !o.yes && a.Interactive() {
		if err := a.Prompt().Confirm(question); err != nil {
			return err
		}
	}
	begin := backend.BeginOptions{Command: command}
	return s.Backend.Edit(ctx, s.Ref, begin, func(base *state.Snapshot) (*state.Snapshot, error) {
		// A nil result with an error leaves the state as it was.
		next, err := edit(base)
		return next, withNear(err, base)
	})
}

// withNear adds a similar URN to an error about a missing resource.
func withNear(err error, s *state.Snapshot) error {
	var missing *state.MissingError
	if !errors.As(err, &missing) {
		return err
	}
	names := make([]string, len(s.Resources))
	for i, r := range s.Resources {
		names[i] = string(r.URN)
	}
	if near := diag.DidYouMean(string(missing.URN), names); near != "" {
		return fmt.Errorf("%w%s", err, near)
	}
	return fmt.Errorf("%w; `yamlhost stack --show-urns` lists what there is", err)
}

// find returns the URNs of the resources that a user names by URNs, names and globs, each once, and writes to w those
// that were not named by their URNs. It writes what a name or a glob stands for because nobody can take an edit back by
// looking at the command; nothing if one of the texts stands for nothing, as then nothing is edited.
func find(w io.Writer, s *state.Snapshot, texts []string) ([]urn.URN, error) {
	all, names := make([]urn.URN, len(s.Resources)), make([]string, len(s.Resources))
	for i, r := range s.Resources {
		all[i], names[i] = r.URN, r.URN.Name()
	}
	var found, told []urn.URN
	for _, text := range texts {
		p, err := urn.ParsePattern(text)
		if err != nil {
			return nil, console.WithCode(console.CodeBadUsage, "%w; `yamlhost stack --show-urns` lists the URNs of the stack",
				err)
		}
		// Whether it exists is found out by the edit, which knows the state under the lock.
		if u := p.Exact(); u != "" { // one that is missing has an error of its own
			found = append(found, u)
			continue
		}
		some, err := p.Select(all)
		if err == nil && len(some) == 0 {
			err = fmt.Errorf("no resource of the stack is named %q", text)
			if p.Glob() {
				err = fmt.Errorf("no resource of the stack matches %q", text)
			}
			if near := diag.DidYouMean(text, names); near != "" && !p.Glob() {
				err = fmt.Errorf("%w%s", err, near)
			} else {
				err = fmt.Errorf("%w; `yamlhost stack --show-urns` lists what there is", err)
			}
		}
		if err != nil {
			return nil, err
		}
		told = append(told, some...)
	}
	for _, u := range told {
		fmt.Fprintf(w, "  %s\n", u)
	}
	found = append(found, told...)
	// A resource may be meant twice, by its name and by a glob.
	slices.Sort(found)
	return slices.Compact(found), nil
}

// named returns arguments that name resources; none with --all. If none are given, a person on a terminal chooses one
// of those that may be meant, whose URN is written to w; what says what the command does with it. The state is loaded
// once more for the choice, without the lock: find looks the answer up in the state that is edited.
func (o *stateEditOptions) named(ctx context.Context, a *console.Console, w io.Writer, args []string, what string,
	may func(*state.Resource) bool) ([]string, error) {
	switch {
	case o.all && len(args) > 0:
		return nil, console.WithCode(console.CodeBadUsage, "name resources or use --all, not both")
	case o.all || len(args) > 0:
		return args, nil
	// Nobody can be asked, and no resource is a default.
	case !a.Interactive():
		return nil, errNoURN
	}
	s, err := a.Stacks().OfAnyProject(ctx, cmp.Or(o.source, o.stack))
	if err != nil {
		return nil, err
	}
	loaded, err := a.Stacks().Load(ctx, s, false)
	if err != nil {
		return nil, err
	}
	m, urns := view.Menu{Question: "resource to " + what, At: -1}, []string(nil)
	for _, i := range view.ProgramOrder(loaded.Snapshot.Resources) {
		r := loaded.Snapshot.Resources[i]
		if r.Delete || !may(r) {
			continue
		}
		item := view.MenuItem{Name: r.URN.Name(), Note: schema.CollapseToken(r.Type)}
		// Two components may have children of one name.
		if r.Parent != "" && r.Parent.QualifiedType() != urn.RootStackType {
			item.Note += " in " + r.Parent.Name()
		}
		m.Items, urns = append(m.Items, item), append(urns, string(r.URN))
	}
	if len(urns) == 0 {
		return nil, fmt.Errorf("stack %s has no resource to %s", s.Ref.Stack, what)
	}
	i, _, err := a.Prompt().Choose(m)
	switch {
	case errors.Is(err, io.EOF):
		return nil, errNoURN
	case err != nil:
		return nil, err
	}
	fmt.Fprintf(w, "  %s\n", urns[i])
	return urns[i : i+1], nil
}

// errNoURN is the error of a command that nobody can ask for a resource.
var errNoURN = console.WithCode(console.CodeBadUsage,
	"missing URN; `yamlhost stack --show-urns` lists the URNs of the stack")

// own reports whether a program has declared a resource itself: it is neither the stack nor a default provider.
func own(r *state.Resource) bool {
	return r.URN.QualifiedType() != urn.RootStackType && !r.URN.IsDefaultProvider()
}

// stateDelete forgets resources. With --all nothing that is left can refer to them, so that no dependants are asked
// for.
func stateDelete(ctx context.Context, a *console.Console, o *stateEditOptions, args []string) error {
	args, err := o.named(ctx, a, a.Streams.Err, args, "delete from the state",
		func(*state.Resource) bool { return true })
	if err != nil {
		return err
	}
	var removed []urn.URN
	err = editState(ctx, a, o, "state delete",
		"This removes resources from the state; they will no longer be managed. Go on?",
		func(s *state.Snapshot) (*state.Snapshot, error) {
			urns, err := find(a.Streams.Err, s, args)
			if err != nil {
				return nil, err
			}
			// find returns nothing for no arguments, so all are added here.
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
		fmt.Fprintf(a.Streams.Err, "%s removed from the state\n", diag.Count(len(removed), "resource"))
	}
	return err
}

// adviseDelete adds the solution to an error about a resource that cannot be removed.
func adviseDelete(err error) error {
	var protected *state.ProtectedError
	var used *state.InUseError
	switch {
	case errors.As(err, &protected):
		return fmt.Errorf("%w; use --force to remove it anyway", err)
	case errors.As(err, &used):
		return fmt.Errorf("%w\nRemove those first, or all at once with --target-dependents", err)
	}
	return err
}

// stateRename gives a resource the name that the program uses by now. A name becomes a part of URNs, which have a
// separator and one line.
func stateRename(ctx context.Context, a *console.Console, o *stateEditOptions, args []string) error {
	if len(args) > 2 || len(args) < 2 && !a.Interactive() {
		return console.WithCode(console.CodeBadUsage, "state rename takes a URN and the new name")
	}
	resource, err := o.named(ctx, a, a.Streams.Err, args[:min(1, len(args))], "rename", own)
	if err != nil {
		return err
	}
	name := ""
	if len(args) == 2 {
		name = args[1]
	} else if name, err = a.Prompt().Line("new name"); err != nil {
		return err
	}
	switch {
	case name == "":
		return console.WithCode(console.CodeBadUsage, "the new name is empty")
	case !utf8.ValidString(name):
		return console.WithCode(console.CodeBadUsage, "the new name %q is not UTF-8; a state cannot keep it", name)
	// "::" separates the parts of a URN.
	case strings.Contains(name, "::"):
		return console.WithCode(console.CodeBadUsage, "%q is not a name of a resource: names have no `::`", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return console.WithCode(console.CodeBadUsage,
			"%q is not a name of a resource: names have no line breaks and no control characters", name)
	}
	var renamed urn.URN
	err = editState(ctx, a, o, "state rename",
		"The program has to use the new name too, or else the resource is replaced. Go on?",
		func(s *state.Snapshot) (*state.Snapshot, error) {
			urns, err := find(io.Discard, s, resource) // its URN is in the last line
			if err != nil {
				return nil, err
			}
			if len(urns) != 1 {
				return nil, console.WithCode(console.CodeBadUsage, "%q matches %d resources; name one", resource[0],
					len(urns))
			}
			renamed = urns[0]
			// Its name is in the URN of every resource.
			if renamed.QualifiedType() == urn.RootStackType {
				return nil, console.WithCode(console.CodeBadUsage, "the stack is renamed with `yamlhost stack rename`")
			}
			return s.Renamed(renamed, name)
		})
	if err == nil {
		fmt.Fprintf(a.Streams.Err, "%s is named %s now\n", renamed, name)
	}
	return err
}

// protection returns the mark of protect and unprotect.
func protection(r *state.Resource) *bool { return &r.Protect }

// taint returns the mark of taint and untaint.
func taint(r *state.Resource) *bool { return &r.Taint }

// stateMark returns a command that sets or clears a mark on resources, and prints how many have changed and what they
// are now. It asks nothing, as a mark changes no resource and can be taken off again. Those that have it already are
// not counted.
func stateMark(verb, what string, mark func(*state.Resource) *bool, set bool) editCommand {
	return func(ctx context.Context, a *console.Console, o *stateEditOptions, args []string) error {
		args, err := o.named(ctx, a, a.Streams.Err, args, verb,
			func(r *state.Resource) bool { return own(r) && *mark(r) != set })
		if err != nil {
			return err
		}
		n, named := 0, 0
		err = editState(ctx, a, o, "state edit", "", func(s *state.Snapshot) (*state.Snapshot, error) {
			urns, err := find(a.Streams.Err, s, args)
			if err != nil {
				return nil, err
			}
			return s.WithEach(urns, func(r *state.Resource) {
				named++
				if m := mark(r); *m != set {
					*m = set
					n++
				}
			})
		})
		switch {
		case err != nil:
			return err
		case n == 0 && set:
			fmt.Fprintf(a.Streams.Err, "nothing to do: %s already %s\n", diag.Count(named, "resource"), what)
		case n == 0:
			fmt.Fprintf(a.Streams.Err, "nothing to do: of %s none is %s\n", diag.Count(named, "resource"),
				strings.TrimPrefix(what, "no longer "))
		default:
			fmt.Fprintf(a.Streams.Err, "%s %s\n", diag.Count(n, "resource"), what)
		}
		return nil
	}
}

// stateMove moves resources between stacks. It writes the destination first: after a crash in between, the resources
// are in both states, and can be deleted from one of them.
func stateMove(ctx context.Context, a *console.Console, o *stateEditOptions, args []string) error {
	if o.dest == "" && !a.Interactive() {
		return errNoDest
	}
	if o.source == "" {
		o.source = o.stack
	}
	src, err := a.Stacks().OfAnyProject(ctx, o.source)
	if err != nil {
		return err
	}
	if o.dest == "" {
		if o.dest, err = destination(ctx, a, src); err != nil {
			return err
		}
	}
	if args, err = o.named(ctx, a, io.Discard, args, "move", own); err != nil {
		return err
	}
	// The destination may be of a project that is not here.
	dst, err := a.Stacks().OfAnyProject(ctx, o.dest)
	if err != nil {
		return err
	}
	if src.Ref == dst.Ref {
		return console.WithCode(console.CodeBadUsage, "source and destination are the same stack")
	}
	if !o.yes && a.Interactive() {
		if err := a.Prompt().Confirm(fmt.Sprintf("Move %s from %s to %s?", strings.Join(args, ", "), shown(src.Ref, dst.Ref),
			shown(dst.Ref, src.Ref))); err != nil {
			return err
		}
	}
	moved, err := moveBetween(ctx, a, src, dst, args, state.Move{IncludeParents: o.includeParent,
		Project: dst.Ref.Project, Stack: dst.Ref.Stack})
	if err != nil {
		return err
	}
	for _, u := range moved.Resources {
		fmt.Fprintf(a.Streams.Err, "  moved: %s\n", u)
	}
	for _, text := range moved.Broken {
		fmt.Fprintf(a.Streams.Err, "  warning: %s\n", text)
	}
	fmt.Fprintf(a.Streams.Err, "%s moved from %s to %s\n", diag.Count(len(moved.Resources), "resource"),
		shown(src.Ref, dst.Ref), shown(dst.Ref, src.Ref))
	return nil
}

// errNoDest is the error of a move without a destination that nobody can be asked for.
var errNoDest = console.WithCode(console.CodeBadUsage, "missing --dest, the stack to move to")

// destination has a person choose the stack to which resources of src move: the other stacks of its project come first,
// then those of other projects.
func destination(ctx context.Context, a *console.Console, src *console.Stack) (string, error) {
	refs, err := src.Backend.Stacks(ctx, "")
	if err != nil {
		return "", err
	}
	// A move within a project is the usual one.
	own, others := []backend.Ref(nil), []backend.Ref(nil)
	for _, r := range refs {
		switch {
		case r == src.Ref:
		case r.Project == src.Ref.Project:
			own = append(own, r)
		default:
			others = append(others, r)
		}
	}
	if refs = slices.Concat(own, others); len(refs) == 0 {
		return "", errors.New("there is no other stack to move to; `yamlhost stack init NAME` creates one")
	}
	m := view.Menu{Question: "stack to move to", At: -1}
	for _, r := range refs {
		m.Items = append(m.Items, view.MenuItem{Name: shown(r, src.Ref)})
	}
	i, _, err := a.Prompt().Choose(m)
	switch {
	case errors.Is(err, io.EOF):
		return "", errNoDest
	case err != nil:
		return "", err
	}
	return refs[i].QualifiedName(), nil
}

// shown returns the name of a stack beside another one: with its project if that has another.
func shown(r, other backend.Ref) string {
	if r.Project == other.Project {
		return r.Stack
	}
	return r.Project + "/" + r.Stack
}

// moveBetween holds the locks of both stacks at once: the edit of the destination runs inside of that of the source,
// whose new state is written only when the other one has been.
func moveBetween(ctx context.Context, a *console.Console, src, dst *console.Stack, args []string,
	move state.Move) (moved *state.Moved, err error) {
	begin := func(s *console.Stack) (backend.BeginOptions, error) {
		manager, err := a.Stacks().Manager(s)
		if err != nil {
			return backend.BeginOptions{}, err
		}
		return backend.BeginOptions{Command: "state move", Secrets: manager, Open: manager.Opener}, nil
	}
	// Both managers are needed before any lock is taken: one of them may ask for a passphrase.
	source, err := begin(src)
	if err != nil {
		return nil, err
	}
	target, err := begin(dst)
	if err != nil {
		return nil, err
	}
	err = src.Backend.Edit(ctx, src.Ref, source, func(base *state.Snapshot) (*state.Snapshot, error) {
		var err error
		// The names are looked up in the state that is edited, under its lock.
		if move.URNs, err = find(io.Discard, base, args); err != nil {
			return nil, err
		}
		err = dst.Backend.Edit(ctx, dst.Ref, target, func(there *state.Snapshot) (*state.Snapshot, error) {
			var err error
			if moved, err = move.Apply(base, there); err != nil {
				return nil, withNear(err, base)
			}
			return moved.Target, nil
		})
		if err != nil {
			return nil, err
		}
		// Only here, after the destination has been written, does the source lose the resources.
		return moved.Source, nil
	})
	return moved, err
}
