package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// stateOptions are the flags of `state repair`.
type stateOptions struct {
	stack string
	yes   bool
	// previous allows restoring the newest intact copy of a state that cannot be repaired.
	previous bool
}

// newStateVerify returns the command state verify.
func newStateVerify(a *console.Console) *cobra.Command {
	stack := ""
	cmd := &cobra.Command{
		Use: "verify", Short: "Check every rule that a state must follow", Args: console.NoArguments,
		Long: "verify reads a stack's state and the journal of an interrupted run. It lists each rule that the " +
			"state breaks and each operation whose outcome is not known. It changes nothing. The exit code is " +
			"1 if a rule is broken.",
		RunE: func(cmd *cobra.Command, _ []string) error { return stateVerify(cmd.Context(), a, stack) },
	}
	cmd.Flags().StringVarP(&stack, "stack", "s", "", "the stack; by default the selected one")
	return cmd
}

// newStateRepair returns the command state repair.
func newStateRepair(a *console.Console) *cobra.Command {
	o := &stateOptions{}
	cmd := &cobra.Command{
		Use: "repair", Short: "Repair a state that breaks rules", Args: console.NoArguments,
		Long: "repair shows its corrections to a state that breaks rules, asks, and makes them. It sorts " +
			"resources into order, removes references to resources that are not in the state, and removes " +
			"duplicate entries. It never removes the only record of an existing resource: it lists such faults " +
			"instead. The previous state is kept beside the new one, as .bak.",
		RunE: func(cmd *cobra.Command, _ []string) error { return stateRepair(cmd.Context(), a, o) },
	}
	cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", a.World.Enabled("PULUMI_SKIP_CONFIRMATIONS"), "do not ask")
	cmd.Flags().BoolVar(&o.previous, "previous", false,
		"restore the newest sound copy of a state that cannot be repaired, was changed by hand, or has an unknown version")
	return cmd
}

// stateVerify reports the errors in a state.
func stateVerify(ctx context.Context, a *console.Console, stack string) error {
	s, err := a.Stacks().Current(ctx, stack)
	if err != nil {
		return err
	}
	// Load follows the journal of an interrupted run in memory and writes nothing.
	loaded, err := s.Backend.Load(ctx, s.Ref, nil)
	if err != nil {
		return err
	}
	out := a.Streams.Out
	if len(loaded.Held) > 0 {
		// A run that holds the lock has left nothing behind: its journal and pending operations are work in progress.
		fmt.Fprintf(out, "the stack is locked by %s; its changes so far are checked\n", operation.HolderOf(loaded.Held))
	}
	if r := loaded.Recovered; r != nil {
		switch {
		case len(loaded.Held) > 0:
		// The run wrote its state and was killed before it could remove the journal.
		case r.Known:
			fmt.Fprintf(out, "an earlier %s left a journal behind; the state already has everything in it\n",
				r.Header.Command)
		case r.Foreign:
			fmt.Fprintf(out, "a journal of an earlier %s does not fit the state; the next run sets it aside\n", r.Header.Command)
		default:
			fmt.Fprintf(out, "an earlier %s was interrupted; %s in its journal\n", r.Header.Command,
				diag.Count(r.Entries, "record"))
		}
	}
	if text := operation.AtWork(loaded.Recovered); text != "" && len(loaded.Held) == 0 {
		fmt.Fprintln(out, text)
	}
	for _, text := range operation.DamageOf(loaded.Recovered) {
		fmt.Fprintln(out, text)
	}
	past, err := backend.PastOf(s.Backend, s.Ref)
	if err != nil {
		return err
	}
	torn, err := past.Torn(loaded.Snapshot)
	if err != nil {
		return err
	}
	listTorn(a, torn)
	// A lock that is held tells what goes on from what was cut off.
	doing := "pending"
	if len(loaded.Held) > 0 {
		doing = "under way"
	}
	for _, op := range loaded.Snapshot.Pending {
		fmt.Fprintf(out, "%s: %s %s\n", doing, op.Kind, op.Resource.URN)
	}
	if loaded.Altered {
		fmt.Fprintln(out, operation.AlteredText)
	}
	faults := loaded.Snapshot.Faults()
	listFaults(a, faults)
	// Objects without a record are worse than a broken rule: nothing will ever delete them.
	if len(torn) > 0 {
		return console.WithCode(console.CodeError,
			"resources that an earlier run made are not in the state; `yamlhost state repair` shows what can be done")
	}
	if len(faults) > 0 {
		return console.WithCode(console.CodeError, "the state breaks %s; `yamlhost state repair` shows what can be done",
			diag.Count(len(faults), "rule"))
	}
	fmt.Fprintf(out, "The state of %s is sound: %s.\n", s.Ref.Stack, diag.Count(len(loaded.Snapshot.Resources),
		"resource"))
	return nil
}

