package cli

import (
	"errors"
	"fmt"
)

// The exit codes (F7.14).
const (
	codeOK        = 0
	codeError     = 1
	codeUsage     = 2
	codeNoStack   = 6
	codeChanges   = 7
	codeCancelled = 8
	codePending   = 10 // ours: what an earlier run left in flight wants a word
	codeInternal  = 255
)

// exitError is an error with an exit code of its own. A nil cause means that the user has been told already.
type exitError struct {
	code  int
	cause error
}

func (e *exitError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.cause.Error()
}

func (e *exitError) Unwrap() error { return e.cause }

// errReported ends a command whose faults have been shown.
var errReported = &exitError{code: codeError}

// withCode is an error that ends the program with a code.
func withCode(code int, format string, args ...any) error {
	return &exitError{code: code, cause: fmt.Errorf(format, args...)}
}

// codeOf is the exit code of an error, and the text to show; empty when there is nothing more to say.
func codeOf(err error) (code int, text string) {
	if err == nil {
		return codeOK, ""
	}
	var exit *exitError
	if errors.As(err, &exit) {
		if exit.cause == nil {
			return exit.code, ""
		}
		return exit.code, err.Error()
	}
	return codeError, err.Error()
}
