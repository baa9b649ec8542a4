package monitor

import (
	"errors"
	"strings"
)

// ErrShutdown is returned after the operation has ended, because it was cancelled or something else failed. A caller
// need not report it.
var ErrShutdown = errors.New("the deployment is shutting down")

// ErrReported is returned if the underlying error has already been shown to the user.
var ErrReported = errors.New("already reported")

// FailuresError is returned for a call that a provider rejected.
type FailuresError struct {
	Token    string
	Failures []Failure
}

// Error joins the reasons of all failures.
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
