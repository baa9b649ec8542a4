package provider

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Outcome is the known effect of a failed operation (E3.50).
type Outcome uint8

// The outcomes. NothingHappened: the resource is as before. Unclear: it may have changed. Partial: it exists, is
// recorded, and is not healthy.
const (
	NothingHappened Outcome = iota
	Partial
	Unclear
)

// Error is a failed provider call whose outcome matters. Of a Partial failure, ID, Outputs, Inputs and Reasons tell
// what there is now.
type Error struct {
	Outcome Outcome
	Message string
	ID      string
	Outputs value.Value
	Inputs  value.Value // null when the provider gave none
	Reasons []string
	// Properties are faults of single properties, when the provider named them.
	Properties          []Failure
	RefreshBeforeUpdate bool
	Unimplemented       bool // the provider does not know the call
	// Lost reports, for an Unclear failure, that no answer came, or none that could be understood: the provider may
	// well have done what it was asked, and nobody can tell.
	Lost  bool
	Cause error
}

// Error is the provider's text; of a partial failure the reasons too (E3.50), several of them as a list.
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

// CrashError is returned when a plugin's process is gone: it crashed, was killed or never came up (D10).
type CrashError struct {
	Plugin string
	Exit   string // how the process ended, as the system tells
	Output string // the end of its output
	PID    int    // of the process, for telling one crash from another; 0 when not known
}

// Again is a short text for a crash that was told in full before.
func (e *CrashError) Again() string {
	return fmt.Sprintf("plugin %s has stopped, see above", e.Plugin)
}

// Error names the plugin, how it ended and what it said last.
func (e *CrashError) Error() string {
	text := fmt.Sprintf("plugin %s stopped unexpectedly (%s)", e.Plugin, e.Exit)
	if out := strings.TrimSpace(e.Output); out != "" {
		text += "; its last output:\n    " + strings.ReplaceAll(out, "\n", "\n    ")
	}
	return text
}

// MissingError is returned when no plugin for a package was found.
type MissingError struct {
	Package, Version string
	Looked           []string // where it was looked for
	Advice           string   // what to do about it; empty when nobody has said
}

// Error describes what is missing, where it was looked for, and what to do about it.
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
