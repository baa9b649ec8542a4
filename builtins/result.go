package builtins

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// always returns the result type of a function that has the same type for all arguments.
func always(t schema.Type) resultType {
	return func([]schema.Type) schema.Type { return t }
}

// argument returns the result type of a function that returns its i-th argument.
func argument(i int) resultType {
	return func(args []schema.Type) schema.Type {
		if i < len(args) && args[i] != nil {
			return args[i]
		}
		return schema.Any
	}
}

// itemOf returns the type of the items of a list or the values of a map, or Any if unknown.
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

// itemOfArgument returns a result type that applies wrap to the item type of the i-th argument.
func itemOfArgument(i int, wrap func(schema.Type) schema.Type) resultType {
	return func(args []schema.Type) schema.Type { return wrap(itemOf(argument(i)(args))) }
}

// listOfAny returns the type of a list that contains the items of all lists.
func listOfAny(lists []schema.Type) schema.Type {
	items := make([]schema.Type, len(lists))
	for i, t := range lists {
		items[i] = itemOf(t)
	}
	return list(union(items...))
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

// resultKind returns the kind of the result for the given number of arguments of any type.
func (f *Func) resultKind(args int) value.Kind {
	types := make([]schema.Type, args)
	for i := range types {
		types[i] = schema.Any
	}
	return schema.ExpectedKind(f.Result(types))
}
