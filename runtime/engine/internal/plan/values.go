package plan

import "github.com/yamlhost/yamlhost/value"

// UnknownID stands for the ID of a provider that a preview only pretends to create (E1.11).
const UnknownID = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// AsMap returns v if it is a map, else an empty one.
func AsMap(v value.Value) value.Value {
	if v.Is(value.KindMap) {
		return v
	}
	return value.EmptyMap()
}

// Printed is a value for people: a plain text as it is, everything else as the value prints, secrets hidden.
func Printed(v value.Value) string {
	if text, ok := v.AsString(); ok && !v.IsSecret() {
		return text
	}
	return v.String()
}

// IDValue is a resource's ID as a program sees it.
func IDValue(id string) value.Value {
	if id == "" || id == UnknownID {
		return value.Unknown(value.KindString)
	}
	return value.String(id)
}
