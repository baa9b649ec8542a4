package console

import (
	"errors"
	"fmt"
)

// The exit codes (F7.14).
const (
	CodeOK        = 0
	CodeError     = 1
	CodeUsage     = 2
	codeNoStack   = 6
	CodeChanges   = 7
	CodeCancelled = 8
	CodePending   = 10 // ours: what an earlier run left in flight wants a word
	CodeInternal  = 255
)

// codeNames are the codes with the names that reports and CI systems get.
var codeNames = map[int]string{
	CodeOK: "ok", CodeError: "error", CodeUsage: "invocation", codeNoStack: "no-stack", CodeChanges: "changes",
	CodeCancelled: "cancelled", CodePending: "pending", CodeInternal: "internal",
}

// CodeName is the name of an exit code.
func CodeName(code int) string { return codeNames[code] }

// PulumiCode is what the Pulumi CLI ends with where this program has a code of its own: an error.
func PulumiCode(code int) int {
	if code >= CodePending && code != CodeInternal {
		return CodeError
	}
	return code
}

// ExitError is an error with an exit code of its own. A nil cause means that the user has been told already.
type ExitError struct {
	Code  int
	Cause error
}

func (e *ExitError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Cause.Error()
}

func (e *ExitError) Unwrap() error { return e.Cause }

// ErrReported ends a command whose faults have been shown.
var ErrReported = &ExitError{Code: CodeError}

// WithCode is an error that ends the program with a code.
func WithCode(code int, format string, args ...any) error {
	return &ExitError{Code: code, Cause: fmt.Errorf(format, args...)}
}

// CodeOf is the exit code of an error, and the text to show; empty when there is nothing more to say.
func CodeOf(err error) (code int, text string) {
	if err == nil {
		return CodeOK, ""
	}
	var exit *ExitError
	if errors.As(err, &exit) {
		if exit.Cause == nil {
			return exit.Code, ""
		}
		return exit.Code, err.Error()
	}
	return CodeError, err.Error()
}
