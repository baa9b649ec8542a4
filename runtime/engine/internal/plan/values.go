package plan

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// UnknownID is the placeholder ID of a provider that exists only in a preview (E1.11).
const UnknownID = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// Printed returns a value for display: a plain text without quotes, everything else as it prints, with secrets hidden.
func Printed(v value.Value) string {
	if text, ok := v.AsString(); ok && !v.IsSecret() {
		return text
	}
	return v.String()
}

// IDValue returns a resource's ID for a program; it is unknown if there is none yet.
func IDValue(id string) value.Value {
	if id == "" || id == UnknownID {
		return value.Unknown(value.KindString)
	}
	return value.String(id)
}

// WithStable completes the expected outputs in a preview of an update: a stable output that the provider does not know
// yet keeps its prior value, with the secrecy and the dependencies of both (E5.54).
func WithStable(outputs, old value.Value, stable []string) value.Value {
	for _, key := range stable {
		prior, found := old.Lookup(key)
		if !found || prior.ContainsUnknown() {
			continue
		}
		now, expected := outputs.Lookup(key)
		switch {
		case !expected:
			outputs = outputs.With(key, prior)
		case now.ContainsUnknown() && now.ContainsSecret():
			outputs = outputs.With(key, prior.Secret().DependingOn(now.AllDeps()...))
		case now.ContainsUnknown():
			outputs = outputs.With(key, prior.DependingOn(now.AllDeps()...))
		}
	}
	return outputs
}

// PositionOf returns the first source position among resources, or "".
func PositionOf(resources ...*state.Resource) string {
	for _, r := range resources {
		if r != nil && r.SourcePosition != "" {
			return r.SourcePosition
		}
	}
	return ""
}

// SameURNs reports whether two lists are equal up to their order.
func SameURNs(a, b []urn.URN) bool {
	if slices.Equal(a, b) {
		return true
	}
	return len(a) == len(b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
