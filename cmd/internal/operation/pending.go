package operation

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// pendingWork holds the operations that an earlier run left in flight, and the decisions about them so far: an answer
// that the user gave for a plan also counts for the operation that follows.
type pendingWork struct {
	console  *console.Console
	out      io.Writer
	options  *Options
	document bool                // the plan is all there will be, and nobody is asked
	hide     func(string) string // takes secrets out of a text
	// resolve reads what may be there, and takes decisions about the rest.
	resolve func(ctx context.Context, base *state.Snapshot, decisions map[urn.URN]engine.Decision) (*state.Snapshot,
		[]engine.Resolution, error)

	base    *state.Snapshot             // in which they are
	reads   bool                        // without --settle-pending, IDs that follow from inputs are read
	answers map[urn.URN]engine.Decision // of a person to what became of pending creations
	retry   []urn.URN                   // pending creations to repeat
	kept    []state.Operation           // pending creations that a destruction has to leave pending
	told    bool                        // what an earlier run left in flight was told
}

// begin is the state of a session with what an earlier run left in flight resolved, in the file too.
func (w *pendingWork) begin(ctx context.Context, session *backend.Session, op Operation) (*state.Snapshot, error) {
	base := session.Base()
	next, err := w.resolveAll(ctx, base, op)
	if err != nil || next == base {
		return base, err
	}
	return next, session.ResolvePending(ctx, next)
}

// resolveAll brings a state up to date with what became of operations that an earlier run left in flight: it reads what
// was being updated or deleted, and takes a person's word for what was being created. Without that it stops, rather
// than create a second object beside an unknown one; a destruction continues and leaves it pending.
func (w *pendingWork) resolveAll(ctx context.Context, base *state.Snapshot, op Operation) (*state.Snapshot, error) {
	w.base = base
	decisions, err := pendingAnswersOf(w.options.SettlePending, engine.PendingCreations(base))
	switch {
	case err != nil:
		return nil, err
	case len(base.Pending) == 0:
		return base, nil
	case op.Kind == refreshOperation.Kind: // which reads everything
		return w.resolveForRefresh(ctx, base)
	}
	tell := !w.told
	if w.told = true; tell {
		w.tellPending(base.Pending)
	}
	var open []state.Operation
	for _, o := range engine.Undecided(base) {
		u := o.Resource.URN
		if _, said := decisions.by[u]; said {
			continue
		}
		if decision, answered := w.answers[u]; answered {
			decisions.by[u] = decision
		} else if decisions.others != nil {
			decisions.by[u] = *decisions.others
		} else if id := engine.DerivedID(base, o.Resource); id != "" && (decisions.read || w.reads && len(w.options.SettlePending) == 0) {
			decisions.by[u] = engine.Decision{ID: id, Look: true}
		} else {
			open = append(open, o)
		}
	}
	switch {
	case len(open) == 0:
	case w.document:
		fmt.Fprintln(w.out,
			"warning: the outcome of these creations is not known; `up` will ask for it (see --settle-pending)")
		return base, nil
	case !w.options.unasked && w.console.Interactive():
		if err := w.askAll(open, op); err != nil {
			return nil, err
		}
		for _, o := range open {
			decisions.by[o.Resource.URN] = w.answers[o.Resource.URN]
		}
	case op.Kind == destroyOperation.Kind:
		for _, o := range open {
			decisions.by[o.Resource.URN] = engine.Decision{Keep: true}
		}
	default:
		return nil, w.unresolved(open, "Nothing was changed.")
	}
	next, resolved, err := w.resolve(ctx, base, decisions.by)
	if err != nil {
		return nil, err
	}
	w.retry, w.kept = nil, nil
	for _, s := range resolved {
		switch s.Ending {
		case engine.EndedAgain:
			w.retry = append(w.retry, s.Resource.URN)
		case engine.EndedOpen:
			w.kept = append(w.kept, s.Operation)
		}
	}
	if tell {
		w.tellResolved(resolved)
	}
	return next, nil
}