// listFaults prints the rules that a state breaks, with the resource that breaks each.
func listFaults(a *console.Console, faults []*state.IntegrityError) {
	for _, f := range faults {
		fmt.Fprintf(a.Streams.Out, "%s %s: %s\n", f.Rule, cmp.Or(string(f.URN), "the state"), f.Problem)
	}
}

// stateRepair shows possible repairs of a state and makes them. What stands in the way is taken up in the order in
// which it would stop the next step: a missing state, a damaged journal, a state that cannot be read, and then broken
// rules.
func stateRepair(ctx context.Context, a *console.Console, o *stateOptions) (err error) {
	s, err := a.Stacks().Current(ctx, o.stack)
	if missing, ok := errors.AsType[*console.MissingStackError](err); ok && missing.Lost != nil {
		return restoreLost(ctx, a, missing.Lost, o)
	}
	if err != nil {
		return err
	}
	// Begin refuses a state that breaks rules, which is what is to be repaired here.
	begin := backend.BeginOptions{Command: "repair", SkipIntegrity: true}
	session, err := s.Backend.Begin(ctx, s.Ref, begin)
	if half, ok := errors.AsType[*backend.DamagedJournalError](err); ok {
		if err := confirmSalvage(a, half, o); err != nil {
			return err
		}
		// Begin is repeated, as it let go of the lock with its error.
		begin.Salvage = true
		session, err = s.Backend.Begin(ctx, s.Ref, begin)
	}
	if damaged, ok := errors.AsType[*backend.CorruptError](err); ok && damaged.Previous != nil &&
		(o.previous || !damaged.Unknown()) {
		fmt.Fprintf(a.Streams.Out, "%s cannot be read: %v\n", a.Short(damaged.Path), damaged.Err)
		return putBack(ctx, a, s, o, damaged.Previous, "the damaged one")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	for _, text := range operation.DamageOf(session.Recovered()) {
		fmt.Fprintln(a.Streams.Out, text)
	}
	past, err := backend.PastOf(s.Backend, s.Ref)
	if err != nil {
		return err
	}
	torn, err := past.Torn(session.Base())
	if err != nil {
		return err
	}
	listTorn(a, torn)
	// Torn records come first: they may break rules, which Repaired then mends.
	base, taken := withTorn(session.Base(), torn)
	next, done, left := base.Repaired()
	if taken > 0 && len(done) == 0 {
		done = []state.Repair{{What: diag.Count(taken, "record") + " of what was set aside: back in the state"}}
	}
	if len(torn) > 0 && taken == 0 && len(done) == 0 && len(left) == 0 {
		return console.WithCode(console.CodeError,
			"the state is sound, but has another object of the same name. Delete one by hand, or import it with "+
				"`yamlhost import`, and then delete the file that was set aside")
	}
	// A state that was changed by hand is sound in itself, and is only replaced on request.
	altered := session.Altered() && o.previous
	if len(done) == 0 && len(left) == 0 && !altered {
		fmt.Fprintln(a.Streams.Out, "The state is sound; there is nothing to repair.")
		return nil
	}
	for _, r := range done {
		fmt.Fprintf(a.Streams.Out, "%s: %s\n", cmp.Or(string(r.URN), "the state"), r.What)
	}
	listFaults(a, left)
	if (len(left) > 0 || altered) && o.previous {
		// putBack takes the lock itself.
		if err := session.Close(); err != nil {
			return err
		}
		p := past.Previous()
		if p == nil {
			return console.WithCode(console.CodeError, "there is no sound copy of the state")
		}
		return putBack(ctx, a, s, o, p, "the other one")
	}
	if p := past.Previous(); len(left) > 0 && p != nil {
		fmt.Fprintf(a.Streams.Out,
			"There is a sound copy of the state: %s, of %s, with %s; `yamlhost state repair --previous` puts it back.\n",
			a.Short(p.Path), p.Written.Format(time.RFC3339), diag.Count(p.Resources, "resource"))
	}
	// Nothing is written half: a state with rest faults would be refused by the next run anyway.
	if len(left) > 0 {
		return console.WithCode(console.CodeError,
			"%s cannot be repaired without losing the record of a resource that may exist; nothing was changed.\n"+
				"Correct each by hand: `yamlhost stack export`, edit, and `yamlhost stack import --force`",
			diag.Count(len(left), "fault"))
	}
	if err := a.Confirm(o.yes, "repair a state", "Do you want to repair the state in this way?"); err != nil {
		return err
	}
	// The session has the lock since Begin, so the state is the one that was shown.
	if err := session.Commit(ctx, next, nil); err != nil {
		return err
	}
	fmt.Fprintln(a.Streams.Err, "The state is sound now. The previous state is kept as .bak beside it.")
	return nil
}

// lacks is printed after every restored copy: `up` and `run` then refuse with exit code 10 until a refresh.
const lacks = "It lacks later changes: run `yamlhost refresh` to find them. Nothing is created before, in case that it " +
	"exists already, unless by `yamlhost up --accept-loss`."

// restoreLost offers to restore a copy of a state that is missing.
func restoreLost(ctx context.Context, a *console.Console, lost *backend.LostError, o *stateOptions) error {
	p, b, err := a.Stacks().ProjectAndBackend()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Out, "The state of %s is gone.\n", lost.Ref.Stack)
	return putBack(ctx, a, &console.Stack{Project: p, Backend: b, Ref: lost.Ref}, o, lost.Previous, "")
}

