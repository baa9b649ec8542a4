package embedded

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// kinds is the implementation of an embedded provider. All maps are by token.
type kinds struct {
	resources map[string]kind
	functions map[string]function
	// refused holds the tokens of the schema that are not supported, with the reason and advice.
	refused map[string]string
	// configure returns the implementation for a provider's inputs; nil if the package has no settings.
	configure func(inputs value.Value) (kinds, error)
}

// kind is the special behaviour of one resource type. By default inputs become outputs, every change is an update in
// place, and delete does nothing.
type kind struct {
	// fillIn adds defaults for omitted inputs. As in bridged packages, defaults become outputs, never inputs. inputs
	// has no nulls; it may come from an old state.
	fillIn func(inputs value.Value) value.Value
	// check returns failures that the schema does not cover. Inputs are converted, and may be partly unknown.
	check func(inputs value.Value) []provider.Failure
	// computed are inputs that the kind computes if they are omitted. Omitting them is not a change, and an update
	// keeps the old value.
	computed []string
	// byOutputs compares new inputs with old outputs, as bridged packages do, instead of with old inputs.
	byOutputs bool
	// replaces reports whether a change of one property requires a replacement; nil uses the schema (replaceOnChanges).
	replaces func(property string, before, after value.Value) bool
	// pending returns the outputs that are known only after a create or an update. before is null on create.
	pending func(inputs, before value.Value) []string
	// foreseeable reports whether update only computes, so that a preview can run it.
	foreseeable bool
	// forgets reports whether an update makes its outputs of the inputs alone; nil if it always uses the old ones.
	forgets func(inputs value.Value) bool
	// stale returns the output that requires a replacement although no input has changed, such as an expired time; ""
	// for none. inputs are the new inputs with defaults.
	stale func(inputs, outputs value.Value) string
	// read returns the current outputs of a resource; false if it no longer exists. nil returns them unchanged.
	read func(outputs value.Value) (value.Value, bool)
	// create creates the resource. Inputs have defaults and are known; outputs need not repeat them.
	create func(ctx context.Context, s provider.Subject, inputs value.Value) (id string, outputs value.Value, err error)
	// update changes the resource and returns outputs that replace old ones. before are the old outputs. It may be nil.
	update func(ctx context.Context, s provider.Subject, inputs, before value.Value) (value.Value, error)
	// delete deletes the resource; nil if there is nothing to delete.
	delete func(ctx context.Context, s provider.Subject, outputs value.Value) error
	// adopt returns the ID and outputs of an existing resource for an import; nil if an import is impossible.
	adopt func(id string) (newID string, outputs value.Value, err error)
	// cannotAdopt is the reason why adopt is nil.
	cannotAdopt string
	// idOutput reports whether the outputs include the ID, as in bridged packages.
	idOutput bool
}

// function implements a function of a package. args are converted and known.
type function func(ctx context.Context, args value.Value) (value.Value, error)
