package engine

import (
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Event is something that happened (E8.8). The set of implementations is closed: the types of this file.
type Event interface{ isEvent() }

type (
	// Prelude is first: the configuration, secrets as "[secret]" (E8.8).
	Prelude struct{ Config map[string]string }

	// StepStarted is sent when a step begins; its New has no outputs yet.
	StepStarted struct {
		Step     *Step
		Planning bool // a preview
		Internal bool // of a default provider, not shown and not counted (E8.13)
	}

	// StepFinished is sent when a step succeeded, or when the outputs of a component or the stack were registered.
	StepFinished struct {
		Step     *Step
		Op       Op // of a refresh, the result (E7.23); else Step.Op
		Planning bool
		Internal bool
		Outputs  bool // this is a registration of outputs, not the end of the step
		Duration time.Duration
	}

	// StepFailed is sent when a step failed.
	StepFailed struct {
		Step     *Step
		Planning bool
		Status   int // 0 nothing happened, 1 partial, 2 unknown (E8.8)
		Duration time.Duration
	}

	// Message is a diagnostic, of the engine or of a provider's log. At most one of the places is set.
	Message struct {
		URN       urn.URN // the resource it is about, empty for the whole operation
		Severity  diag.Severity
		Debug     bool // below Info
		Text      string
		Position  string        // the source position of the resource or of the fault, project:///…
		End       diag.Position // just behind what Position is about, in the same file; zero where only its start is known
		Property  string        // input property it is about, as a property path; empty when there is none
		Code      diag.Code
		Ephemeral bool
		Policy    *PolicyNote // set if a policy pack has reported it
	}

	// Summary is last but one.
	Summary struct {
		Planning     bool
		MaybeCorrupt bool
		Duration     time.Duration
		Changes      map[Op]int
		Result       string          // succeeded, failed or canceled
		Skipped      []urn.URN       // not attempted because of earlier errors
		Outputs      *state.Resource // the stack, new; nil when there is none
		OldOutputs   *state.Resource // the stack, before
	}

	// Finished is always the last event.
	Finished struct{}
)

func (*Prelude) isEvent()      {}
func (*StepStarted) isEvent()  {}
func (*StepFinished) isEvent() {}
func (*StepFailed) isEvent()   {}
func (*Message) isEvent()      {}
func (*Summary) isEvent()      {}
func (*Finished) isEvent()     {}