// putBack restores a copy of the state if that is wanted. damaged names the state that the copy replaces; it is empty
// if there is none. The damaged one is kept: it may have what a person can read and the copy lacks.
func putBack(ctx context.Context, a *console.Console, s *console.Stack, o *stateOptions, p *backend.Previous,
	damaged string) error {
	if p.Mended {
		fmt.Fprintf(a.Streams.Out, "The checksum tells which bit it is; with that bit corrected nothing is missing: %s.\n",
			diag.Count(p.Resources, "resource"))
	} else {
		fmt.Fprintf(a.Streams.Out, "There is a sound copy of the state: %s, of %s, with %s.\n",
			a.Short(p.Path), p.Written.Format(time.RFC3339), diag.Count(p.Resources, "resource"))
	}
	if err := a.Confirm(o.yes, "put it back", "Do you want to put it back?"); err != nil {
		return err
	}
	// Restore looks for the copy again, under its lock.
	aside, err := s.Backend.Restore(ctx, s.Ref)
	switch {
	case err != nil:
		return err
	// Nothing is missing, so no refresh is needed.
	case p.Mended:
		fmt.Fprintf(a.Streams.Err,
			"The bit is corrected; the damaged file is kept as %s. Check the disk and the memory of the machine.\n",
			a.Short(aside))
	case damaged == "":
		fmt.Fprintln(a.Streams.Err, "It is the state now.\n"+lacks)
	default:
		fmt.Fprintf(a.Streams.Err, "It is the state now; %s is kept as %s.\n%s\n", damaged, a.Short(aside), lacks)
	}
	return nil
}

// confirmSalvage shows which part of a damaged journal is readable, and asks whether to go on with that. What was in
// the rest may exist without a record, which is why a person has to decide.
func confirmSalvage(a *console.Console, half *backend.DamagedJournalError, o *stateOptions) error {
	fmt.Fprintf(a.Streams.Out, "%s: %v\n", a.Short(half.Path), half.Damage)
	fmt.Fprintf(a.Streams.Out, "%s can be read and used.\n", diag.Count(half.Damage.Entries, "record"))
	return a.Confirm(o.yes, "go on with what can be read", "Do you want to go on with what can be read?")
}

// listTorn lists the records of torn journals that the state lacks. The IDs are shown because they are all that is
// needed to import such a resource.
func listTorn(a *console.Console, torn []backend.Torn) {
	for _, t := range torn {
		fmt.Fprintf(a.Streams.Out, "%s was set aside as torn, but has sound records that the state lacks:\n",
			a.Short(t.Path))
		for _, r := range t.Made {
			fmt.Fprintf(a.Streams.Out, "  %s with the ID %s was made\n", r.URN, r.ID)
		}
		for _, op := range t.Begun {
			fmt.Fprintf(a.Streams.Out, "  %s was about to be created\n", op.Resource.URN)
		}
	}
}

// withTorn adds to a state the resources and creations in flight that it lacks, according to torn journals, and returns
// the number of added ones. It does not add a second resource of the same name: a person has to import one of them and
// delete the other by hand.
func withTorn(base *state.Snapshot, torn []backend.Torn) (*state.Snapshot, int) {
	names := map[urn.URN]bool{}
	for _, r := range base.Resources {
		names[r.URN] = true
	}
	// The base belongs to the session and is not changed.
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
