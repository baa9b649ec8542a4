package embedded

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Limits for the command and its output in an error message.
const (
	errorOutputLines   = 20
	errorCommandLength = 120
)

// commandError describes the failure of a command: its exit status and the end of its output, with secrets masked. The
// outcome is unclear if the command has started.
func commandError(j job, result processResult, secrets *mask.Masker, err error) error {
	command, _, more := strings.Cut(strings.TrimSpace(secrets.Hide(j.text())), "\n")
	if runes := []rune(command); len(runes) > errorCommandLength {
		command, more = string(runes[:errorCommandLength]), true
	}
	if more {
		command += " …"
	}
	failed := &provider.Error{Outcome: provider.Unclear, Cause: err}
	var exit *exec.ExitError
	if !result.started {
		failed.Outcome = provider.NothingHappened
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		failed.Message = "the command was stopped because its time limit was over: " + command
	case errors.Is(err, context.Canceled):
		failed.Message = "the command was cancelled: " + command
	case !result.started:
		failed.Message = fmt.Sprintf("the command did not start: %s: %s", startFault(err), command)
	case errors.As(err, &exit):
		failed.Message = fmt.Sprintf("the command failed with %s: %s", exit.ProcessState, command)
	default:
		failed.Message = fmt.Sprintf("the command failed: %s: %s", err, command)
	}
	if output := lastLines(result.both, errorOutputLines); output != "" {
		failed.Message += "\n" + output
	}
	return failed
}

// startFault returns the reason why a command did not start, without the names of system calls.
func startFault(err error) string {
	if path, ok := errors.AsType[*exec.Error](err); ok {
		return fmt.Sprintf("%s: %s", path.Name, path.Err)
	}
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "fork/exec "), "chdir ")
}

// lastLines returns the last n lines of text. If there are more, it first writes how many are left out.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if before := len(lines) - n; before > 0 {
		unit := "lines"
		if before == 1 {
			unit = "line"
		}
		lines = append([]string{fmt.Sprintf("… (%d %s before)", before, unit)}, lines[before:]...)
	}
	return strings.Join(lines, "\n")
}
