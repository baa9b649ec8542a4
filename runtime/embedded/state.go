package embedded

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
)

// rawStateNote is an output of bridged plugins that describes their raw state. It becomes wrong when outputs change,
// and plugins do not require it.
const rawStateNote = "__pulumi_raw_state_delta"

// complete returns inputs with the kind's defaults, without nulls and without dependencies, which the engine tracks.
func (k kind) complete(inputs value.Value) value.Value {
	inputs = without(inputs.DeepWithoutDeps().MapOrEmpty(), func(_ string, v value.Value) bool { return v.IsNull() })
	if k.fillIn == nil {
		return inputs
	}
	return k.fillIn(inputs)
}

// pendingOutputs returns the outputs that a preview does not know. By default these are the omitted computed inputs and
// the outputs that are not inputs; none for an update that is not foreseeable.
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

// markPending returns outputs with the named ones unknown, and with those secret that the schema marks secret.
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

// seal marks the outputs secret that are secret in the schema.
func seal(outputs value.Value, def *schema.Resource) value.Value {
	for _, name := range def.SecretOutputs() {
		if v, ok := outputs.Lookup(name); ok {
			outputs = outputs.With(name, v.Secret())
		}
	}
	return outputs
}

// opaque are the inputs of all kinds that no other output reveals: those that only trigger replacements, the command of
// a deletion, and keys that sign. Signatures and certificates are public although a secret key made them.
var opaque = [...]string{"keepers", "triggers", "delete", "privateKeyPem", "caPrivateKeyPem"}

// conceal marks the outputs secret that were made of secrets: of the complete inputs, and of prior, the outputs before
// an update that the inputs do not replace. The ID and notes for the package itself stay public.
func (k kind) conceal(def *schema.Resource, outputs, inputs, prior value.Value) value.Value {
	sources := inputs
	for _, name := range opaque {
		sources = sources.Without(name)
	}
	for _, name := range def.SecretOutputs() { // secret by themselves, and not because of an input
		prior = prior.Without(name)
	}
	if prior.ContainsSecret() && (k.forgets == nil || !k.forgets(inputs)) {
		sources = value.List(sources, prior)
	}
	public := []string{schemaNote}
	if k.idOutput {
		public = append(public, "id")
	}
	return provider.Derived(outputs, inputs, sources, public...)
}

// inputsOf derives inputs from outputs for an import. It leaves out zero values of optional properties, which would
// only clutter the generated program.
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

// overlay returns base with all entries of top added or replaced.
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

// withoutNotes returns a map without keys that begin with two underscores.
func withoutNotes(v value.Value) value.Value {
	return without(v.MapOrEmpty(), func(key string, _ value.Value) bool { return strings.HasPrefix(key, "__") })
}

// without returns a map without the entries that drop selects.
func without(m value.Value, drop func(key string, v value.Value) bool) value.Value {
	for _, key := range m.Keys() {
		if v, _ := m.Lookup(key); drop(key, v) {
			m = m.Without(key)
		}
	}
	return m
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
