package ast

import "slices"

// ResourceFields are the names of the fields of a resource (L3.B).
func ResourceFields() []string {
	return []string{"type", "name", "properties", "options", "get", "defaultProvider", "forEach", "if"}
}

// OptionName reports whether name is the name of a resource option.
func OptionName(name string) bool { return slices.Contains(OptionNames(), name) }

// FieldName reports whether name is the name of a resource field.
func FieldName(name string) bool { return slices.Contains(ResourceFields(), name) }
