package provider

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Views are for providers whose resources consist of others that people want to see: while such a resource is worked
// on, its provider tells what happens to its views (E4.114). They are part of their owner and have no lives of their
// own.
type Views struct {
	Old []View // the owner's views so far
	// Publish reports what is being done to views. It is safe for concurrent use, and must not be called after the call
	// that it came with is over.
	Publish func(ctx context.Context, steps []ViewStep) error
}

// View is the state of a view.
type View struct {
	Type, Name             string
	ParentType, ParentName string // of the view that it is below; empty for the owner
	Inputs, Outputs        value.Value
}

// ViewStep is one thing done to a view.
type ViewStep struct {
	Op       string // as the engine's operations are called: create, update, delete, create-replacement, …
	Outcome  Outcome
	Error    string // why it failed; empty when it did not
	Old, New *View
	Keys     []string
	Diffs    []string
	Detailed map[string]PropertyDiff
}
