package embedded

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// kinds is everything that an embedded provider does, by token.
type kinds struct {
	resources map[string]kind
	functions map[string]function
	// refused are tokens of the schema that are not done here, with what to do instead.
	refused map[string]string
	// configure is all of this under a provider's inputs; nil when a package has no settings.
	configure func(inputs value.Value) (kinds, error)
}

// kind is the special part of one resource type. A missing field has a plain meaning: inputs become outputs, every
// change is an update in place, nothing happens on delete.
type kind struct {
	// fillIn returns the outputs with defaults for omitted inputs. Such defaults never become inputs, as in bridged
	// packages. inputs has no nulls; it may come from an old state.
	fillIn func(inputs value.Value) value.Value
	// check finds faults beyond those that the schema shows. Inputs are converted, and may be unknown in part.
	check func(inputs value.Value) []provider.Failure
	// computed are inputs that the kind fills in itself when they are left out: that one is not given is no change then,
	// and an update keeps what there was.
	computed []string
	// byOutputs compares new inputs with old outputs, as bridged packages do, instead of with old inputs.
	byOutputs bool
	// replaces decides whether a change of one property means a replacement; nil asks the schema (replaceOnChanges).
	replaces func(property string, before, after value.Value) bool
	// pending are the outputs that a create or an update will only know afterwards. before is null on create.
	pending func(inputs, before value.Value) []string
	// foreseeable reports whether update does nothing but compute, so that a preview can tell what will come of it.
	foreseeable bool
	// stale names the output that asks for a replacement by itself, such as a time that is over; "" for none. inputs are
	// the new ones, with defaults.
	stale func(inputs, outputs value.Value) string
	// read returns the present state of a resource with these outputs; false if it does not exist any more.
	read func(outputs value.Value) (value.Value, bool)
	// create makes the resource; outputs need not repeat inputs or defaults. Inputs have defaults, and are known.
	create func(ctx context.Context, s provider.Subject, inputs value.Value) (id string, outputs value.Value, err error)
	// update changes it: what it returns is added to the outputs. before are the old outputs.
	update func(ctx context.Context, s provider.Subject, inputs, before value.Value) (value.Value, error)
	// delete ends it. Of a resource without it nothing is left to end.
	delete func(ctx context.Context, s provider.Subject, outputs value.Value) error
	// adopt finds out about a resource from its ID alone, for an import. Nil says that this cannot be done.
	adopt func(id string) (newID string, outputs value.Value, err error)
	// cannotAdopt describes why not, when adopt is nil.
	cannotAdopt string
	// idOutput repeats the ID as an output, as bridged packages do.
	idOutput bool
}

// function computes a result from arguments that are converted and known.
type function func(ctx context.Context, args value.Value) (value.Value, error)
