package builtins

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// always returns the result type of a function whose result does not depend on its arguments.
func always(t schema.Type) resultType {
	return func([]schema.Type) schema.Type { return t }
}

// argument returns the type of the i-th argument.
func argument(i int) resultType {
	return func(args []schema.Type) schema.Type {
		if i < len(args) && args[i] != nil {
			return args[i]
		}
		return schema.Any
	}
}

// itemOf returns the type of the items of a list or the values of a map; Any where that is open.
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

// itemOfArgument returns the item type of the i-th argument, changed by wrap.
func itemOfArgument(i int, wrap func(schema.Type) schema.Type) resultType {
	return func(args []schema.Type) schema.Type { return wrap(itemOf(argument(i)(args))) }
}

// listOfAny returns the type of a list with the items of all lists.
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

// resultKind returns the kind of the function's result as far as it does not depend on the arguments.
func (f *Func) resultKind(args int) value.Kind {
	types := make([]schema.Type, args)
	for i := range types {
		types[i] = schema.Any
	}
	return schema.ExpectedKind(f.Result(types))
}
