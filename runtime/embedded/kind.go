package embedded

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// kinds is the implementation of an embedded provider, by token.
type kinds struct {
	resources map[string]kind
	functions map[string]function
	// refused are unsupported tokens of the schema, with what to do instead.
	refused map[string]string
	// configure returns the implementation for a provider's inputs; nil if a package has no settings.
	configure func(inputs value.Value) (kinds, error)
}

// kind is the special behaviour of one resource type. By default inputs become outputs, every change is an update in
// place, and delete does nothing.
type kind struct {
	// fillIn returns the outputs with defaults for omitted inputs. Such defaults never become inputs, as in bridged
	// packages. inputs has no nulls; it may come from an old state.
	fillIn func(inputs value.Value) value.Value
	// check returns faults that the schema does not cover. Inputs are converted, and may be partly unknown.
	check func(inputs value.Value) []provider.Failure
	// computed are inputs that the kind fills in if they are omitted: then their absence is not a change, and an update
	// keeps the former value.
	computed []string
	// byOutputs compares new inputs with old outputs, as bridged packages do, instead of with old inputs.
	byOutputs bool
	// replaces reports whether a change of one property requires a replacement; nil uses the schema (replaceOnChanges).
	replaces func(property string, before, after value.Value) bool
	// pending returns the outputs that are known only after a create or an update. before is null on create.
	pending func(inputs, before value.Value) []string
	// foreseeable reports whether update only computes, so that a preview knows the result.
	foreseeable bool
	// stale returns the output that requires a replacement without a change, such as an expired time; "" for none.
	// inputs are the new ones, with defaults.
	stale func(inputs, outputs value.Value) string
	// read returns the present state of a resource with these outputs; false if it no longer exists.
	read func(outputs value.Value) (value.Value, bool)
	// create creates the resource; outputs need not repeat inputs or defaults. Inputs have defaults, and are known.
	create func(ctx context.Context, s provider.Subject, inputs value.Value) (id string, outputs value.Value, err error)
	// update changes the resource; its result is added to the outputs. before are the old outputs.
	update func(ctx context.Context, s provider.Subject, inputs, before value.Value) (value.Value, error)
	// delete deletes the resource; nil if there is nothing to delete.
	delete func(ctx context.Context, s provider.Subject, outputs value.Value) error
	// adopt returns the outputs of a resource by its ID, for an import; nil if that is impossible.
	adopt func(id string) (newID string, outputs value.Value, err error)
	// cannotAdopt is the reason if adopt is nil.
	cannotAdopt string
	// idOutput repeats the ID as an output, as bridged packages do.
	idOutput bool
}

// function computes a result from converted and known arguments.
type function func(ctx context.Context, args value.Value) (value.Value, error)
