package plan

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// UnknownID stands for the ID of a provider that a preview only pretends to create (E1.11).
const UnknownID = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// Printed returns a value for people: a plain text as it is, everything else as the value prints, secrets hidden.
func Printed(v value.Value) string {
	if text, ok := v.AsString(); ok && !v.IsSecret() {
		return text
	}
	return v.String()
}

// IDValue returns a resource's ID as a program sees it: unknown where there is none yet.
func IDValue(id string) value.Value {
	if id == "" || id == UnknownID {
		return value.Unknown(value.KindString)
	}
	return value.String(id)
}

// WithStable completes the outputs that a preview of an update expects: those that the provider calls stable are as
// they were wherever it does not know them yet, with the secrecy and dependencies of both (E5.54).
func WithStable(outputs, old value.Value, stable []string) value.Value {
	for _, key := range stable {
		was, found := old.Lookup(key)
		if !found || was.ContainsUnknown() {
			continue
		}
		now, expected := outputs.Lookup(key)
		switch {
		case !expected:
			outputs = outputs.With(key, was)
		case now.ContainsUnknown() && now.ContainsSecret():
			outputs = outputs.With(key, was.Secret().DependingOn(now.AllDeps()...))
		case now.ContainsUnknown():
			outputs = outputs.With(key, was.DependingOn(now.AllDeps()...))
		}
	}
	return outputs
}

// PositionOf returns the first source position of the resources given.
func PositionOf(resources ...*state.Resource) string {
	for _, r := range resources {
		if r != nil && r.SourcePosition != "" {
			return r.SourcePosition
		}
	}
	return ""
}

// SameURNs compares lists whose order does not matter.
func SameURNs(a, b []urn.URN) bool {
	if slices.Equal(a, b) {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	x, y := slices.Clone(a), slices.Clone(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
