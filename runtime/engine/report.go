package engine

import (
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

// reporter passes events on, one at a time, and counts. It is safe for concurrent use. The sink is called with mu held:
// that keeps events in order, so a sink must not block.
type reporter struct {
	sink     func(Event)
	planning bool
	// refreshing reports whether the operation is a refresh, whose refresh steps count under their result (E7.23).
	refreshing bool
	failed     atomic.Bool // something was reported as an error

	mu           sync.Mutex // guards the rest, and the sink
	changes      map[Op]int
	maybeCorrupt bool
	skipped      []urn.URN
	crashes      map[crashed]bool // told already
}

// crashed is the end of one process.
type crashed struct {
	plugin string
	pid    int
}

// crashText describes a crash in full the first time, and briefly from then on (D10).
func (r *reporter) crashText(e *provider.CrashError) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	about := crashed{e.Plugin, e.PID}
	if r.crashes[about] {
		return e.Again()
	}
	r.crashes[about] = true
	return e.Error()
}

// emit passes on an event that changes no count.
func (r *reporter) emit(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sink != nil {
		r.sink(e)
	}
}

// message reports a diagnostic; an error makes the operation fail.
func (r *reporter) message(m Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Severity == diag.Error {
		r.failed.Store(true)
	}
	if r.sink != nil {
		r.sink(&m)
	}
}

// Started reports that a step begins.
func (r *reporter) Started(s Step) {
	r.emit(&StepStarted{Step: &s, Planning: r.planning, Internal: internal(&s)})
}

// Finished reports and counts a step that succeeded. shown says whether people hear of it at once (E7.8).
func (r *reporter) Finished(s Step, result Op, shown bool, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts(&s, result) {
		r.changes[result]++
	}
	if r.sink != nil && shown {
		r.sink(&StepFinished{Step: &s, Op: result, Planning: r.planning, Internal: internal(&s), Duration: took})
	}
}

// counts reports whether a step is one of the changes that are counted (E8.1–E8.7).
func (r *reporter) counts(s *Step, result Op) bool {
	if internal(s) {
		return false
	}
	switch s.Op {
	case OpRefresh:
		return r.refreshing
	case OpRead:
		return s.Old != nil && s.New != nil && !value.Equal(s.Old.Outputs, s.New.Outputs)
	}
	return s.Logical() && s.Op == result
}

// internal reports whether a step is about a default provider (E8.13).
func internal(s *Step) bool {
	return s.URN.IsDefaultProvider()
}

// outputs reports the registration of a component's or the stack's outputs.
func (r *reporter) outputs(s Step) {
	r.emit(&StepFinished{Step: &s, Op: s.Op, Planning: r.planning, Internal: internal(&s), Outputs: true})
}

// StepFailed reports a step that failed and why (E5.41).
func (r *reporter) StepFailed(s Step, err error, took time.Duration) {
	status := 0
	var perr *provider.Error
	if errors.As(err, &perr) {
		switch perr.Outcome {
		case provider.Partial:
			status = 1
		case provider.Unclear:
			status = 2
		}
	}
	var crash *provider.CrashError
	text := err.Error()
	if errors.As(err, &crash) { // the provider did not live to say which resource it was about (D10)
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
		Position: plan.PositionOf(s.New, s.Old)}
	if perr != nil && len(perr.Properties) > 0 {
		m.Property = perr.Properties[0].Property
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed.Store(true)
	r.maybeCorrupt = r.maybeCorrupt || status == 2
	if r.sink == nil {
		return
	}
	r.sink(&m)
	if !r.planning {
		r.sink(&StepFailed{Step: &s, Status: status, Duration: took})
	}
}

// verbs name the operations of steps for people.
var verbs = map[Op]string{
	OpCreate: "create", OpCreateReplacement: "create", OpUpdate: "update", OpDelete: "delete", OpDeleteReplaced: "delete",
	OpRead: "read", OpReadReplacement: "read", OpRefresh: "refresh", OpImport: "import", OpImportReplacement: "import",
	OpSame: "check", OpDiscard: "discard", OpDiscardReplaced: "discard", OpReplace: "replace",
	OpRemovePendingReplace: "removal",
}

// Tell reports a diagnostic of the executor.
func (r *reporter) Tell(n apply.Note) {
	r.message(Message{URN: n.URN, Severity: n.Severity, Code: n.Code, Text: n.Text, Position: n.Position,
		Property: n.Property})
}

// skip takes note of a resource that was not attempted because of an earlier failure (E5.44).
func (r *reporter) skip(u urn.URN) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.skipped = append(r.skipped, u)
}

// summary reports the end: how long it took, how it ended, and the stack's resource before and after.
func (r *reporter) summary(took time.Duration, result string, before, after *state.Resource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sink == nil {
		return
	}
	r.sink(&Summary{Planning: r.planning, MaybeCorrupt: r.maybeCorrupt, Duration: took,
		Changes: maps.Clone(r.changes), Result: result, Skipped: r.skipped, Outputs: after, OldOutputs: before})
}

// errorText returns the text of an error. It returns the full text of a crash only once (D10).
func (r *reporter) errorText(err error) string {
	if crash, ok := errors.AsType[*provider.CrashError](err); ok {
		return r.crashText(crash)
	}
	return err.Error()
}
