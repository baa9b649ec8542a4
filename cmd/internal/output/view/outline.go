package view

import (
	"iter"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Outline gathers the events of one operation for reports: the same tree, words and changes that the views show. It is
// not safe for concurrent use.
type Outline struct{ report }

// NewOutline makes an empty outline. Of the options, those about terminals do not count. Secrets are hidden by m.
func NewOutline(o Options, m *mask.Masker) *Outline {
	o.Diff, o.Color, o.Width, o.ShowSecrets = true, false, 0, false
	return &Outline{report{o: o, mask: m, board: newBoard(o.Stateful...)}}
}

// Event takes an event in.
func (l *Outline) Event(e engine.Event) { l.board.event(e) }

// Title names the operation, such as Previewing update.
func (l *Outline) Title() string { return l.o.Operation }

// Stack returns the stack's name.
func (l *Outline) Stack() string { return l.o.Stack }

// Summary returns the engine's summary at the end; nil before it.
func (l *Outline) Summary() *engine.Summary { return l.board.summary }

// Blast returns what the operation destroys.
func (l *Outline) Blast() *BlastRadius { return &l.board.blast }

// Outcome is how far a resource got.
type Outcome uint8

// The outcomes. A planned resource was only looked at; an interrupted one was being worked on when everything ended; a
// skipped one was not begun, because of earlier errors.
const (
	Planned Outcome = iota
	Done
	Failed
	Interrupted
	Skipped
)

// outcome returns how far the row's resource got before the operation ended, as a value and in words. A component whose
// outputs were never registered is as done as its children.
func (r *row) outcome() (Outcome, string) {
	style := opStyles[r.op]
	switch {
	case r.failed && r.planning:
		return Failed, style.planned + " failed"
	case r.failed:
		return Failed, style.running + " failed"
	case r.running > 0 && !r.component:
		return Interrupted, "interrupted while " + style.running
	case r.planning:
		return Planned, style.planned
	}
	return Done, style.done
}

// Resource is a resource of an outline.
type Resource struct {
	URN       urn.URN
	Depth     int // below the top of the tree
	Component bool
	Op        engine.Op
	Sign      string // in front of a line, such as + or +-
	Words     string // what became of it, or what is planned
	Outcome   Outcome
	Changes   []string // property changes, a line each, masked
	Needs     []urn.URN
	Took      time.Duration
	Place     diag.Range // of its name in the program; zero when it is not known
}

// Changed reports whether the resource is anything but as it was.
func (r *Resource) Changed() bool {
	return r.Outcome >= Failed || r.Op != engine.OpSame && r.Op != engine.OpRead
}

// IsStack reports whether this is the stack itself.
func (r *Resource) IsStack() bool { return r.URN.Type() == urn.RootStackType }

// Changed returns the resources of a list that are anything but as they were, without the stack.
func Changed(list []Resource) iter.Seq[*Resource] {
	return func(yield func(*Resource) bool) {
		for i := range list {
			if item := &list[i]; item.Changed() && !item.IsStack() && !yield(item) {
				return
			}
		}
	}
}

// Resources returns all resources in the order of the tree, and then those that were skipped.
func (l *Outline) Resources() []Resource { return l.resources(l.resource) }

// Outcomes are Resources without more about each than its name, what was done with it and how far it got.
func (l *Outline) Outcomes() []Resource { return l.resources(outcomeOf) }

func (l *Outline) resources(build func(r *row, depth int) Resource) []Resource {
	var list []Resource
	b := l.board
	b.tree.walk(func(r *row, depth int) { list = append(list, build(r, depth)) })
	if b.summary != nil {
		for _, u := range b.summary.Skipped {
			known := b.rows[u] != nil || u.Type() == "" && slices.ContainsFunc(b.order, func(r *row) bool {
				return r.urn.Name() == u.Name()
			})
			if !known {
				list = append(list, Resource{URN: u, Op: engine.OpSame, Sign: " ", Words: "skipped", Outcome: Skipped})
			}
		}
	}
	return list
}

// outcomeOf returns what Outcomes has of one resource.
func outcomeOf(r *row, depth int) Resource {
	item := Resource{URN: r.urn, Depth: depth, Component: r.component, Op: r.op, Sign: opStyles[r.op].sign, Took: r.took}
	item.Outcome, item.Words = r.outcome()
	return item
}

func (l *Outline) resource(r *row, depth int) Resource {
	item := outcomeOf(r, depth)
	if state := r.step.About(); state != nil {
		item.Needs = slices.Clone(state.Dependencies)
		if state.Parent != "" && state.Parent.Type() != urn.RootStackType {
			item.Needs = append(item.Needs, state.Parent)
		}
		item.Place = l.place(state.SourcePosition, diag.Position{})
	}
	item.Changes = changeLines(r.step, palette{}, l.mask, l.o)
	return item
}

// Finding is a warning or an error of an operation, with the resource that it is about.
type Finding struct {
	URN urn.URN // empty for one about the whole operation
	diag.Diagnostic
}

// Findings returns the warnings and errors, in the order in which they came.
func (l *Outline) Findings() []Finding {
	var list []Finding
	for _, m := range l.board.messages {
		if m.Severity != diag.Info && !isVerdict(m) {
			list = append(list, Finding{m.URN, l.finding(m)})
		}
	}
	return list
}

// Counted is one number of a summary with its words, such as 3 "to create".
type Counted struct {
	Op    engine.Op
	N     int
	Words string
}

// PlannedWords returns the sign and the words of an operation that is planned.
func PlannedWords(op engine.Op) (sign, words string) {
	style := opStyles[op]
	return style.sign, style.planned
}
