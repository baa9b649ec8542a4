package operation

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// adviseRepair adds what to do to the error of an invalid state.
func adviseRepair(err error) error {
	if _, ok := errors.AsType[*state.IntegrityError](err); ok {
		return fmt.Errorf("%w\n`yamlhost state repair` shows what can be done about it", err)
	}
	return err
}

const AlteredText = "the state file has changed since yamlhost wrote it: somebody has edited it, or it is " +
	"damaged; it is used as it is, and `yamlhost state repair --previous` puts the newest sound copy back"

// warnOfOrder warns that a state was edited by hand, or that its resources were reordered.
func warnOfOrder(a *console.Console, altered bool, moved []urn.URN) {
	if altered {
		fmt.Fprintln(a.Streams.Err, "warning: "+AlteredText)
	}
	for _, u := range moved {
		fmt.Fprintf(a.Streams.Err, "warning: in the state, %s came after what depends on it; it was moved\n", u)
	}
}

// DamageOf describes the damage of a journal, one text for each fault.
func DamageOf(r *backend.Recovery) (texts []string) {
	if r == nil {
		return nil
	}
	if r.Mended > 0 {
		texts = append(texts,
			fmt.Sprintf("the journal of an earlier %s had %s, now corrected; check the disk and the memory of the machine",
				cmp.Or(r.Header.Command, "run"), diag.Count(r.Mended, "flipped bit")))
	}
	if r.Torn > 0 && !r.Foreign {
		texts = append(texts, fmt.Sprintf("the last record in the journal of an earlier %s was not written completely: what it "+
			"announces was never begun, unless the file was cut since", cmp.Or(r.Header.Command, "run")))
	}
	for _, g := range r.Gaps {
		texts = append(texts,
			fmt.Sprintf("the journal of an earlier %s is damaged: %s from byte %d on cannot be read; "+
				"the rest was used", cmp.Or(r.Header.Command, "run"), diag.Count(int(g.Length), "byte"), g.Offset))
	}
	for _, m := range r.Missing {
		texts = append(texts, "it is not known "+m)
	}
	if len(r.Missing) > 0 {
		texts = append(texts, "look for objects that the state lacks, and import them with `yamlhost import`; "+
			"`yamlhost refresh` finds changes of those that it has")
	}
	return texts
}

// HolderOf describes the run that is changing a stack.
func HolderOf(locks []backend.Lock) string {
	l := locks[0]
	text := fmt.Sprintf("%s@%s (process %d)", l.User, l.Host, l.PID)
	if l.Operation != "" {
		text = l.Operation + " of " + cmp.Or(l.User, "somebody")
	}
	switch l.Owner {
	case backend.OwnerRunning:
		text += ", which still runs"
	case backend.OwnerStopped:
		text += ", which is stopped"
	}
	return text
}

// warnOfHolder reports that a plan is made beside a run that is changing the stack.
func warnOfHolder(a *console.Console, loaded *backend.Loaded) {
	under := "; what it is doing now is not in this plan"
	if n := len(loaded.Snapshot.Pending); n > 0 {
		under = "; its " + diag.Count(n, "operation") + " under way are not in this plan"
		if n == 1 {
			under = "; its operation under way is not in this plan"
		}
	}
	fmt.Fprintf(a.Streams.Err, "warning: the stack is locked by %s%s\n", HolderOf(loaded.Held), under)
}

// AtWork describes the process of a run that lost its lock and may still be at work on what its journal has in flight;
// empty if there is none.
func AtWork(r *backend.Recovery) string {
	if r == nil || len(r.InFlight) == 0 || r.Owner == backend.OwnerGone {
		return ""
	}
	name := fmt.Sprintf("process %d on %s, which ran the earlier %s", r.Header.PID, r.Header.Host, r.Header.Command)
	switch r.Owner {
	case backend.OwnerRunning:
		return name + ", still runs: it has lost the stack and begins nothing more, but a call of a provider may be at " +
			"work. Wait until it has ended before you settle what it was doing"
	case backend.OwnerStopped:
		return fmt.Sprintf("%s, is suspended: a call of a provider may go on when it resumes. End it with 'kill -9 %d' before "+
			"you settle what it was doing", name, r.Header.PID)
	}
	return name + ", may still be at work: that cannot be checked from here. See to it that it has ended before you settle " +
		"what it was doing"
}

