package operation

import (
	"context"
	"fmt"
	"io"

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
		return nil, w.unresolved(open)
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
