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

// failures reports errors and decides how much of the operation they end. A failure stops what needs it, and nothing
// else, if the operation goes on: with ContinueOnError, and in a preview, which changes nothing. There are five kinds:
//
//   - abort: the operation itself failed and ends. The caller returns monitor.ErrReported.
//   - refused: one resource failed. Callers return apply.ErrFailed up to the handler of the registration.
//   - bail: as refused, but no final message follows (E4.130).
//   - unclaimed: as bail, before the table knows the resource, so that the end cannot tell what the program still has.
//   - resourceFailed: the handler of a registration ends the operation, unless it goes on.
//
// It is safe for concurrent use.
type failures struct {
	life   *lifetime
	report *reporter
	goOn   bool // ContinueOnError, or a preview
}

// operationFailed returns the message for an error of the operation or of one resource. position may be empty.
func operationFailed(u urn.URN, position, text string) Message {
	return Message{URN: u, Severity: diag.Error, Code: diag.OperationFailed, Text: text, Position: position}
}

// abort reports an error and ends the operation, ContinueOnError or not (E4.130). It returns monitor.ErrReported.
func (f *failures) abort(u urn.URN, position, text string) error {
	f.report.message(operationFailed(u, position, text))
	return f.life.abort()
}

// bail ends the operation after a failure of one resource that was reported in full, unless it goes on with independent
// resources (E4.26, E4.130). It returns the error for the handler of the registration.
func (f *failures) bail() error {
	if f.goOn {
		f.life.told.Store(true)
		return apply.ErrFailed
	}
	return f.life.abort()
}

// bailWith is bail with the error to report.
func (f *failures) bailWith(u urn.URN, position, text string) error {
	f.report.message(operationFailed(u, position, text))
	return f.bail()
}

// unclaimed is bail for a resource that the table does not know, or for a call. If the operation goes on, it deletes
// nothing at its end, because the program may still have what it has not registered. It returns monitor.ErrReported.
func (f *failures) unclaimed(m Message) error {
	f.report.message(m)
	if !f.goOn {
		return f.life.abort()
	}
	f.life.told.Store(true)
	f.life.incomplete.Store(true)
	return monitor.ErrReported
}

// resourceFailed stops the operation after a failure, unless it goes on with independent resources (E5.42, E5.44).
func (f *failures) resourceFailed() {
	if !f.goOn {
		f.life.stop()
	}
}

// refused reports that a provider failed to answer about a resource (E4.27, E4.49). doing is a verb for the request. It
// returns apply.ErrFailed, or err if it was reported already.
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

// notConstructed reports that a provider could not construct a component (E2.43).
func (f *failures) notConstructed(u urn.URN, g *plan.Goal, err error) error {
	if errors.Is(err, monitor.ErrReported) || errors.Is(err, monitor.ErrShutdown) || f.life.terminated.Load() {
		return monitor.ErrShutdown
	}
	text, own := fmt.Sprintf("%s resource '%s' has a problem: %s", g.Type, g.Name, f.report.errorText(err)), false
	switch {
	case f.life.isInterrupted():
		text = fmt.Sprintf("%s '%s' is not complete, because the operation was interrupted", g.Type, g.Name)
	// the error of a child, returned through the provider
	case strings.Contains(err.Error(), monitor.ErrReported.Error()):
		text = fmt.Sprintf("%s '%s' is not complete, because a resource in it failed", g.Type, g.Name)
	default:
		own = true
	}
	if failure, ok := errors.AsType[*provider.Error](err); ok {
		for _, p := range failure.Properties {
			text += fmt.Sprintf("\n  %s: %s", p.Property, p.Reason)
		}
	}
	err = f.unclaimed(operationFailed(u, g.Position, text))
	if own {
		f.report.resourceFailed(nil, g.NewState(u, nil))
	}
	return err
}

// conflict reports a URN that cannot be registered.
func (f *failures) conflict(u urn.URN, position string, c *resources.Conflict) error {
	return f.unclaimed(Message{URN: u, Severity: diag.Error, Code: c.Code, Text: c.Text, Position: position})
}

// notRecorded reports that the journal could not be written outside of a step, and ends the operation: without a
// journal nothing may change.
func (f *failures) notRecorded(err error) {
	f.report.lost()
	f.report.message(operationFailed("", "", "could not record the state: "+err.Error()))
	f.life.stop()
}
