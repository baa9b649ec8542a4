package program

import (
	"slices"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

var aliasKeys = []string{"name", "noParent", "parent", "project", "stack", "type", "urn"}

// AliasKeys returns the keys of an alias that identify a resource.
func AliasKeys() []string { return slices.Clone(aliasKeys) }

// MayFail reports whether a function handles the failure of an argument, as try and can do.
func MayFail(f *builtins.Func, arg int) bool {
	return f.Name == "try" || f.Name == "can" || f.Name == "recover" && arg == 0
}

// ReturnPath parses the text of `return`. It has one step if the result has a member of that name or the text is not a
// path.
func ReturnPath(result schema.Type, text string) value.Path {
	if o, ok := schema.Required(result).(*schema.Object); ok && o.Property(text) != nil {
		return value.PathOf(text)
	}
	path, err := value.ParsePath(text)
	if err != nil || len(path) == 0 {
		return value.PathOf(text)
	}
	return path
}
