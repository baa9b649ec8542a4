package dynamic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// methods are the names of the methods that the engine calls.
var methods = []string{"check", "diff", "create", "read", "update", "delete", "configure"}

// slip returns an error if the name of an uncalled method is probably a misspelling of a method that the provider
// lacks. Other methods of the author's own are no error.
func slip(file string, implemented, others []string) error {
	for _, other := range others {
		for _, method := range methods {
			if !slices.Contains(implemented, method) && alike(strings.ToLower(strings.ReplaceAll(other, "_", "")), method) {
				return &provider.Error{Message: fmt.Sprintf("%s has a method %s, which is never called: did you mean "+
					"%s?", file, other,
					method)}
			}
		}
	}
	return nil
}

// alike reports whether two words differ by at most one letter or by two swapped neighbors.
func alike(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) || a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
