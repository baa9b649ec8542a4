package monitor

import (
	"errors"
	"strings"
)

// ErrShutdown is returned when the operation has ended: it was cancelled or something else failed. The one who gets it
// has nothing to report.
var ErrShutdown = errors.New("the deployment is shutting down")

// ErrReported is returned when the fault behind it has been shown to the user, so that it is not shown twice.
var ErrReported = errors.New("already reported")

// FailuresError is a call that a provider refused.
type FailuresError struct {
	Token    string
	Failures []Failure
}

// Error joins the reasons.
func (e *FailuresError) Error() string {
	reasons := make([]string, len(e.Failures))
	for i, f := range e.Failures {
		reasons[i] = f.Reason
		if f.Property != "" {
			reasons[i] = f.Property + ": " + f.Reason
		}
	}
	return e.Token + ": " + strings.Join(reasons, "; ")
}
