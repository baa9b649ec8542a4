package builtins

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// conform returns an error if v does not fit a parameter's type. It converts nothing: a function that takes numbers for
// strings must declare that. Unknown values fit every type.
func conform(v value.Value, t schema.Type) error {
	if !v.IsKnown() {
		return nil
	}
	switch t := t.(type) {
	case schema.Primitive:
		want, restricted := primitives[t]
		n, _ := v.AsNumber()
		switch {
		case !restricted:
			return nil
		case !slices.Contains(want.kinds, v.Kind()):
		case t != schema.Integer || n == math.Trunc(n) && !math.IsInf(n, 0):
			return nil
		case !math.IsInf(n, 0):
			return fmt.Errorf("must be a whole number")
		}
	case *schema.Array:
		items, ok := v.AsList()
		if !ok {
			break
		}
		for i, item := range items {
			if err := conform(item, t.Item); err != nil {
				return fmt.Errorf("item %d %w", i, err)
			}
		}
		return nil
	case *schema.Map:
		if !v.Is(value.KindMap) {
			break
		}
		for i := range v.Len() {
			if err := conform(v.At(i), t.Item); err != nil {
				return fmt.Errorf("the value of a key %w", err)
			}
		}
		return nil
	case *schema.Optional:
		if v.IsNull() {
			return nil
		}
		return conform(v, t.Elem)
	case *schema.Union:
		for _, member := range t.Members {
			if accepts(member, v.Kind()) && conform(v, member) == nil {
				return nil
			}
		}
	default:
		return nil
	}
	return fmt.Errorf("must be %s, not %s", describe(t), kindPhrase(v.Kind()))
}

// accepts reports whether a list or map type can have values of kind k. It returns true for all other types.
func accepts(t schema.Type, k value.Kind) bool {
	switch t.(type) {
	case *schema.Array:
		return k == value.KindList
	case *schema.Map:
		return k == value.KindMap
	}
	return true
}

// primitives maps types to the kinds of value that fit them, and to the phrase after "must be". Every value fits a type
// that is not in the map.
var primitives = map[schema.Primitive]struct {
	phrase string
	kinds  []value.Kind
}{
	schema.Null:        {"null", []value.Kind{value.KindNull}},
	schema.Bool:        {"a boolean", []value.Kind{value.KindBool}},
	schema.Integer:     {"a whole number", []value.Kind{value.KindNumber}}, // conform also rejects fractions
	schema.Number:      {"a number", []value.Kind{value.KindNumber}},
	schema.String:      {"a string", []value.Kind{value.KindString}},
	schema.JSON:        {"a string", []value.Kind{value.KindString}},
	schema.Asset:       {"an asset or archive", []value.Kind{value.KindAsset, value.KindArchive}},
	schema.Archive:     {"an archive", []value.Kind{value.KindArchive}},
	schema.AnyResource: {"a resource", []value.Kind{value.KindResource}},
}

// describe returns the phrase for a type after "must be".
func describe(t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		return cmp.Or(primitives[t].phrase, "something else")
	case *schema.Array:
		return "a list"
	case *schema.Map:
		return "a map"
	case *schema.Union:
		text := ""
		for i, member := range t.Members {
			switch {
			case i == 0:
			case i == len(t.Members)-1:
				text += " or "
			default:
				text += ", "
			}
			text += describe(member)
		}
		return text
	}
	return "something else"
}

// kindPhrase returns the name of a kind with its article.
func kindPhrase(k value.Kind) string {
	switch k {
	case value.KindNull:
		return "null"
	case value.KindAsset, value.KindArchive, value.KindAny:
		return "an " + k.String()
	}
	return "a " + k.String()
}
