package embedded

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// rawStateNote is a bridged plugin's note beside outputs about their form inside the plugin. It stops
// being true when outputs change; a plugin does without it.
const rawStateNote = "__pulumi_raw_state_delta"

// complete is inputs with the kind's defaults, without nulls and without dependencies: those are the engine's business.
func (k kind) complete(inputs value.Value) value.Value {
	inputs = inputs.DeepWithoutDeps().MapOrEmpty()
	for _, key := range inputs.Keys() {
		if v, _ := inputs.Lookup(key); v.IsNull() {
			inputs = inputs.Without(key)
		}
	}
	if k.fillIn == nil {
		return inputs
	}
	return k.fillIn(inputs)
}

// pendingOutputs returns the outputs not known before the operation; by default all that are no inputs.
func (k kind) pendingOutputs(def *schema.Resource, inputs, before value.Value) []string {
	if k.pending != nil {
		return k.pending(inputs, before)
	}
	if !before.IsNull() && !k.foreseeable {
		return nil
	}
	var names []string
	for _, name := range k.computed {
		if !inputs.Has(name) {
			names = append(names, name)
		}
	}
	for _, output := range def.Outputs.Properties() {
		if def.Inputs.Property(output.Name) == nil {
			names = append(names, output.Name)
		}
	}
	return names
}

// markPending makes outputs unknown, and secret if they are secret in the schema.
func markPending(outputs value.Value, def *schema.Resource, names []string) value.Value {
	for _, name := range names {
		kind := value.KindAny
		if property := def.Outputs.Property(name); property != nil {
			kind = schema.ExpectedKind(property.Type)
		}
		outputs = outputs.With(name, value.Unknown(kind))
	}
	return seal(outputs, def)
}

// seal marks outputs secret that the schema marks so.
func seal(outputs value.Value, def *schema.Resource) value.Value {
	for _, name := range def.SecretOutputs() {
		if v, ok := outputs.Lookup(name); ok {
			outputs = outputs.With(name, v.Secret())
		}
	}
	return outputs
}

// inputsOf returns the inputs that outputs show, for an import. Zero values are left out: they say no more than an
// absent input does, and nobody wants to read them in a program.
func inputsOf(outputs value.Value, def *schema.Resource) value.Value {
	inputs := value.EmptyMap()
	for _, property := range def.Inputs.Properties() {
		v, ok := outputs.Lookup(property.Name)
		if !ok || v.IsNull() || isZero(v) && !property.Required {
			continue
		}
		inputs = inputs.With(property.Name, v)
	}
	return inputs
}

func isZero(v value.Value) bool {
	if b, ok := v.AsBool(); ok {
		return !b
	}
	if f, ok := v.AsNumber(); ok {
		return f == 0
	}
	if s, ok := v.AsString(); ok {
		return s == ""
	}
	return (v.Is(value.KindList) || v.Is(value.KindMap)) && v.Len() == 0
}

// overlay is base with every entry of top in it.
func overlay(base, top value.Value) value.Value {
	entries := make([]value.Entry, 0, base.Len()+top.Len())
	for _, part := range [...]value.Value{base, top} {
		for _, key := range part.Keys() {
			v, _ := part.Lookup(key)
			entries = append(entries, value.Entry{Key: key, Value: v})
		}
	}
	return value.MapOf(entries...)
}

// withoutNotes returns a map without the keys that plugins keep for themselves.
func withoutNotes(v value.Value) value.Value {
	v = v.MapOrEmpty()
	for _, key := range v.Keys() {
		if strings.HasPrefix(key, "__") {
			v = v.Without(key)
		}
	}
	return v
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// withTimeout is ctx with an end after the seconds of a resource's customTimeouts; 0 is no end.
func withTimeout(ctx context.Context, seconds float64) (context.Context, context.CancelFunc) {
	if seconds <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
}
