package provider

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Outcome is the known effect of a failed operation (E3.50).
type Outcome uint8

// NothingHappened means that the resource is as before, Unclear that it may have changed, and Partial that it exists
// and is recorded but is not healthy.
const (
	NothingHappened Outcome = iota
	Partial
	Unclear
)

// Error is a failed provider call whose outcome matters. After a Partial failure, ID, Outputs, Inputs and Reasons
// describe the resource as it is now.
type Error struct {
	Outcome Outcome
	Message string
	ID      string
	Outputs value.Value
	Inputs  value.Value // null when the provider gave none
	Reasons []string
	// Properties are the faults of individual properties, if the provider named them.
	Properties          []Failure
	RefreshBeforeUpdate bool
	Unimplemented       bool // the provider does not implement the call
	// Lost reports, for an Unclear failure, that no answer or no readable answer arrived: the provider may have carried
	// out the request.
	Lost  bool
	Cause error
}

// Error returns the provider's text. For a partial failure it adds the reasons (E3.50), as a list if there are several.
func (e *Error) Error() string {
	if e.Outcome != Partial {
		return e.Message
	}
	reasons := strings.Join(e.Reasons, "")
	if n := len(e.Reasons); n != 1 {
		reasons = fmt.Sprintf("%d error(s) occurred:", n)
		for _, reason := range e.Reasons {
			reasons += "\n    * " + reason
		}
	}
	if e.Message == "" || strings.HasPrefix(reasons, e.Message) {
		return reasons
	}
	return e.Message + ": " + reasons
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Cause }

// CrashError is returned when a plugin's process is gone: it crashed, was killed or never started properly (D10).
type CrashError struct {
	Plugin string
	Exit   string // how the process ended, in the operating system's words
	Output string // the end of the process's output
	PID    int    // process ID, which distinguishes one crash from another; 0 if unknown
}

// Again returns a short text for a crash that has already been reported in full.
func (e *CrashError) Again() string {
	return fmt.Sprintf("plugin %s has stopped, see above", e.Plugin)
}

// Error names the plugin and describes how it ended and its last output.
func (e *CrashError) Error() string {
	text := fmt.Sprintf("plugin %s stopped unexpectedly (%s)", e.Plugin, e.Exit)
	if out := strings.TrimSpace(e.Output); out != "" {
		text += "; its last output:\n    " + strings.ReplaceAll(out, "\n", "\n    ")
	}
	return text
}

// MissingError is returned when no plugin for a package is found.
type MissingError struct {
	Package, Version string
	Looked           []string // the places that were searched
	Advice           string   // how to resolve the error; empty if there is no advice
}

// Error describes the missing plugin, the places searched and the way to resolve the error.
func (e *MissingError) Error() string {
	name := e.Package
	if e.Version != "" {
		name += " " + e.Version
	}
	text := fmt.Sprintf("no provider plugin for package %s: looked for pulumi-resource-%s in %s", name, e.Package,
		strings.Join(e.Looked, ", "))
	if e.Advice != "" {
		text += "\n" + e.Advice
	}
	return text
}
