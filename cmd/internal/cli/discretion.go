package cli

import (
	"errors"
	"io"

	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/mask"
)

// discretion knows the secrets that went to providers or came from them, and hides them in what providers say: in errors, whose
// reasons end up in the state, in logs, and in findings. It is safe for concurrent use.
type discretion struct{ secrets *mask.Masker }

func newDiscretion() *discretion { return &discretion{mask.New()} }

// learn takes every secret inside of values.
func (d *discretion) learn(values ...value.Value) { d.secrets.Learn(values...) }

// hide is a text without the secrets that are known.
func (d *discretion) hide(text string) string { return d.secrets.Hide(text) }

// event is an event whose text, if it has one of its own, hides what is known.
func (d *discretion) event(e engine.Event) engine.Event {
	m, ok := e.(*engine.Message)
	if !ok {
		return e
	}
	if text := d.hide(m.Text); text != m.Text {
		discreet := *m
		discreet.Text = text
		return &discreet
	}
	return e
}

// error is a provider's error that hides what is known, and is still what it was to the engine.
func (d *discretion) error(err error) error {
	if err == nil || d.hide(err.Error()) == err.Error() {
		return err
	}
	var failure *provider.Error
	var crash *provider.CrashError
	switch {
	case errors.As(err, &failure):
		discreet := *failure
		discreet.Message, discreet.Properties = d.hide(failure.Message), d.failures(failure.Properties)
		discreet.Reasons = d.secrets.HideAll(failure.Reasons)
		return &discreet
	case errors.As(err, &crash):
		discreet := *crash
		discreet.Output = d.hide(crash.Output)
		return &discreet
	}
	return &discreetError{d.hide(err.Error()), err}
}

func (d *discretion) failures(list []provider.Failure) []provider.Failure {
	var discreet []provider.Failure
	for _, f := range list {
		discreet = append(discreet, provider.Failure{Property: f.Property, Reason: d.hide(f.Reason)})
	}
	return discreet
}

type discreetError struct {
	text  string
	cause error
}

func (e *discreetError) Error() string { return e.text }

func (e *discreetError) Unwrap() error { return e.cause }

// discreetErr is where progress and findings go: excerpts of the program would show secrets that are written in it. flush writes
// what is held back because it may be the beginning of a secret.
func (p *pipeline) discreetErr() (w io.Writer, flush func() error) {
	if p.options.showSecrets {
		return p.app.screen, func() error { return nil }
	}
	hiding := mask.NewWriter(p.app.screen, p.stage.secrets().secrets)
	return hiding, hiding.Flush
}
