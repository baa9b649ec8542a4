package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/serviceapi"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// The exit codes are the same for every command. The codes up to 9, and 255, are Pulumi's (F7.14). 4 and 5 stay unused:
// Pulumi reserves them for resource and policy errors. Codes from 10 on are our own.
const (
	CodeOK          = 0
	CodeError       = 1 // any other error
	CodeDenied      = 3 // credentials are missing or refused
	CodeUsage       = 2 // the command has to ask a question, but there is no terminal
	codeNoStack     = 6
	CodeChanges     = 7 // there are changes although none were expected
	CodeCancelled   = 8 // a second interrupt; calls in flight become pending operations
	CodeTimeout     = 9
	CodePending     = 10 // an earlier run left a creation that needs a decision
	CodeBadUsage    = 11 // invalid flag, argument or command
	CodeProgram     = 12 // the program, the project file or a stack file has errors
	CodeConfig      = 13 // configuration is missing
	CodeFailed      = 14 // an operation ran, and a part of it failed
	CodeLocked      = 15 // another run holds the stack
	CodePlan        = 16 // the run would differ from the plan
	CodeDrift       = 17 // existing objects differ from the state or the program
	CodeInterrupted = 18 // a single interrupt; operations in flight have finished
	CodeUnreachable = 19 // a provider or its service does not answer, so the result is not known
	CodeInternal    = 255
)

// codeNames maps exit codes to the names that reports and CI systems get.
var codeNames = map[int]string{
	CodeOK: "ok", CodeError: "error", CodeUsage: "invocation", codeNoStack: "no-stack", CodeChanges: "changes",
	CodeCancelled: "cancelled", CodeTimeout: "timeout", CodePending: "pending", CodeBadUsage: "usage",
	CodeProgram: "program",
	CodeConfig:  "config-missing", CodeFailed: "failed", CodeLocked: "locked", CodePlan: "plan-refused",
	CodeDrift:       "drift",
	CodeInterrupted: "interrupted", CodeDenied: "denied", CodeUnreachable: "unreachable", CodeInternal: "internal",
}

// CodeName returns the name of an exit code.
func CodeName(code int) string { return codeNames[code] }

// PulumiCode maps the exit code of a command that ended with err to that of the Pulumi CLI. A code that Pulumi does not
// have becomes Pulumi's general error. So do that of a missing answer, except for the commands that have it there, and
// that of a stack that was not named.
func PulumiCode(code int, err error, command string) int {
	switch {
	case code >= CodePending && code != CodeInternal, errors.Is(err, errNoStack):
		return CodeError
	case code != CodeUsage:
		return code
	}
	switch command {
	case "up", "destroy", "import":
		return CodeUsage
	case "stack select":
		return codeNoStack
	}
	return CodeError
}

// An ExitError is an error with its own exit code. Cause is nil if the user has already been told.
type ExitError struct {
	Code  int
	Cause error
}

// Error returns the text of the cause, or the exit code if there is no cause.
func (e *ExitError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Cause.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Cause }

// ErrReported is returned by a command that has already printed its errors.
var ErrReported = &ExitError{Code: CodeError}

// Reported returns the error that ends a command after ds was printed. Errors in the program and missing configuration
// have their own exit codes.
func Reported(ds diag.Diagnostics) error {
	code := CodeConfig
	for _, d := range ds {
		switch {
		case d.Severity != diag.Error || d.Code == diag.ConfigMissing:
		case d.Code == "":
			return ErrReported
		default:
			code = CodeProgram
		}
	}
	return &ExitError{Code: code}
}

// WithCode formats an error that makes the program exit with code.
func WithCode(code int, format string, args ...any) error {
	return &ExitError{Code: code, Cause: fmt.Errorf(format, args...)}
}

// CodeOf returns the exit code for an error and the text to print. The text is empty if nothing is left to print.
func CodeOf(a *Console, err error) (code int, text string) {
	code, text = codeOf(err)
	return code, withPlainFaults(a, text, err)
}

func codeOf(err error) (code int, text string) {
	if err == nil {
		return CodeOK, ""
	}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		if exit.Cause == nil {
			return exit.Code, ""
		}
		return exit.Code, err.Error()
	}
	if errors.As(err, new(*backend.LockedError)) || errors.As(err, new(*backend.HeldUpError)) {
		return CodeLocked, err.Error()
	}
	if errors.Is(err, context.Canceled) {
		return CodeInterrupted, "interrupted"
	}
	if serviceapi.Status(err) == http.StatusUnauthorized || errors.Is(err, serviceapi.ErrNoToken) {
		return CodeDenied, err.Error()
	}
	if errors.As(err, new(*serviceapi.AwayError)) {
		return CodeUnreachable, err.Error()
	}
	return CodeError, err.Error()
}

// PlainError is osfile.PlainError.
func PlainError(err error) error { return osfile.PlainError(err) }

// withPlainFaults returns the text of an error with the faults of files in it in our words.
func withPlainFaults(a *Console, text string, err error) string {
	switch e := err.(type) {
	case *os.PathError:
		return strings.ReplaceAll(text, e.Error(), a.Short(e.Path)+": "+osfile.PlainError(e).Error())
	case interface{ Unwrap() error }:
		return withPlainFaults(a, text, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, each := range e.Unwrap() {
			text = withPlainFaults(a, text, each)
		}
	}
	return text
}