// resolveForRefresh takes somebody's word for creations that an earlier run left open, before a refresh: those that
// happened are read under the ID that is given and taken into the state, others are forgotten or stay open (E6.42).
func (w *pendingWork) resolveForRefresh(ctx context.Context, base *state.Snapshot) (*state.Snapshot, error) {
	s := &w.options.Scope
	named := map[urn.URN]string{}
	for i := 0; i+1 < len(s.importPendingCreates); i += 2 {
		named[urn.URN(s.importPendingCreates[i])] = s.importPendingCreates[i+1]
	}
	decisions := map[urn.URN]engine.Decision{}
	var decided, open []state.Operation
	var ask []state.Operation
	undecided := map[urn.URN]bool{}
	for _, op := range engine.Undecided(base) {
		u := op.Resource.URN
		undecided[u] = true
		_, said := named[u]
		if _, answered := w.answers[u]; !said && !answered && !s.clearPendingCreates && !s.skipPendingCreates {
			ask = append(ask, op)
		}
	}
	if len(ask) > 0 && w.console.Interactive() && !w.document {
		if err := w.askAll(ask, refreshOperation); err != nil {
			return nil, err
		}
	}
	for _, op := range base.Pending {
		u := op.Resource.URN
		id, said := named[u]
		answer, answered := w.answers[u]
		switch {
		case op.Kind != state.Creating:
			continue // a refresh reads what was being changed
		case said:
			decisions[u] = engine.Decision{ID: id}
		case s.clearPendingCreates:
			decisions[u] = engine.Decision{}
		case answered:
			decisions[u] = answer
		case !s.skipPendingCreates && !undecided[u]: // it lives in the state: there is nothing to ask
		default:
			open = append(open, op)
			continue
		}
		decided = append(decided, op)
	}
	for _, op := range decided {
		delete(named, op.Resource.URN)
	}
	for u := range named {
		return nil, console.WithCode(console.CodeBadUsage,
			"--import-pending-creates: there is no interrupted creation of '%s'", u)
	}
	if len(open) > 0 && !s.skipPendingCreates {
		fmt.Fprintf(w.out,
			"warning: the outcome of %s is not known; use --import-pending-creates for those that happened, "+
				"--clear-pending-creates to forget them\n", diag.Count(len(open), "interrupted creation"))
	}
	if len(decided) == 0 {
		return base, nil
	}
	asked := *base
	asked.Pending = decided
	next, resolved, err := w.resolve(ctx, &asked, decisions)
	if err != nil {
		return nil, err
	}
	w.tellResolved(resolved)
	after := *next
	after.Pending = open
	return &after, nil
}

// SettlePendingHelp is the help of --settle-pending.
const SettlePendingHelp = "the outcome of interrupted creations: forget (nothing was created), retry (create " +
	"again with the same inputs in any case), read (the provider reads each ID that follows from the inputs: " +
	"what exists was created), or <urn>=<id> (the object with this ID was created); may be repeated"

// pendingAnswers holds the decisions of --settle-pending about pending creations: about some by URN, and about all
// others if others is set.
type pendingAnswers struct {
	by     map[urn.URN]engine.Decision
	others *engine.Decision
	read   bool // all others whose IDs follow from their inputs are read
}

// CheckSettlePending refuses values of --settle-pending that mean nothing, whatever is pending.
func CheckSettlePending(flags []string) error {
	general := ""
	for _, text := range flags {
		switch {
		case text == "forget" || text == "retry" || text == "read":
			if general != "" && general != text {
				return console.WithCode(console.CodeUsage,
					"--settle-pending takes one of forget, retry and read for all creations without an ID, not several")
			}
			general = text
		case !strings.HasPrefix(text, "urn:") || !strings.Contains(text, "="):
			return console.WithCode(console.CodeUsage, "--settle-pending takes forget, retry, read or <urn>=<id>, not %q", text)
		}
	}
	return nil
}

// pendingAnswersOf reads --settle-pending. A URN may have equals signs in it, so where it ends is found by the URNs of
// pending. A URN that is none of them is an error: were it passed over, its object would be created a second time.
func pendingAnswersOf(flags []string, pending []state.Operation) (pendingAnswers, error) {
	w := pendingAnswers{by: map[urn.URN]engine.Decision{}}
	if err := CheckSettlePending(flags); err != nil {
		return w, err
	}
	for _, text := range flags {
		switch text {
		case "read":
			w.read = true
			continue
		case "forget", "retry":
			w.others = &engine.Decision{Retry: text == "retry"}
			continue
		}
		u, id := urn.URN(""), ""
		for _, op := range pending {
			if rest, found := strings.CutPrefix(text, string(op.Resource.URN)+"="); found && len(op.Resource.URN) > len(u) {
				u, id = op.Resource.URN, rest
			}
		}
		if u == "" {
			return w, unknownPending(text, pending)
		}
		if earlier, twice := w.by[u]; twice && earlier.ID != id {
			return w, console.WithCode(console.CodeUsage, "--settle-pending gives %s two IDs, %q and %q", u, earlier.ID, id)
		}
		w.by[u] = engine.Decision{ID: id}
	}
	return w, nil
}

// unknownPending refuses a word about something that is not pending.
func unknownPending(text string, pending []state.Operation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "--settle-pending %q names no interrupted creation of an earlier run", text)
	if len(pending) == 0 {
		b.WriteString("; there is none")
	} else {
		b.WriteString("; these are open:")
		for _, op := range pending {
			fmt.Fprintf(&b, "\n  * %s", op.Resource.URN)
		}
	}
	b.WriteString("\nNothing was changed.")
	return console.WithCode(console.CodeUsage, "%s", b.String())
}
