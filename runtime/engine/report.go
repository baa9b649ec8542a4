package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// reporter sends events to the sink and counts steps. It is safe for concurrent use. It calls the sink with mu held,
// which keeps events in order, so the sink must not block.
type reporter struct {
	sink     func(Event)
	planning bool
	mode     mode
	failed   atomic.Bool // an error was reported
	// faulty is set by errors that do not come from an interrupt
	faulty atomic.Bool

	mu           sync.Mutex       // guards the rest, and the sink
	changes      map[Op]int       // without replacements
	replacements Replacements     // whose halves count together
	produced     map[urn.URN]bool // made by the program of a destroy
	maybeCorrupt bool
	unrecorded   bool
	skipped      []urn.URN
	crashes      map[crashed]bool // crashes already reported in full
}

// crashed identifies a plugin process that crashed.
type crashed struct {
	plugin string
	pid    int
}

// crashText returns the full description of a crash the first time, and a short one from then on (D10).
func (r *reporter) crashText(e *provider.CrashError) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	process := crashed{e.Plugin, e.PID}
	if r.crashes[process] {
		return e.Again()
	}
	r.crashes[process] = true
	return e.Error()
}

// emit sends an event that affects no counts.
func (r *reporter) emit(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sink(e)
}

// message reports a diagnostic; one with severity Error makes the operation fail.
func (r *reporter) message(m Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Severity == diag.Error {
		r.failed.Store(true)
		r.faulty.Store(r.faulty.Load() || !m.Interrupted)
	}
	r.sink(&m)
}

// Started reports that a step has begun.
func (r *reporter) Started(s Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sink(&StepStarted{Step: &s, Planning: r.planning, Internal: r.internal(&s)})
}

// Finished counts a step that succeeded, and reports it to the sink if shown is set (E7.8).
func (r *reporter) Finished(s Step, result Op, shown bool, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts(&s, result) {
		r.changes[result]++
	}
	e := &StepFinished{Step: &s, Op: result, Planning: r.planning, Internal: r.internal(&s), Duration: took}
	r.replacements.Take(e)
	if r.mode == destroying && s.Old == nil {
		r.produced[s.URN] = true
	}
	if shown {
		r.sink(e)
	}
}

// counted returns the changes so far (E8.1): a replaced resource counts once, and one that was deleted
// and has no new object is deleted.
func (r *reporter) counted() map[Op]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	changes := maps.Clone(r.changes)
	replaced, deleted, _ := r.replacements.Count()
	if replaced > 0 {
		changes[OpReplace] += replaced
	}
	if deleted > 0 {
		changes[OpDelete] += deleted
	}
	return changes
}

// counts reports whether a step counts as a change in the summary (E8.1–E8.7).
func (r *reporter) counts(s *Step, result Op) bool {
	if r.internal(s) {
		return false
	}
	switch s.Op {
	case OpRefresh:
		return r.mode == refreshing // under its result (E7.23)
	case OpRead:
		return s.Old != nil && s.New != nil && !value.Equal(s.Old.Outputs, s.New.Outputs)
	case OpReplace:
		return false // see replacements
	}
	return s.Logical() && s.Op == result
}

// internal reports whether a step is neither shown nor counted: it concerns a default provider (E8.13), or is what a
// destroy does for its program, which ends with it, or a refresh does not create. The caller holds mu.
func (r *reporter) internal(s *Step) bool {
	switch {
	case s.URN.IsDefaultProvider():
		return true
	case r.mode == refreshing:
		return s.Op == OpSame && s.Old == nil && s.New.Custom && s.Left == ""
	case r.mode != destroying || s.Left != "" || s.Op == OpRefresh:
		return false
	case s.Op == OpDelete, s.Op == OpDiscard, s.Op == OpRemovePendingReplace:
		return r.produced[s.URN]
	}
	return true
}

