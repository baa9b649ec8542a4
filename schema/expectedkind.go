package schema

import "github.com/yamlhost/yamlhost/internal/value"

// ExpectedKind returns the kind of value that a type promises, for values that are not known yet: KindAny where it
// promises none. An optional type promises the kind that it has when the value is present.
func ExpectedKind(t Type) value.Kind {
	switch t := t.(type) {
	case Primitive:
		switch t {
		case Bool:
			return value.KindBool
		case Integer, Number:
			return value.KindNumber
		case String:
			return value.KindString
		case Asset:
			return value.KindAsset
		case Archive:
			return value.KindArchive
		case AnyResource:
			return value.KindResource
		}
	case *Optional:
		return ExpectedKind(t.Elem)
	case *Enum:
		return ExpectedKind(t.Base)
	case *Token:
		return ExpectedKind(t.Underlying)
	case *Array:
		return value.KindList
	case *Map, *Object:
		return value.KindMap
	}
	return value.KindAny
}
