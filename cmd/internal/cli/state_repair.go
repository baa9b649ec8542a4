package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
)

type stateOptions struct {
	stack string
	yes   bool
}

func newStateVerify(a *app, run func(context.Context, *stateOptions) error) *cobra.Command {
	o := &stateOptions{}
	cmd := &cobra.Command{
		Use: "verify", Short: "Check everything that must hold of a state", Args: noArguments,
		Long: "verify reads a stack's state, with what a cut-off run has journaled, and names each rule that it breaks and each operation\n" +
			"of which nobody knows how it ended. It changes nothing. The exit code is 1 if a rule is broken.",
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o) },
	}
	cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	return cmd
}

func newStateRepair(a *app, run func(context.Context, *stateOptions) error) *cobra.Command {
	o := &stateOptions{}
	cmd := &cobra.Command{
		Use: "repair", Short: "Put right what can be put right in a state that is not sound", Args: noArguments,
		Long: "repair shows what it would do to a state that breaks rules, asks, and does it: it puts resources in order, drops references\n" +
			"to what is not there and entries that say the same twice. It never drops the only trace of something that exists; what\n" +
			"would need that is named instead. The state as it was stays beside the new one, as .bak.",
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o) },
	}
	cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", a.world.envTrue("PULUMI_SKIP_CONFIRMATIONS"), "do not ask")
	return cmd
}

// stateVerify names the faults of a state.
func (a *app) stateVerify(ctx context.Context, o *stateOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	loaded, err := s.backend.Load(ctx, s.ref, nil)
	if err != nil {
		return err
	}
	out := a.streams.Out
	if r := loaded.Recovered; r != nil {
		switch {
		case r.Known:
			fmt.Fprintf(out, "a journal of an earlier %s was left behind; all that it tells of is in the state\n", r.Header.Command)
		case r.Foreign:
			fmt.Fprintf(out, "a journal of an earlier %s does not fit the state; the next run puts it aside\n", r.Header.Command)
		default:
			fmt.Fprintf(out, "an earlier %s was cut off or is under way; %s in its journal\n", r.Header.Command, count(r.Entries, "record"))
		}
	}
	for _, op := range loaded.Snapshot.Pending {
		fmt.Fprintf(out, "pending: %s %s\n", op.Kind, op.Resource.URN)
	}
	faults := loaded.Snapshot.Faults()
	a.listFaults(faults)
	if len(faults) > 0 {
		return withCode(codeError, "the state breaks %s; `yamlhost state repair` shows what can be done", count(len(faults), "rule"))
	}
	fmt.Fprintf(out, "The state of %s is sound: %s.\n", s.ref.Stack, count(len(loaded.Snapshot.Resources), "resource"))
	return nil
}

func (a *app) listFaults(faults []*state.IntegrityError) {
	for _, f := range faults {
		fmt.Fprintf(a.streams.Out, "%s %s: %s\n", f.Rule, nameOf(string(f.URN)), f.Problem)
	}
}

func nameOf(urn string) string {
	if urn == "" {
		return "the state"
	}
	return urn
}

// stateRepair shows what can be put right, and does it.
func (a *app) stateRepair(ctx context.Context, o *stateOptions) (err error) {
	s, err := a.currentStack(ctx, o.stack)
	var missing *missingStackError
	if errors.As(err, &missing) && missing.lost != nil {
		return a.restoreLost(ctx, missing.lost, o)
	}
	if err != nil {
		return err
	}
	session, err := s.backend.Begin(ctx, s.ref, backend.BeginOptions{Command: "repair", SkipIntegrity: true})
	var damaged *backend.CorruptError
	if errors.As(err, &damaged) && damaged.Previous != nil {
		return a.restorePrevious(ctx, s, o, damaged)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	next, done, left := session.Base().Repaired()
	if len(done) == 0 && len(left) == 0 {
		fmt.Fprintln(a.streams.Out, "The state is sound; there is nothing to repair.")
		return nil
	}
	for _, r := range done {
		fmt.Fprintf(a.streams.Out, "%s: %s\n", nameOf(string(r.URN)), r.What)
	}
	a.listFaults(left)
	if len(left) > 0 {
		return withCode(codeError, "%s cannot be put right without losing sight of something that may exist; nothing was changed.\n"+
			"Decide about each: `yamlhost stack export`, edit, and `yamlhost stack import --force`", count(len(left), "fault"))
	}
	if !o.yes {
		if !a.interactive() {
			return withCode(codeUsage, "--yes must be passed in to repair a state when running in non-interactive mode; nothing was changed")
		}
		if err := a.confirm("Do you want to repair the state in this way?"); err != nil {
			return err
		}
	}
	if err := session.Commit(ctx, next, nil); err != nil {
		return err
	}
	fmt.Fprintln(a.streams.Err, "The state is sound now. What it was is kept as .bak beside it.")
	return nil
}

// restorePrevious offers a copy of the state for one that cannot be read at all.
func (a *app) restorePrevious(ctx context.Context, s *stack, o *stateOptions, damaged *backend.CorruptError) error {
	fmt.Fprintf(a.streams.Out, "%s cannot be read: %v\n", a.short(damaged.Path), damaged.Err)
	aside, err := a.putBack(ctx, s, o, damaged.Previous)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.streams.Err, "It is the state now; the damaged one is kept as %s.\nWhat may have changed since is not in it: look with `yamlhost refresh`.\n", a.short(aside))
	return nil
}

// restoreLost offers a copy of the state for one that is not there any more.
func (a *app) restoreLost(ctx context.Context, lost *backend.LostError, o *stateOptions) error {
	p, b, err := a.projectAndBackend()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.streams.Out, "The state of %s is gone.\n", lost.Ref.Stack)
	if _, err := a.putBack(ctx, &stack{project: p, backend: b, ref: lost.Ref}, o, lost.Previous); err != nil {
		return err
	}
	fmt.Fprintln(a.streams.Err, "It is the state now.\nWhat may have changed since is not in it: look with `yamlhost refresh`.")
	return nil
}

// putBack makes a copy the state, when that is wanted.
func (a *app) putBack(ctx context.Context, s *stack, o *stateOptions, p *backend.Previous) (aside string, err error) {
	fmt.Fprintf(a.streams.Out, "There is a sound copy of the state: %s, of %s, with %s.\n",
		a.short(p.Path), p.Written.Format(time.RFC3339), count(p.Resources, "resource"))
	if !o.yes {
		if !a.interactive() {
			return "", withCode(codeUsage, "--yes must be passed in to put it back when running in non-interactive mode; nothing was changed")
		}
		if err := a.confirm("Do you want to put it back?"); err != nil {
			return "", err
		}
	}
	return s.backend.Restore(ctx, s.ref)
}

// adviseRepair adds the way out to the error of a state that is not sound.
func adviseRepair(err error) error {
	var unsound *state.IntegrityError
	if errors.As(err, &unsound) {
		return fmt.Errorf("%w\n`yamlhost state repair` shows what can be done about it", err)
	}
	return err
}

// warnOfOrder tells that a state was put in order.
func (a *app) warnOfOrder(session *backend.Session) {
	for _, u := range session.Moved() {
		fmt.Fprintf(a.streams.Err, "warning: in the state, %s came after what depends on it; it was moved\n", u)
	}
}
