package view

import (
	"maps"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/schema"
)

// row holds the progress of one resource in this operation.
type row struct {
	urn      urn.URN
	step     *engine.Step // the latest logical step
	op       engine.Op
	planning bool
	running  int // running steps of the resource
	started  time.Time
	took     time.Duration
	ended    *engine.Step // its latest step, if that is done
	stays    bool         // a step left the resource as it is
	failed   bool
	stopped  bool   // an interrupt ended its step, or the operation ended before it
	outside  bool   // it failed outside of its steps
	gone     bool   // a refresh did not find it
	lost     bool   // deleted to be replaced, and not created again
	remains  bool   // its step is done, and then deleting the original failed
	note     string // the latest status message

	component bool     // it has no provider: a heading for its children
	at        Position // in the program's text
	seq       int      // when it came
	children  []*row
	names     siblings  // of the children
	label     string    // the name as the tree shows it
	group     *siblings // the rows with the same parent
}

// board collects events by resource, without default providers and other internal steps (E8.13).
type board struct {
	now      func() time.Time
	began    time.Time // of the operation
	rows     map[urn.URN]*row
	former   map[urn.URN]*row // the rows of replaced resources by their former URNs
	order    []*row           // in the order of arrival
	tree     tree
	messages []*engine.Message
	summary  *engine.Summary
	steps    []*engine.Step // finished logical steps, for diffs
	gone     int            // resources that a refresh did not find
	deleted  int            // how many of them the summary counts as deletions
	replaced engine.Replacements
	done     bool // the latest event has completed a replacement
	blast    BlastRadius
	stateful []string // globs of types that hold data, besides the built-in ones
	spin     int      // frame of the spinner
}

// newBoard returns an empty board. stateful are globs of types that hold data, besides the built-in ones.
func newBoard(stateful ...string) *board {
	return &board{now: time.Now, began: time.Now(), rows: map[urn.URN]*row{}, former: map[urn.URN]*row{},
		stateful: stateful}
}

// counts returns the numbers of running rows, without components, which wait for their children, and of failed ones.
func (b *board) counts() (running, failed int) {
	for _, r := range b.order {
		if r.running > 0 && !r.isStack() && !r.component {
			running++
		}
		if r.failed {
			failed++
		}
	}
	return running, failed
}

// leftOut returns the resources that the operation skipped and those that it did not start, without those to which it
// did something nevertheless: those have rows.
func (b *board) leftOut() (skipped, notStarted []urn.URN) {
	if b.summary == nil {
		return nil, nil
	}
	seen := map[urn.URN]bool{}
	rest := func(list []urn.URN) (rest []urn.URN) {
		for _, u := range list {
			if b.rows[u] == nil && !b.has(u) && !seen[u] {
				seen[u] = true
				rest = append(rest, u)
			}
		}
		return rest
	}
	skipped = rest(b.summary.Skipped)
	return skipped, rest(b.summary.NotStarted)
}

// has reports whether a resource has a row that a program has left out: it knows no parents and, of what is in a
// component, no types.
func (b *board) has(u urn.URN) bool {
	return u.QualifiedType() == u.Type() && slices.ContainsFunc(b.order, func(r *row) bool {
		return r.urn.Name() == u.Name() && (u.Type() == "" || r.urn.Type() == u.Type())
	})
}

// moved returns how many resources only got another URN.
func (b *board) moved() (n int) {
	for _, r := range b.order {
		if r.op == opMove {
			n++
		}
	}
	return n
}

// counted reports whether the engine counts the operation that a row shows.
func (b *board) counted(r *row) bool {
	if r.op == engine.OpReplace {
		return b.replaced.Replaced(formerURN(r.step))
	}
	return r.ended != nil
}

// left counts resources that the operation left as they are, by the reason.
type left map[engine.Left]int

// take counts a row, and reports whether the operation left its resource as it is.
func (l left) take(r *row) bool {
	why := r.left()
	if why != "" {
		l[why]++
	}
	return why != ""
}

// counted returns the counts in the order of the reasons.
func (l left) counted() (list []Counted) {
	for _, why := range slices.Sorted(maps.Keys(l)) {
		list = append(list, Counted{engine.OpSame, l[why], string(why)})
	}
	return list
}

