package view

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Outline collects the events of one operation for reports, with the same tree, words and changes as the views. It is
// not safe for concurrent use.
type Outline struct {
	report
	explained int // resources that have their causes
}

// mostExplained is how many resources of an outline have their causes.
const mostExplained = 500

// NewOutline returns an empty outline. It ignores options about terminals. m masks secrets.
func NewOutline(o Options, m *mask.Masker) *Outline {
	o.Diff, o.Color, o.Width, o.ShowSecrets = true, false, 0, false
	return &Outline{report: report{o: o, mask: m, board: newBoard(o.Stateful...)}}
}

// Event adds an event.
func (l *Outline) Event(e engine.Event) { l.board.event(e) }

// Title returns the name of the operation, such as Previewing update.
func (l *Outline) Title() string { return l.o.Operation }

// Stack returns the stack's name.
func (l *Outline) Stack() string { return l.o.Stack }

// Summary returns the engine's summary at the end; nil before it.
func (l *Outline) Summary() *engine.Summary { return l.board.summary }

// Blast returns what the operation destroys.
func (l *Outline) Blast() *BlastRadius { return &l.board.blast }

// Outcome is the progress of a resource at the end.
type Outcome uint8

// The outcomes. A planned resource was only previewed; an interrupted one was in progress at the end; a skipped one was
// not begun because it needs something that failed, and one that was not started because the operation had ended.
const (
	Planned Outcome = iota
	Done
	Failed
	Interrupted
	Skipped
	NotStarted
)

// outcome returns the progress of the row's resource at the end, as a value and in words. A component without
// registered outputs counts as done if its children are, and is incomplete if one of them is not.
func (r *row) outcome() (Outcome, string) {
	style := opStyles[r.op]
	switch {
	case r.lost && r.failed:
		return Failed, "deleted, creating the replacement failed"
	case r.lost && r.stopped:
		return Interrupted, "deleted, stopped while creating the replacement"
	case r.lost:
		return Done, lostWords(r.planning)
	case r.failed && r.remains:
		return Failed, style.done + ", deleting the original failed"
	case r.outside && r.op == engine.OpSame:
		return Failed, "failed"
	case r.outside && r.planning:
		return Failed, style.planned + ", then failed"
	case r.outside:
		return Failed, style.done + ", then failed"
	case r.failed:
		return Failed, style.planned + " failed"
	case r.stopped || r.running > 0 && !r.component:
		return Interrupted, "stopped while " + style.running
	case r.left() != "" && r.planning:
		return Planned, string(r.left())
	case r.left() != "":
		return Done, string(r.left())
	case r.planning:
		return Planned, style.planned
	case r.broken():
		return Done, incompleteWord
	}
	return Done, style.done
}

// incompleteWord is the result of a component, or of the stack, with a child that failed or was stopped.
const incompleteWord = "incomplete"

// says reports whether the result of the row in words has the word for its operation, as in "created, then failed".
func (r *row) says(planning bool) bool {
	_, words := r.outcome()
	style := opStyles[r.op]
	if planning {
		return strings.HasPrefix(words, style.planned)
	}
	return strings.HasPrefix(words, style.done)
}

// lostWords describes a resource that was deleted, or will be, and not created again.
func lostWords(planning bool) string {
	if planning {
		return "delete without a replacement"
	}
	return "deleted and not created again"
}

// Resource is a resource of an outline.
type Resource struct {
	URN       urn.URN
	Depth     int // below the top of the tree
	Component bool
	Op        engine.Op
	Sign      string // in front of a line, such as + or +-
	Words     string // the result or the plan in words
	Outcome   Outcome
	Changes   []string        // property changes, a line each, masked
	Because   [][]change.Link // why it changes: chains of causes, root first
	Parent    urn.URN         // empty for none, and for one below the stack alone
	Needs     []urn.URN
	Took      time.Duration
	Place     diag.Range // of its name in the program; zero if unknown
}

// Changed reports whether the resource has changed.
func (r *Resource) Changed() bool {
	return r.Outcome >= Failed || r.Op != engine.OpSame && r.Op != engine.OpRead
}

// IsStack reports whether this is the stack itself.
func (r *Resource) IsStack() bool { return r.URN.Type() == urn.RootStackType }

