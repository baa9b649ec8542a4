package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// cause classifies faults by their effect on dependants, least severe first.
type cause uint8

const (
	broken   cause = iota // the expression itself is at fault; findings explain it
	poisoned              // something it needs failed, and that has been reported there (L9.20)
	over                  // the whole operation is over
)

// fault is the reason why an expression or a node has no value.
type fault struct {
	cause    cause
	findings diag.Diagnostics
	reported bool // the fault arose here and its findings have been reported
	later    bool // the preview cannot decide yet; nothing else is wrong
	// instances are the keys of the failed instances of a resource with forEach; the others exist.
	instances map[string]bool
}

// Error joins the summaries, for callers that need an error; users see the findings.
func (f *fault) Error() string {
	switch {
	case len(f.findings) == 1:
		return f.findings[0].Summary
	case len(f.findings) > 1:
		return fmt.Sprintf("%s (and %d more)", f.findings[0].Summary, len(f.findings)-1)
	case f.cause == over:
		return "the operation has ended"
	}
	return "something that this depends on has failed"
}

// The faults without findings.
var (
	poison   = &fault{cause: poisoned}
	reported = &fault{cause: poisoned, reported: true}
	shutdown = &fault{cause: over}
	later    = &fault{later: true}
)

// blame returns a fault of one expression.
func blame(code diag.Code, rng diag.Range, detail, summary string, args ...any) *fault {
	return &fault{findings: diag.Diagnostics{{
		Code: code, Subject: rng, Summary: fmt.Sprintf(summary, args...), Detail: detail,
	}}}
}

// and joins two faults, which may be nil.
func (f *fault) and(g *fault) *fault {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return &fault{
		cause:    max(f.cause, g.cause),
		findings: append(f.findings[:len(f.findings):len(f.findings)], g.findings...),
		reported: f.reported || g.reported,
		later:    f.later && g.later,
	}
}

// silent returns the fault for an error that has been reported or ends the run; nil for any other error.
func silent(err error) *fault {
	switch {
	case errors.Is(err, monitor.ErrShutdown), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return shutdown
	case errors.Is(err, monitor.ErrReported):
		return reported
	}
	return nil
}

// failure returns the fault for an error of an external call, without findings if it has been reported before.
func failure(err error, code diag.Code, rng diag.Range, summary string, args ...any) *fault {
	if f := silent(err); f != nil {
		return f
	}
	return blame(code, rng, "", summary, args...)
}

// elsewhere returns the fault for the dependants of a failure; nil for nil.
func (f *fault) elsewhere() *fault {
	switch {
	case f == nil:
		return nil
	case f.cause == over:
		return shutdown
	}
	return poison
}