// event adds an event and returns the row that it changed, if any.
func (b *board) event(e engine.Event) *row {
	b.done = b.replaced.Take(e)
	switch e := e.(type) {
	case *engine.StepStarted:
		if e.Internal {
			return nil
		}
		r := b.row(e.Step)
		if r.running == 0 {
			r.started = b.now()
		}
		r.running++
		r.planning, r.ended = e.Planning, nil
		if r.component && e.Step.New != nil { // done at once, which only its outputs tell
			r.ended = e.Step
		}
		if e.Step.Op != engine.OpReplace || !b.replaced.Deleted(formerURN(e.Step)) {
			r.take(e.Step, e.Step.Op)
		}
		return r
	case *engine.StepFinished:
		if e.Internal {
			return nil
		}
		r := b.row(e.Step)
		r.running = max(0, r.running-1)
		if e.Outputs {
			// A component is done when its outputs are registered.
			return r
		}
		r.planning, r.ended = e.Planning, e.Step
		r.took += e.Duration
		r.stays = r.stays || e.Step.Op == engine.OpSame
		s, op := e.Step, b.found(r, e)
		if b.done && s.Op != engine.OpReplace { // the replacement is shown, rather than its last half
			whole := *s
			whole.Op, op = engine.OpReplace, engine.OpReplace
			s = &whole
		}
		if s.Op == engine.OpReplace && !b.done {
			return r
		}
		r.take(s, op)
		if s.Logical() || s.Op == engine.OpRefresh {
			b.steps = append(b.steps, s)
			b.blast.Take(s, b.stateful)
		}
		return r
	case *engine.StepFailed:
		r := b.row(e.Step)
		r.running = max(0, r.running-1)
		r.failed, r.stopped = !e.Interrupted, e.Interrupted
		r.took += e.Duration
		r.remains = e.Step.Op == engine.OpDeleteReplaced && r.op != engine.OpDeleteReplaced
		b.settle(r)
		return r
	case *engine.ResourceFailed:
		if e.Step.Old == nil && e.Step.New == nil && b.has(e.Step.URN) { // a component, whose row tells more
			return nil
		}
		r := b.row(e.Step)
		r.running = max(0, r.running-1)
		r.failed, r.stopped = !e.Interrupted, e.Interrupted
		r.outside = e.Step.Op == engine.OpSame
		if r.ended != nil && r.ended.Op == engine.OpRefresh { // before a step that has not begun
			r.ended = nil
		}
		return r
	case *engine.Message:
		if e.Ephemeral {
			if r := b.rows[e.URN]; r != nil {
				r.note = e.Text
				return r
			}
			return nil
		}
		if !e.Debug {
			b.messages = append(b.messages, e)
		}
		r := b.rows[e.URN]
		if r == nil {
			return nil
		}
		if e.Severity == diag.Info {
			r.note = e.Text
		}
		return r
	case *engine.Summary:
		b.summary = e
		for _, r := range b.order {
			r.stopped = r.stopped || r.running > 0 && !r.component && !r.failed // without an event of its end
		}
		if b.replaced.Any() {
			for _, r := range b.order {
				b.settle(r)
			}
		}
	case *engine.Prelude, *engine.Finished:
	}
	return nil
}

// formerURN returns the URN of the resource that a step finds.
func formerURN(s *engine.Step) urn.URN {
	if s.Old != nil {
		return s.Old.URN
	}
	return s.URN
}

// settle makes the row of a resource that was deleted, and not created again, show that.
func (b *board) settle(r *row) {
	u := formerURN(r.step)
	switch {
	case b.replaced.Lost(u):
		r.op, r.lost = engine.OpDeleteReplaced, true
	case b.replaced.Deleted(u):
		r.op = engine.OpDelete
	}
}

// found returns the operation to show for a finished step: for a refresh, its result.
func (b *board) found(r *row, e *engine.StepFinished) engine.Op {
	s, op := e.Step, e.Op
	switch {
	case s.Op == engine.OpDelete && !s.Logical():
		return engine.OpDeleteReplaced
	case s.Op != engine.OpRefresh:
	case s.New == nil:
		r.gone = true
		b.gone++
		if e.Op == engine.OpDelete {
			b.deleted++
		}
		return opGone
	case e.Op == engine.OpRefresh && !s.Drifted,
		s.Old != nil && value.SameContent(s.Old.Inputs, s.New.Inputs) &&
			value.SameContent(s.Old.Outputs, s.New.Outputs):
		op = engine.OpSame
	}
	if op == engine.OpSame && was(s) != "" {
		return opMove
	}
	return op
}

