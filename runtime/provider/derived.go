package provider

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Derived returns outputs with the secrecy of the values that they were made of, so that what is made of a secret is
// secret. An output that repeats the input of its name has the marks of that input. Every other output is secret as a
// whole if sources contains a secret, except those that public names. Providers that do not track which output is made
// of what pass everything that they read as sources.
func Derived(outputs, inputs, sources value.Value, public ...string) value.Value {
	made := sources.ContainsSecret()
	if !made && !inputs.ContainsSecret() {
		return outputs
	}
	for i, key := range outputs.Keys() {
		v := outputs.At(i)
		switch input, given := inputs.Lookup(key); {
		case given && value.SameContent(v, input):
			outputs = outputs.With(key, v.SecretLike(input))
		case made && !v.IsSecret() && !slices.Contains(public, key):
			outputs = outputs.With(key, v.Secret())
		}
	}
	return outputs
}