// outputs reports that the outputs of a component or of the stack were registered.
func (r *reporter) outputs(s Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sink(&StepFinished{Step: &s, Op: s.Op, Planning: r.planning, Internal: r.internal(&s), Outputs: true})
}

// StepFailed reports that a step failed with err (E5.41).
func (r *reporter) StepFailed(s Step, err error, took time.Duration) {
	status := 0
	failure, _ := errors.AsType[*provider.Error](err)
	if failure != nil {
		status = int(failure.Outcome) // numbered alike
	}
	crash, _ := errors.AsType[*provider.CrashError](err)
	text := err.Error()
	if crash != nil { // the provider died before it could name the resource (D10)
		status = 2
		text = fmt.Sprintf("%s of %s %q failed: %s", verbs[s.Op], s.Type, s.URN.Name(), r.crashText(crash))
	}
	if (s.Op == OpCreate || s.Op == OpCreateReplacement) && status == 2 && crash == nil { // E3.50
		status = 0
	}
	if r.planning {
		text = "Preview failed: " + text
	}
	m := Message{URN: s.URN, Severity: diag.Error, Text: text, Code: diag.OperationFailed,
		Interrupted: errors.Is(err, context.Canceled)}
	m.Position, m.Recorded = s.Place()
	if failure != nil && len(failure.Properties) > 0 {
		m.Property = failure.Properties[0].Property
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed.Store(true)
	r.faulty.Store(r.faulty.Load() || !m.Interrupted)
	r.maybeCorrupt = r.maybeCorrupt || status == 2
	r.sink(&m)
	if r.planning {
		r.sink(&ResourceFailed{Step: &s, Interrupted: m.Interrupted})
		return
	}
	e := &StepFailed{Step: &s, Status: status, Duration: took, Interrupted: m.Interrupted}
	r.replacements.Take(e)
	r.sink(e)
}

// resourceFailed reports that a resource failed outside of its steps. The reason was reported.
func (r *reporter) resourceFailed(old, goal *state.Resource) {
	s := plan.NewStep(OpSame, old, goal)
	r.emit(&ResourceFailed{Step: &s})
}

// verbs are the names of operations in messages.
var verbs = map[Op]string{
	OpCreate: "create", OpCreateReplacement: "create", OpUpdate: "update", OpDelete: "delete", OpDeleteReplaced: "delete",
	OpRead: "read", OpReadReplacement: "read", OpRefresh: "refresh", OpImport: "import", OpImportReplacement: "import",
	OpSame: "check", OpDiscard: "discard", OpDiscardReplaced: "discard", OpReplace: "replace",
	OpRemovePendingReplace: "removal",
}

// Tell reports a diagnostic of the executor.
func (r *reporter) Tell(n apply.Note) {
	if n.Unrecorded {
		r.lost()
	}
	r.message(Message{URN: n.URN, Severity: n.Severity, Code: n.Code, Text: n.Text, Position: n.Position,
		Recorded: n.Recorded, Property: n.Property})
}

// lost notes that the journal could not be written.
func (r *reporter) lost() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unrecorded = true
}

// skip records that a resource was not attempted because of an earlier failure (E5.44).
func (r *reporter) skip(u urn.URN) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.skipped = append(r.skipped, u)
}

// summary sends the Summary event; before and after are the states of the stack's own resource.
func (r *reporter) summary(result *Result, before, after *state.Resource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sink(&Summary{Planning: r.planning, MaybeCorrupt: r.maybeCorrupt,
		Unrecorded: r.unrecorded, Duration: result.Duration,
		Interrupted: result.Interrupted, Changes: result.Changes, Result: result.word(),
		Skipped: r.skipped, Outputs: after, OldOutputs: before})
}

// errorText returns the text of err. The full text of a crash is returned only once (D10).
func (r *reporter) errorText(err error) string {
	if crash, ok := errors.AsType[*provider.CrashError](err); ok {
		return r.crashText(crash)
	}
	return err.Error()
}
