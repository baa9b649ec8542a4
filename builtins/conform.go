package builtins

import (
	"fmt"
	"math"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// conform reports why v does not fit a parameter's type. Nothing is converted here: that a number fits where a text is
// wanted is for the function to say. Unknown values fit everywhere.
func conform(v value.Value, t schema.Type) error {
	if !v.IsKnown() {
		return nil
	}
	switch t := t.(type) {
	case schema.Primitive:
		if fits(v, t) {
			return nil
		}
		if n, ok := v.AsNumber(); ok && t == schema.Integer && n != math.Trunc(n) {
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

// accepts reports whether a type can have values of a kind, for types with one kind.
func accepts(t schema.Type, k value.Kind) bool {
	switch t.(type) {
	case *schema.Array:
		return k == value.KindList
	case *schema.Map:
		return k == value.KindMap
	}
	return true
}

func fits(v value.Value, t schema.Primitive) bool {
	switch t {
	case schema.Null:
		return v.IsNull()
	case schema.Bool:
		return v.Is(value.KindBool)
	case schema.Integer:
		n, ok := v.AsNumber()
		return ok && n == math.Trunc(n) && !math.IsInf(n, 0)
	case schema.Number:
		return v.Is(value.KindNumber)
	case schema.String, schema.JSON:
		return v.Is(value.KindString)
	case schema.Asset:
		return v.Is(value.KindAsset) || v.Is(value.KindArchive)
	case schema.Archive:
		return v.Is(value.KindArchive)
	case schema.AnyResource:
		return v.Is(value.KindResource)
	}
	return true
}

// describe is a type as the object of "must be".
func describe(t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		switch t {
		case schema.Null:
			return "null"
		case schema.Bool:
			return "a boolean"
		case schema.Integer:
			return "a whole number"
		case schema.Number:
			return "a number"
		case schema.String, schema.JSON:
			return "a string"
		case schema.Asset:
			return "an asset or archive"
		case schema.Archive:
			return "an archive"
		case schema.AnyResource:
			return "a resource"
		}
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

// kindPhrase is a kind with its article.
func kindPhrase(k value.Kind) string {
	switch k {
	case value.KindNull:
		return "null"
	case value.KindAsset, value.KindArchive, value.KindAny:
		return "an " + k.String()
	}
	return "a " + k.String()
}
