package builtins

import (
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// lazies are the functions that evaluate only some of their arguments (L10.C1, L10.C5).
var lazies = map[string]lazyFunc{
	"if": func(ctx context.Context, _ Env, args []Thunk) (value.Value, error) {
		condition, err := args[0](ctx)
		if err != nil {
			return value.Null, err
		}
		if !condition.IsKnown() {
			return condition.UnknownAs(value.KindAny), nil
		}
		yes, ok := condition.AsBool()
		if !ok {
			return value.Null, blame(0, "condition: must be a boolean, not %s", kindPhrase(condition.Kind()))
		}
		branch := args[2]
		if yes {
			branch = args[1]
		}
		result, err := branch(ctx)
		return result.WithMarksOf(condition), err
	},
	"try": func(ctx context.Context, env Env, args []Thunk) (value.Value, error) {
		last := error(&Error{Arg: -1, Reason: "needs at least one argument"})
		for _, arg := range args {
			result, err := arg(ctx)
			if err == nil {
				return result, nil
			}
			if fault, _ := env.Recoverable(err); !fault {
				return value.Null, err
			}
			last = err
		}
		return value.Null, last
	},
	"can": func(ctx context.Context, env Env, args []Thunk) (value.Value, error) {
		result, err := args[0](ctx)
		if err != nil {
			if fault, _ := env.Recoverable(err); !fault {
				return value.Null, err
			}
			return value.Bool(false), nil
		}
		if result.ContainsUnknown() {
			return value.UnknownFrom(value.KindBool, result), nil
		}
		sure := value.Bool(true).DependingOn(result.AllDeps()...)
		if result.ContainsSecret() {
			sure = sure.Secret()
		}
		return sure, nil
	},
	"recover": func(ctx context.Context, env Env, args []Thunk) (value.Value, error) {
		result, err := args[0](ctx)
		if err == nil {
			return result, nil
		}
		if fault, failure := env.Recoverable(err); !fault && !failure {
			return value.Null, err
		}
		return args[1](ctx)
	},
}

// logicEvals are the functions for control flow that evaluate all of their arguments.
var logicEvals = map[string]evalFunc{
	"notImplemented": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		message, _ := args[0].AsString()
		return value.Null, &Error{Arg: -1, Reason: "not implemented", Detail: message} // removed if it is secret
	},
	"coalesce": gives(func(args []value.Value) value.Value {
		// The skipped nulls have influenced the result, so it carries their marks.
		result := value.Null
		for _, v := range spread(args) {
			result = v.WithMarksOf(result)
			if !v.IsNull() {
				break
			}
		}
		return result
	}),
}

// logicResults are the result types that depend on the arguments.
var logicResults = map[string]resultType{
	"if": func(args []schema.Type) schema.Type {
		return union(argument(1)(args), argument(2)(args))
	},
	"try":     eitherType,
	"recover": eitherType,
	"coalesce": func(args []schema.Type) schema.Type {
		if len(args) == 1 {
			return optional(itemOf(args[0]))
		}
		var found []schema.Type
		for _, arg := range args {
			t, nullable := withoutNull(arg)
			if t != nil {
				found = append(found, t)
			}
			if !nullable {
				return union(found...) // later arguments are not used
			}
		}
		if len(found) == 0 {
			return schema.Null
		}
		return optional(union(found...))
	},
}

// eitherType returns the result type of a function that returns one of its arguments.
func eitherType(args []schema.Type) schema.Type { return union(args...) }

// withoutNull returns a type without null, or nil if nothing else is left, and whether a value of the type may be null.
func withoutNull(t schema.Type) (rest schema.Type, nullable bool) {
	switch t := t.(type) {
	case nil:
		return schema.Any, true
	case schema.Primitive:
		switch t {
		case schema.Null:
			return nil, true
		case schema.Any, schema.Invalid:
			return t, true
		}
	case *schema.Optional:
		rest, _ = withoutNull(t.Elem)
		return rest, true
	case *schema.Union:
		var members []schema.Type
		for _, member := range t.Members {
			m, null := withoutNull(member)
			if m != nil {
				members = append(members, m)
			}
			nullable = nullable || null
		}
		if !nullable {
			return t, false
		}
		return union(members...), true
	}
	return t, false
}

// union returns the type of a value that has one of several types.
func union(types ...schema.Type) schema.Type {
	var members []schema.Type
	for _, t := range types {
		switch {
		case t == nil || t == schema.Any:
			return schema.Any
		case t == schema.Invalid:
			return schema.Invalid
		}
		if !slices.Contains(members, t) {
			members = append(members, t)
		}
	}
	switch len(members) {
	case 0:
		return schema.Any
	case 1:
		return members[0]
	}
	return &schema.Union{Members: members}
}

// spread returns the values for a variadic parameter. A single list, as in fn::max: [1, 2], is replaced by its items,
// which inherit its marks.
func spread(args []value.Value) []value.Value {
	if len(args) != 1 || !args[0].Is(value.KindList) {
		return args
	}
	items := make([]value.Value, args[0].Len())
	for i := range items {
		items[i], _ = args[0].Index(i)
	}
	return items
}