// Changed returns the changed resources of a list, without the stack.
func Changed(list []Resource) iter.Seq[*Resource] {
	return func(yield func(*Resource) bool) {
		for i := range list {
			if item := &list[i]; item.Changed() && !item.IsStack() && !yield(item) {
				return
			}
		}
	}
}

// Resources returns all resources in the order of the tree, and then those that were skipped or not started.
func (l *Outline) Resources() []Resource { return l.resources(l.resource) }

// Outcomes is Resources with only the name, operation and outcome of each.
func (r *report) Outcomes() []Resource { return r.resources(outcomeOf) }

func (r *report) resources(build func(r *row, depth int) Resource) []Resource {
	b := r.board
	list := make([]Resource, 0, b.tree.count)
	b.tree.walk(func(r *row, depth int) { list = append(list, build(r, depth)) })
	skipped, notStarted := b.leftOut()
	for _, u := range skipped {
		list = append(list, Resource{URN: u, Op: engine.OpSame, Sign: " ", Words: "skipped", Outcome: Skipped})
	}
	for _, u := range notStarted {
		list = append(list, Resource{URN: u, Op: engine.OpSame, Sign: " ", Words: "not started", Outcome: NotStarted})
	}
	return list
}

// outcomeOf returns the element of Outcomes for one resource.
func outcomeOf(r *row, depth int) Resource {
	item := Resource{URN: r.urn, Depth: depth, Component: r.component, Op: r.op, Sign: opStyles[r.op].sign,
		Took: r.took}
	item.Outcome, item.Words = r.outcome()
	if was := was(r.step); was != "" {
		item.Words += ", was " + was
	}
	return item
}

func (l *Outline) resource(r *row, depth int) Resource {
	item := outcomeOf(r, depth)
	if state := r.step.About(); state != nil {
		item.Needs = slices.Clone(state.Dependencies)
		if state.Parent != "" && state.Parent.Type() != urn.RootStackType {
			item.Needs, item.Parent = append(item.Needs, state.Parent), state.Parent
		}
		position, recorded := r.step.Place()
		item.Place = l.placeOf(r.urn, position, recorded, diag.Position{})
	}
	item.Changes = changeLines(r.step, palette{}, l.mask, l.o)
	if item.Changed() && l.o.Causes != CausesNone && l.explained < mostExplained {
		item.Because = changeWriter{mask: l.mask, o: l.o}.kept(r.step)
		l.explained += min(1, len(item.Because))
	}
	return item
}

// Cut reports whether an operation without the option Diff shows fewer changes of a resource than this outline.
func (l *Outline) Cut(item *Resource) bool {
	o := l.o
	o.Diff = false
	r := l.board.rows[item.URN]
	return r != nil && len(changeLines(r.step, palette{}, l.mask, o)) < len(item.Changes)
}

// Incomplete returns how many resources of a list failed, were interrupted, skipped or not started, or are components
// with such a resource, with the words for these, in the order of display and without zeros. The stack itself does not
// count.
func Incomplete(list []Resource) []Counted {
	var n [NotStarted + 1]int
	incomplete := 0
	for i := range list {
		switch {
		case list[i].IsStack():
		case list[i].Words == incompleteWord:
			incomplete++
		default:
			n[list[i].Outcome]++
		}
	}
	var counted []Counted
	if incomplete > 0 {
		counted = append(counted, Counted{N: incomplete, Words: incompleteWord})
	}
	for _, c := range []struct {
		outcome Outcome
		words   string
	}{{Failed, "failed"}, {Interrupted, "stopped"}, {Skipped, "skipped"}, {NotStarted, "not started"}} {
		if n[c.outcome] > 0 {
			counted = append(counted, Counted{N: n[c.outcome], Words: c.words})
		}
	}
	return counted
}

// Finding is a warning or an error of an operation, with the resource concerned.
type Finding struct {
	URN urn.URN // empty for one about the whole operation
	diag.Diagnostic
}

// Findings returns the warnings and errors, in the order of their events.
func (l *Outline) Findings() []Finding {
	var list []Finding
	for _, m := range l.board.messages {
		if m.Severity != diag.Info && !m.Interrupted && !isVerdict(m) {
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

// PlannedWords returns the sign and the words of a planned operation.
func PlannedWords(op engine.Op) (sign, words string) {
	style := opStyles[op]
	return style.sign, style.planned
}
