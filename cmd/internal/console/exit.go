package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/serviceapi"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// The exit codes, the same for each command. The codes up to 9, and 255, are Pulumi's (F7.14). 4 and 5 stay unused:
// Pulumi reserves them for resource and policy. Our own codes begin at 10.
const (
	CodeOK          = 0
	CodeError       = 1 // any other error
	CodeDenied      = 3 // credentials are missing or refused
	CodeUsage       = 2 // of an invocation: the command has a question, and there is no terminal
	codeNoStack     = 6
	CodeChanges     = 7 // although none were expected
	CodeCancelled   = 8 // by a second interrupt; calls in flight are pending operations
	CodeTimeout     = 9
	CodePending     = 10 // an earlier run left a creation that needs a decision
	CodeBadUsage    = 11 // a flag, an argument or a command
	CodeProgram     = 12 // the program, the project file or a stack file has errors
	CodeConfig      = 13 // configuration is missing
	CodeFailed      = 14 // an operation ran, and a part of it failed
	CodeLocked      = 15 // another run holds the stack
	CodePlan        = 16 // the run would differ from the plan
	CodeDrift       = 17 // existing objects differ from the state or the program
	CodeInterrupted = 18 // by one interrupt; operations in flight have finished
	CodeUnreachable = 19 // a provider or the service behind it does not answer, so that the result is not known
	CodeInternal    = 255
)

// codeNames are the codes with the names that reports and CI systems get.
var codeNames = map[int]string{
	CodeOK: "ok", CodeError: "error", CodeUsage: "invocation", codeNoStack: "no-stack", CodeChanges: "changes",
	CodeCancelled: "cancelled", CodeTimeout: "timeout", CodePending: "pending", CodeBadUsage: "usage",
	CodeProgram: "program",
	CodeConfig:  "config-missing", CodeFailed: "failed", CodeLocked: "locked", CodePlan: "plan-refused",
	CodeDrift:       "drift",
	CodeInterrupted: "interrupted", CodeDenied: "denied", CodeUnreachable: "unreachable", CodeInternal: "internal",
}

// CodeName is the name of an exit code.
func CodeName(code int) string { return codeNames[code] }

// PulumiCode returns the exit code of the Pulumi CLI for an exit code of this program. A code that Pulumi does not
// have becomes its general error.
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

// Error is the text of the cause, or the exit code where there is none.
func (e *ExitError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Cause.Error()
}

// Unwrap is the cause.
func (e *ExitError) Unwrap() error { return e.Cause }

// ErrReported ends a command whose faults have been shown.
var ErrReported = &ExitError{Code: CodeError}

// Reported ends a command after findings: bad programs and missing configuration have codes of their own.
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

// WithCode is an error that ends the program with a code.
func WithCode(code int, format string, args ...any) error {
	return &ExitError{Code: code, Cause: fmt.Errorf(format, args...)}
}

// CodeOf is the exit code of an error, and the text to show; empty when there is nothing more to say.
func CodeOf(err error) (code int, text string) {
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

// PlainError is an error of the file system without the name of the file, which is said already.
func PlainError(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
