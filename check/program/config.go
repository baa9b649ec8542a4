package program

import (
	"cmp"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// ConfigText is a configuration value of the stack (L2.3).
type ConfigText struct {
	Text    string // scalars as they are, lists and maps as JSON
	Secret  bool
	Project bool // given by the project file, not by the stack

	// Structured reports whether the value is a list or a map, which a text may look like (L2.34).
	Structured bool
	// Unread reports whether the value is a secret that was not decrypted: Text is empty and the value unknown.
	Unread bool
	// Refused reports whether the value is known to have another type than declared, and that has been reported.
	Refused bool
	// Key and Value are the places of the key and of its value in a file of the stack; zero when not known.
	Key, Value diag.Range
}

// ConfigType returns a declared type (L2.20), any type for none; the parser has reported names that are none.
func ConfigType(t *ast.ConfigType) schema.Type {
	if t == nil {
		return schema.Any
	}
	switch t.Name {
	case "object":
		return &schema.Map{Item: itemType(t.Item)}
	case "list":
		return &schema.Array{Item: itemType(t.Item)}
	}
	return cmp.Or(scalarTypes[t.Name], schema.Type(schema.Any))
}

var scalarTypes = map[string]schema.Type{"string": schema.String, "number": schema.Number, "integer": schema.Integer,
	"boolean": schema.Bool}

// itemType returns the type of the items of a configuration value, which may be null where it is written with a "?".
func itemType(t *ast.ConfigType) schema.Type {
	if t != nil && t.Optional {
		return schema.OptionalOf(ConfigType(t))
	}
	return ConfigType(t)
}