// row returns the row of a step's resource, which it adds if there is none. The old object of a replacement, deleted in
// the end, belongs to the resource that has got another URN.
func (b *board) row(s *engine.Step) *row {
	if r := b.former[s.URN]; r != nil && (s.Op == engine.OpDeleteReplaced || s.Op == engine.OpDiscardReplaced) {
		return r
	}
	if r := b.rows[s.URN]; r != nil {
		return r
	}
	if r := b.rows[formerURN(s)]; r != nil && s.New != nil && b.replaced.Deleted(s.Old.URN) {
		return b.rename(r, s)
	}
	r := &row{urn: s.URN, op: s.Op, step: s, started: b.now()}
	r.at = positionOf(s)
	var parent urn.URN
	if state := s.About(); state != nil {
		parent, r.component = state.Parent, !state.Custom
	}
	b.rows[s.URN] = r
	if former := formerURN(s); former != s.URN {
		b.former[former] = r
	}
	b.order = append(b.order, r)
	b.tree.add(r, b.rows[parent], parent)
	return r
}

// rename gives the row of a resource that was deleted for its replacement the URN of the new object.
func (b *board) rename(r *row, s *engine.Step) *row {
	delete(b.rows, r.urn)
	b.rows[s.URN], b.former[s.Old.URN] = r, r
	r.urn, r.label = s.URN, s.URN.Name()
	r.group.add(r.label)
	return r
}

// take makes a row show a step, unless it shows a more specific one: a replacement is more specific than its halves.
func (r *row) take(s *engine.Step, op engine.Op) {
	if r.step != nil && r.step.Logical() && !s.Logical() && r.op != engine.OpSame {
		return
	}
	if s.Op == engine.OpRefresh && s.Old.Delete && r.step != nil && r.step != s && !r.step.About().Delete {
		return // what remains of a replacement
	}
	r.step, r.op = s, op
}

// shown reports whether the row is part of the final display.
func (r *row) shown(o Options) bool {
	return r.changes() || r.isStack() || o.ShowSames || o.ShowReads && r.op == engine.OpRead
}

// holdsShown reports whether anything below the row is part of the final display.
func (r *row) holdsShown(o Options) bool {
	return slices.ContainsFunc(r.children, func(child *row) bool { return child.shown(o) || child.holdsShown(o) })
}

// changes reports whether the row shows a change or a failure.
func (r *row) changes() bool {
	return r.failed || r.stopped || r.op != engine.OpSame && r.op != engine.OpRead
}

// was returns what a step's resource was before it got another URN: its name, type or parent. Empty for no other URN.
func was(s *engine.Step) string {
	if s.Old == nil || s.New == nil || s.Old.URN == s.New.URN {
		return ""
	}
	before, now := s.Old, s.New
	switch {
	case before.URN.Name() != now.URN.Name():
		return before.URN.Name()
	case before.Type != now.Type:
		return schema.CollapseToken(before.Type)
	case before.Parent == "" || before.Parent.Type() == urn.RootStackType:
		return "at the top"
	}
	return "below " + before.Parent.Name()
}

// left returns why the operation left the resource as it is, or did not create it; empty for a resource in scope.
func (r *row) left() engine.Left {
	if r.op != engine.OpSame || r.failed || r.stopped {
		return ""
	}
	return r.step.Left
}

// broken reports whether the row is a component, or the stack, with a resource that failed or was stopped.
func (r *row) broken() bool {
	return r.component && slices.ContainsFunc(r.children, func(child *row) bool {
		return child.failed || child.stopped || child.broken()
	})
}

// shortType returns the type of the row's resource as views show it.
func (r *row) shortType() string { return typeOf(r.urn) }

func typeOf(u urn.URN) string {
	if u.Type() == urn.RootStackType {
		return "stack"
	}
	return schema.CollapseToken(u.Type())
}

// isStack reports whether the row is the stack itself.
func (r *row) isStack() bool { return r.urn.Type() == urn.RootStackType }
