package program

import "github.com/yamlhost/yamlhost/schema"

// ItemTypes returns the types of the keys and the items of a collection; both are Any if they are unknown.
func ItemTypes(collection schema.Type) (key, item schema.Type) {
	switch t := schema.Required(collection).(type) {
	case *schema.Array:
		return schema.Integer, t.Item
	case *schema.Map:
		return schema.String, t.Item
	case *schema.Object:
		return schema.String, MemberUnion(t)
	}
	return schema.Any, schema.Any
}

// MemberUnion returns the type of any member of an object: Any for an open one, which may have further members.
func MemberUnion(o *schema.Object) schema.Type {
	if !o.Closed {
		return schema.Any
	}
	types := make([]schema.Type, 0, len(o.Properties()))
	for _, p := range o.Properties() {
		types = append(types, p.Type)
	}
	return Unify(types)
}

// maxUnion is the largest number of alternatives of an inferred type; beyond it the type is Any.
const maxUnion = 8

// Unify returns the type of a value that has one of several types; Invalid, which is assignable to everything, for
// none. Whole numbers and others become numbers, since a list of 1 and 1.5 is a list of numbers; an empty list takes
// the type of the others. Comparing each type with all before it is cheap because there are at most maxUnion.
func Unify(types []schema.Type) schema.Type {
	var distinct []schema.Type
	optional := false
	for _, t := range types {
		switch t {
		case schema.Invalid:
			return schema.Invalid
		case schema.Any:
			return schema.Any
		case schema.Null:
			optional = true
			continue
		}
		if o, ok := t.(*schema.Optional); ok {
			t, optional = schema.Required(o), true
		}
		known := false
		for i, d := range distinct {
			if known = schema.Identical(d, t); known {
				break
			}
			if merged := nonEmpty(d, t); merged != nil {
				distinct[i], known = merged, true
				break
			}
			if d == schema.Integer && t == schema.Number || d == schema.Number && t == schema.Integer {
				distinct[i], known = schema.Number, true
				break
			}
		}
		if !known {
			if len(distinct) == maxUnion {
				return schema.Any
			}
			distinct = append(distinct, t)
		}
	}
	var result schema.Type
	switch len(distinct) {
	case 0:
		if optional {
			return schema.Null
		}
		return schema.Invalid
	case 1:
		result = distinct[0]
	default:
		result = &schema.Union{Members: distinct}
	}
	if optional {
		return schema.OptionalOf(result)
	}
	return result
}

// nonEmpty returns one of two list types if the other is the type of an empty literal, which is assignable to every
// list; else nil.
func nonEmpty(a, b schema.Type) schema.Type {
	x, ok := a.(*schema.Array)
	y, both := b.(*schema.Array)
	switch {
	case !ok || !both:
	case y.Item == schema.Invalid:
		return x
	case x.Item == schema.Invalid:
		return y
	}
	return nil
}
