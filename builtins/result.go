package builtins

import (
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// Types that several records share.
var (
	textList  = &schema.Array{Item: schema.String}
	anyList   = &schema.Array{Item: schema.Any}
	anyMap    = &schema.Map{Item: schema.Any}
	scalar    = &schema.Union{Members: []schema.Type{schema.String, schema.Number, schema.Bool}}
	listOrMap = &schema.Union{Members: []schema.Type{anyList, anyMap}}
)

type resultType = func(args []schema.Type) schema.Type

// always is the result type of a function whose result does not depend on its arguments.
func always(t schema.Type) resultType {
	return func([]schema.Type) schema.Type { return t }
}

// argument is the type of the i-th argument.
func argument(i int) resultType {
	return func(args []schema.Type) schema.Type {
		if i < len(args) && args[i] != nil {
			return args[i]
		}
		return schema.Any
	}
}

// itemOf is the type of the items of a list or the values of a map; Any where that is open.
func itemOf(t schema.Type) schema.Type {
	switch t := t.(type) {
	case *schema.Array:
		return t.Item
	case *schema.Map:
		return t.Item
	case *schema.Optional:
		return itemOf(t.Elem)
	case schema.Primitive:
		if t == schema.Invalid {
			return t
		}
	}
	return schema.Any
}

// itemOfArgument is the item type of the i-th argument, changed by wrap.
func itemOfArgument(i int, wrap func(schema.Type) schema.Type) resultType {
	return func(args []schema.Type) schema.Type { return wrap(itemOf(argument(i)(args))) }
}

func same(t schema.Type) schema.Type { return t }

func optional(t schema.Type) schema.Type {
	switch t {
	case schema.Any, schema.Invalid:
		return t
	}
	return &schema.Optional{Elem: t}
}

func list(t schema.Type) schema.Type { return &schema.Array{Item: t} }

// witness is the kind of value that a type promises.
func witness(t schema.Type) value.Kind {
	switch t := t.(type) {
	case schema.Primitive:
		switch t {
		case schema.Bool:
			return value.KindBool
		case schema.Integer, schema.Number:
			return value.KindNumber
		case schema.String:
			return value.KindString
		case schema.Asset:
			return value.KindAsset
		case schema.Archive:
			return value.KindArchive
		case schema.AnyResource:
			return value.KindResource
		}
	case *schema.Array:
		return value.KindList
	case *schema.Map, *schema.Object:
		return value.KindMap
	case *schema.Enum:
		return witness(t.Base)
	case *schema.Token:
		return witness(t.Underlying)
	}
	return value.KindAny
}

// witness is the kind of the function's result as far as it does not depend on the arguments.
func (f *Func) witness(args int) value.Kind {
	types := make([]schema.Type, args)
	for i := range types {
		types[i] = schema.Any
	}
	return witness(f.Result(types))
}
