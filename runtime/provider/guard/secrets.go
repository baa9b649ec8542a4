package guard

import (
	"errors"

	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// secrets are the secret values sent to or received from providers, which are masked in providers' messages.
type secrets struct{ *mask.Masker }

// error returns a provider's error with known secrets masked; an error without secrets is returned as it is. The types
// that the engine looks for are kept.
func (s secrets) error(err error) error {
	if err == nil || s.Hide(err.Error()) == err.Error() {
		return err
	}
	if failure, ok := errors.AsType[*provider.Error](err); ok {
		hidden := *failure
		hidden.Message, hidden.Properties = s.Hide(failure.Message), s.failures(failure.Properties)
		hidden.Reasons = s.HideAll(failure.Reasons)
		return &hidden
	}
	if crash, ok := errors.AsType[*provider.CrashError](err); ok {
		hidden := *crash
		hidden.Output = s.Hide(crash.Output)
		return &hidden
	}
	return &hiddenError{s.Hide(err.Error()), err}
}

func (s secrets) failures(list []provider.Failure) []provider.Failure {
	var hidden []provider.Failure
	for _, f := range list {
		hidden = append(hidden, provider.Failure{Property: f.Property, Reason: s.Hide(f.Reason)})
	}
	return hidden
}

type hiddenError struct {
	text  string
	cause error
}

func (e *hiddenError) Error() string { return e.text }

func (e *hiddenError) Unwrap() error { return e.cause }
