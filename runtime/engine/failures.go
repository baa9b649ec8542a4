package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// failures reports what goes wrong and decides how much of the operation ends with it. There are three kinds:
//
//   - abort: the operation cannot go on, whatever the user has asked for. The caller returns monitor.ErrReported.
//   - refused: one resource failed. apply.ErrFailed goes up to where the registration is handled.
//   - resourceFailed: that place then stops the operation, unless ContinueOnError.
//
// It is safe for concurrent use.
type failures struct {
	life   *lifetime
	report *reporter
	goOn   bool // ContinueOnError
}

// operationFailed returns the message of an error that ends the operation, or of a resource that failed. position may
// be empty.
func operationFailed(u urn.URN, position, text string) Message {
	return Message{URN: u, Severity: diag.Error, Code: diag.OperationFailed, Text: text, Position: position}
}

// abort reports an error and stops the operation, ContinueOnError or not (E4.130). It returns monitor.ErrReported.
func (f *failures) abort(u urn.URN, position, text string) error {
	f.report.message(operationFailed(u, position, text))
	return f.life.abort()
}

// resourceFailed stops the operation because of a failure, unless it is to go on with what does not depend on it
// (E5.42, E5.44).
func (f *failures) resourceFailed() {
	if !f.goOn {
		f.life.stop()
	}
}

// refused reports that a provider could not answer about a resource (E4.27, E4.49). doing is the verb for what it was
// asked for. The result is apply.ErrFailed, or err itself where that was reported already.
func (f *failures) refused(u urn.URN, position, doing, typ string, err error) error {
	if errors.Is(err, monitor.ErrReported) || errors.Is(err, monitor.ErrShutdown) {
		return err
	}
	if f.life.terminated.Load() {
		return monitor.ErrShutdown
	}
	text := err.Error()
	if crash, ok := errors.AsType[*provider.CrashError](err); ok {
		text = fmt.Sprintf("could not %s %s %q: %s", doing, typ, u.Name(), f.report.crashText(crash))
	}
	f.report.message(operationFailed(u, position, text))
	return apply.ErrFailed
}

// notConstructed reports a component that its provider could not build (E2.43).
func (f *failures) notConstructed(u urn.URN, g *plan.Goal, err error) error {
	if errors.Is(err, monitor.ErrReported) || errors.Is(err, monitor.ErrShutdown) || f.life.terminated.Load() {
		return monitor.ErrShutdown
	}
	text := fmt.Sprintf("%s resource '%s' has a problem: %s", g.Type, g.Name, f.report.errorText(err))
	switch {
	case f.life.isInterrupted():
		text = fmt.Sprintf("%s '%s' is not complete, because the operation was interrupted", g.Type, g.Name)
	case strings.Contains(err.Error(), monitor.ErrReported.Error()): // what the provider heard from us about a child
		text = fmt.Sprintf("%s '%s' is not complete, because a resource in it failed", g.Type, g.Name)
	}
	if failure, ok := errors.AsType[*provider.Error](err); ok {
		for _, p := range failure.Properties {
			text += fmt.Sprintf("\n  %s: %s", p.Property, p.Reason)
		}
	}
	return f.abort(u, g.Position, text)
}

// conflict reports a name that cannot be taken, which ends the operation.
func (f *failures) conflict(u urn.URN, position string, c *resources.Conflict) error {
	f.report.message(Message{URN: u, Severity: diag.Error, Code: c.Code, Text: c.Text, Position: position})
	return f.life.abort()
}

// notRecorded reports that the state could not be written outside of any step, which ends the operation: without a
// journal nothing may be done.
func (f *failures) notRecorded(err error) {
	f.report.message(operationFailed("", "", "could not record the state: "+err.Error()))
	f.life.stop()
}