// warnOfRecovery reports the recovery of an interrupted earlier run (D9).
func warnOfRecovery(a *console.Console, r *backend.Recovery, resolved bool) {
	if r == nil {
		return
	}
	out := a.Streams.Err
	switch {
	case r.Known:
		fmt.Fprintf(out, "An earlier %s left a journal behind; the state already has everything in it.\n",
			r.Header.Command)
	case r.Foreign:
		fmt.Fprintf(out,
			"warning: a journal of an earlier %s does not fit the state, which another program has written "+
				"since; it was not applied\n", r.Header.Command)
	case resolved && r.Entries > 0:
		fmt.Fprintf(out, "warning: an earlier %s was interrupted; the state has its %s again\n", r.Header.Command,
			diag.Count(r.Entries, "journal record"))
	}
	if text := AtWork(r); text != "" {
		fmt.Fprintf(out, "warning: %s\n", text)
	}
	for _, text := range DamageOf(r) {
		fmt.Fprintf(out, "warning: %s\n", text)
	}
	for _, path := range r.Aside {
		fmt.Fprintf(out, "  kept for inspection: %s\n", a.Short(path))
	}
}

// lossHolds returns an error for an operation that may create existing objects, because a repair has continued with a
// part of a journal or an older copy of the state and no refresh has run since. A plan only warns.
func (p *Checked) lossHolds(document bool) error {
	op := p.op
	if op.Kind == refreshOperation.Kind || op.Kind == destroyOperation.Kind || p.options.AcceptLoss {
		return nil
	}
	loss, err := backend.LossOf(p.Stack.Backend, p.Stack.Ref)
	if err != nil || loss == nil {
		return err
	}
	text := lossText(p.Console, loss) + "\nLook for these objects, and import them with `yamlhost import`. Then run " +
		"`yamlhost refresh`, or `yamlhost up --accept-loss`"
	if document || op.Kind == ImportKind {
		fmt.Fprintf(p.Console.Streams.Err, "warning: %s\n", text)
		return nil
	}
	return console.WithCode(console.CodePending, "nothing was created, because it may exist already: %s", text)
}

// lossEnds removes the record of the loss after a refresh of the whole stack, or when the user has accepted it.
func (p *Checked) lossEnds(session *backend.Session, result *engine.Result) error {
	op, s := p.op, &p.options.Scope
	looked := op.Kind == refreshOperation.Kind && !result.Failed && !result.Canceled && !result.Terminated &&
		len(s.targets)+len(s.excludes) == 0
	accepted := p.options.AcceptLoss && op.Kind == updateOperation.Kind
	if !looked && !accepted {
		return nil
	}
	loss, err := backend.LossOf(p.Stack.Backend, p.Stack.Ref)
	if err != nil || loss == nil {
		return err
	}
	if looked {
		fmt.Fprintln(p.Console.Streams.Err, "warning: "+lossText(p.Console, loss)+
			"\nThe refresh has read what the state has; it cannot find these. `up` creates again what the state lacks.")
	}
	return session.ForgetLoss()
}

// lossText describes the loss of a repair and the known lost records.
func lossText(a *console.Console, loss *backend.Loss) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a repair of %s has ", loss.Time.Format(time.RFC3339))
	if loss.Command != "" || loss.Journal {
		fmt.Fprintf(&b, "gone on without records of the journal of an earlier %s:", cmp.Or(loss.Command, "run"))
	} else {
		b.WriteString("put an older copy of the state back:")
	}
	for _, m := range loss.Missing {
		b.WriteString("\n  it is not known " + m)
	}
	for _, path := range loss.Aside {
		b.WriteString("\n  kept for inspection: " + a.Short(path))
	}
	return b.String()
}
