package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

type stateOptions struct {
	stack string
	yes   bool
	// previous puts the newest sound copy in the place of a state that cannot be put right.
	previous bool
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
	cmd.Flags().BoolVar(&o.previous, "previous", false, "put the newest sound copy back instead of a state whose faults cannot be put right")
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
	for _, text := range damageOf(loaded.Recovered) {
		fmt.Fprintln(out, text)
	}
	torn, err := s.backend.Torn(s.ref, loaded.Snapshot)
	if err != nil {
		return err
	}
	a.listTorn(torn)
	for _, op := range loaded.Snapshot.Pending {
		fmt.Fprintf(out, "pending: %s %s\n", op.Kind, op.Resource.URN)
	}
	if loaded.Altered {
		fmt.Fprintln(out, alteredText)
	}
	faults := loaded.Snapshot.Faults()
	a.listFaults(faults)
	if len(torn) > 0 {
		return withCode(codeError, "what an earlier run made is not in the state; `yamlhost state repair` shows what can be done")
	}
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
	begin := backend.BeginOptions{Command: "repair", SkipIntegrity: true}
	session, err := s.backend.Begin(ctx, s.ref, begin)
	var half *backend.DamagedJournalError
	if errors.As(err, &half) {
		if err := a.confirmSalvage(half, o); err != nil {
			return err
		}
		begin.Salvage = true
		session, err = s.backend.Begin(ctx, s.ref, begin)
	}
	var damaged *backend.CorruptError
	if errors.As(err, &damaged) && damaged.Previous != nil {
		return a.restorePrevious(ctx, s, o, damaged)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	for _, text := range damageOf(session.Recovered()) {
		fmt.Fprintln(a.streams.Out, text)
	}
	torn, err := s.backend.Torn(s.ref, session.Base())
	if err != nil {
		return err
	}
	a.listTorn(torn)
	base, taken := withTorn(session.Base(), torn)
	next, done, left := base.Repaired()
	if taken > 0 && len(done) == 0 {
		done = []state.Repair{{What: count(taken, "record") + " of what was set aside: back in the state"}}
	}
	if len(torn) > 0 && taken == 0 && len(done) == 0 && len(left) == 0 {
		return withCode(codeError, "the state is sound, but has another object of the same name. Delete one by hand, or take it in with `yamlhost import`, and then delete the file that was set aside")
	}
	if len(done) == 0 && len(left) == 0 {
		fmt.Fprintln(a.streams.Out, "The state is sound; there is nothing to repair.")
		return nil
	}
	for _, r := range done {
		fmt.Fprintf(a.streams.Out, "%s: %s\n", nameOf(string(r.URN)), r.What)
	}
	a.listFaults(left)
	if len(left) > 0 && o.previous {
		if err := session.Close(); err != nil {
			return err
		}
		return a.restoreUnsound(ctx, s, o)
	}
	if p := s.backend.Previous(s.ref); len(left) > 0 && p != nil {
		fmt.Fprintf(a.streams.Out, "There is a sound copy of the state: %s, of %s, with %s; `yamlhost state repair --previous` puts it back.\n",
			a.short(p.Path), p.Written.Format(time.RFC3339), count(p.Resources, "resource"))
	}
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
	if damaged.Previous.Mended {
		fmt.Fprintf(a.streams.Err, "The bit is put right; the damaged file is kept as %s. Check the disk and the memory of the machine.\n", a.short(aside))
		return nil
	}
	fmt.Fprintf(a.streams.Err, "It is the state now; the damaged one is kept as %s.\nWhat may have changed since is not in it: look with `yamlhost refresh`.\n", a.short(aside))
	return nil
}

// restoreUnsound puts a copy in the place of a state that can be read and is not sound.
func (a *app) restoreUnsound(ctx context.Context, s *stack, o *stateOptions) error {
	p := s.backend.Previous(s.ref)
	if p == nil {
		return withCode(codeError, "there is no sound copy of the state")
	}
	aside, err := a.putBack(ctx, s, o, p)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.streams.Err, "It is the state now; the other one is kept as %s.\nWhat may have changed since is not in it: look with `yamlhost refresh`.\n", a.short(aside))
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
	if p.Mended {
		fmt.Fprintf(a.streams.Out, "The checksum says which bit it is; with that put right nothing is missing: %s.\n", count(p.Resources, "resource"))
	} else {
		fmt.Fprintf(a.streams.Out, "There is a sound copy of the state: %s, of %s, with %s.\n",
			a.short(p.Path), p.Written.Format(time.RFC3339), count(p.Resources, "resource"))
	}
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

const alteredText = "the state file is not what yamlhost wrote: somebody has edited it, or it is damaged; it is used as it is"

// warnOfOrder tells that a state was edited, or put in order.
func (a *app) warnOfOrder(altered bool, moved []urn.URN) {
	if altered {
		fmt.Fprintln(a.streams.Err, "warning: "+alteredText)
	}
	for _, u := range moved {
		fmt.Fprintf(a.streams.Err, "warning: in the state, %s came after what depends on it; it was moved\n", u)
	}
}

// damageOf tells what was wrong with a journal.
func damageOf(r *backend.Recovery) (texts []string) {
	if r == nil {
		return nil
	}
	if r.Mended > 0 {
		texts = append(texts, fmt.Sprintf("the journal of an earlier %s had %s, put right now; check the disk and the memory of the machine",
			orWord(r.Header.Command, "run"), count(r.Mended, "flipped bit")))
	}
	for _, g := range r.Gaps {
		texts = append(texts, fmt.Sprintf("the journal of an earlier %s is damaged: %d bytes from byte %d on cannot be read; "+
			"what follows them was used", orWord(r.Header.Command, "run"), g.Length, g.Offset))
	}
	for _, m := range r.Missing {
		texts = append(texts, "it is not known "+m)
	}
	if len(r.Missing) > 0 {
		texts = append(texts, "look for objects that the state does not have, and take them in with `yamlhost import`; "+
			"`yamlhost refresh` finds what changed of those that it has")
	}
	return texts
}

func orWord(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// confirmSalvage shows what is missing of a damaged journal and asks whether to go on with the rest.
func (a *app) confirmSalvage(half *backend.DamagedJournalError, o *stateOptions) error {
	fmt.Fprintf(a.streams.Out, "%s: %v\n", a.short(half.Path), half.Damage)
	fmt.Fprintf(a.streams.Out, "%s can be read and used.\n", count(half.Damage.Entries, "record"))
	if o.yes {
		return nil
	}
	if !a.interactive() {
		return withCode(codeUsage, "--yes must be passed in to go on with what can be read when running in non-interactive mode; nothing was changed")
	}
	return a.confirm("Do you want to go on with what can be read?")
}

// listTorn names what the state does not know of.
func (a *app) listTorn(torn []backend.Torn) {
	for _, t := range torn {
		fmt.Fprintf(a.streams.Out, "%s was set aside as torn, but has sound records that the state does not know of:\n", a.short(t.Path))
		for _, r := range t.Made {
			fmt.Fprintf(a.streams.Out, "  %s with the ID %s was made\n", r.URN, r.ID)
		}
		for _, op := range t.Begun {
			fmt.Fprintf(a.streams.Out, "  %s was about to be created\n", op.Resource.URN)
		}
	}
}

// withTorn is a state with what it did not know of: objects whose name it does not have, and creations under way. Two objects of
// one name are for a person to decide about: import keeps one, the other has to be deleted by hand.
func withTorn(base *state.Snapshot, torn []backend.Torn) (*state.Snapshot, int) {
	names := map[urn.URN]bool{}
	for _, r := range base.Resources {
		names[r.URN] = true
	}
	next, n := *base, 0
	next.Resources, next.Pending = slices.Clone(base.Resources), slices.Clone(base.Pending)
	for _, t := range torn {
		for _, r := range t.Made {
			if !names[r.URN] {
				next.Resources, names[r.URN] = append(next.Resources, r), true
				n++
			}
		}
		for _, op := range t.Begun {
			if !names[op.Resource.URN] {
				next.Pending, names[op.Resource.URN] = append(next.Pending, op), true
				n++
			}
		}
	}
	return &next, n
}
