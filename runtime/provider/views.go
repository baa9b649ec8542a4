package provider

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Views serve providers whose resources consist of other resources that users want to see. While such a resource is
// processed, its provider reports what happens to its views (E4.114). Views are part of their owner and have no life
// cycle of their own.
type Views struct {
	Old []View // the owner's views before the call
	// Publish reports steps on views. It is safe for concurrent use, and must not be called after the provider call
	// that it belongs to has returned.
	Publish func(ctx context.Context, steps []ViewStep) error
}

// View is the state of a view.
type View struct {
	Type, Name             string
	ParentType, ParentName string // of the parent view; empty if the parent is the owner
	Inputs, Outputs        value.Value
}

// ViewStep is one step on a view.
type ViewStep struct {
	Op       string // the engine's name of the operation: create, update, delete, create-replacement, …
	Outcome  Outcome
	Error    string // why the step failed; empty if it succeeded
	Old, New *View
	Keys     []string
	Diffs    []string
	Detailed map[string]PropertyDiff
}
