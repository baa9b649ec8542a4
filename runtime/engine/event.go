package engine

import (
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Event reports progress of an operation (E8.8). Only the types of this file implement it.
type Event interface{ isEvent() }

type (
	// Prelude is the first event. It holds the configuration, with secrets as "[secret]" (E8.8).
	Prelude struct{ Config map[string]string }

	// StepStarted is sent when a step begins; its New has no outputs yet.
	StepStarted struct {
		Step     *Step
		Planning bool // a preview
		Internal bool // concerns a default provider: neither shown nor counted (E8.13)
	}

	// StepFinished is sent when a step succeeded, or when the outputs of a component or the stack were registered.
	StepFinished struct {
		Step     *Step
		Op       Op // in a refresh, the resulting operation (E7.23); otherwise Step.Op
		Planning bool
		Internal bool
		Outputs  bool // reports registered outputs, not the end of the step
		Duration time.Duration
	}

	// StepFailed is sent when a step failed.
	StepFailed struct {
		Step     *Step
		Planning bool
		Status   int // 0 nothing happened, 1 partial, 2 unknown (E8.8)
		Duration time.Duration
		// Interrupted reports whether the provider ended the call because the operation was interrupted.
		Interrupted bool
	}

	// ResourceFailed is sent, after the message with the reason, for a failure of which Pulumi has no event. A resource
	// failed outside of its steps (E4.26): its inputs were rejected, its provider did not answer, or its steps are not
	// allowed; Op of Step is then OpSame. Or a step of a preview failed (E5.41).
	ResourceFailed struct {
		Step        *Step
		Interrupted bool // as in StepFailed
	}

	// Message is a diagnostic of the engine or from a provider's log.
	Message struct {
		URN      urn.URN // the resource concerned, empty for the whole operation
		Severity diag.Severity
		Debug    bool // below Info
		Text     string
		Position string // the source position of the resource or of the fault, project:///…
		// Recorded reports whether Position is only what the state has kept: other text may stand there now.
		Recorded  bool
		End       diag.Position // just behind the text that starts at Position, in the same file; zero if unknown
		Property  string        // the input property concerned, as a property path; may be empty
		Code      diag.Code
		Ephemeral bool
		Policy    *PolicyNote // set if a policy pack reported it
		// Interrupted reports whether this is the error of a step that the interrupt of the operation ended.
		Interrupted bool
	}

	// Summary is the second last event.
	Summary struct {
		Planning     bool
		MaybeCorrupt bool
		Unrecorded   bool // the journal could not be written, which ended the operation
		// Interrupted reports whether the operation was interrupted and nothing else failed.
		Interrupted bool
		Duration    time.Duration
		Changes     map[Op]int
		Result      string          // succeeded, failed or canceled; Ended has the words for people
		Skipped     []urn.URN       // not attempted because they need something that failed
		NotStarted  []urn.URN       // not attempted because the operation had ended
		Outputs     *state.Resource // the stack's resource after the operation; nil if there is none
		OldOutputs  *state.Resource // the stack's resource before the operation
	}

	// Finished is the last event.
	Finished struct{}
)

// Ended returns how the operation has ended, in the words that people read everywhere: succeeded, failed, or
// interrupted if only steps failed that the interrupt ended. Result has the words of the Pulumi CLI's events instead.
func (s *Summary) Ended() string {
	if s.Interrupted || s.Result == "canceled" {
		return "interrupted"
	}
	return s.Result
}

func (*Prelude) isEvent()        {}
func (*StepStarted) isEvent()    {}
func (*StepFinished) isEvent()   {}
func (*StepFailed) isEvent()     {}
func (*ResourceFailed) isEvent() {}
func (*Message) isEvent()        {}
func (*Summary) isEvent()        {}
func (*Finished) isEvent()       {}
