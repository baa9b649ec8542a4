package builtins

import (
	"context"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// logicFuncs choose between arguments. All but coalesce evaluate only what they need (L10.C1, L10.C5).
var logicFuncs = []*Func{
	{
		Name:    "if",
		Summary: "The second argument when the first is true, else the third.",
		Params: []Param{
			{Name: "condition", Type: schema.Bool,
				Doc: "the condition; while it is unknown, the result is unknown and neither branch is evaluated"},
			{Name: "then", Type: schema.Any, Doc: "the result when the condition is true"},
			{Name: "else", Type: schema.Any, Doc: "the result when the condition is false"},
		},
		Shape: Positional,
		Result: func(args []schema.Type) schema.Type {
			return union(argument(1)(args), argument(2)(args))
		},
		Example: `fn::if: [true, premium, basic]`,
		Call:    `if(true, "premium", "basic")`,
		Gives:   `"premium"`,
		Since:   "0.1.0", Rule: "L10.C1",
		Lazy: func(ctx context.Context, _ Env, args []Thunk) (value.Value, error) {
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
	},
	{
		Name:    "try",
		Summary: "The first argument that can be evaluated without an error.",
		Params: []Param{{Name: "candidates", Type: schema.Any,
			Doc: "the arguments to try in order; an unknown one ends the search, and null counts as a success"}},
		Variadic: true,
		Shape:    Positional,
		Result:   func(args []schema.Type) schema.Type { return union(args...) },
		Example:  `fn::try: ["${server.address}", none]`,
		Call:     `try(server.address, "none")`,
		Gives:    `"10.0.0.7"`,
		Since:    "0.1.0", Rule: "L10.C5",
		Lazy: func(ctx context.Context, env Env, args []Thunk) (value.Value, error) {
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
	},
	{
		Name:    "can",
		Summary: "Whether the argument can be evaluated without an error.",
		Params:  []Param{{Name: "candidate", Type: schema.Any, Doc: "what to try"}},
		Result:  always(schema.Bool),
		Example: `fn::can: {fn::toNumber: ten}`,
		Call:    `can(toNumber("ten"))`,
		Gives:   `false`,
		Since:   "0.1.0", Rule: "L10.C5",
		Lazy: func(ctx context.Context, env Env, args []Thunk) (value.Value, error) {
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
			return marksOnly(value.Bool(true), result), nil
		},
	},
	{
		Name:    "recover",
		Summary: "The first argument, or the second when evaluating the first fails or a resource that it needs failed.",
		Params: []Param{
			{Name: "value", Type: schema.Any, Doc: "what to evaluate"},
			{Name: "fallback", Type: schema.Any, Doc: "the result if the first argument fails"},
		},
		Shape: Positional,
		Result: func(args []schema.Type) schema.Type {
			return union(args...)
		},
		Example: `fn::recover: [{fn::toNumber: ten}, 0]`,
		Call:    `recover(toNumber("ten"), 0)`,
		Gives:   `0`,
		Since:   "0.1.0", Rule: "L10.C5",
		Lazy: func(ctx context.Context, env Env, args []Thunk) (value.Value, error) {
			result, err := args[0](ctx)
			if err == nil {
				return result, nil
			}
			if fault, failure := env.Recoverable(err); !fault && !failure {
				return value.Null, err
			}
			return args[1](ctx)
		},
	},
	{
		Name:    "notImplemented",
		Summary: "Fails with a message about what is still to be written.",
		Params:  []Param{{Name: "message", Type: schema.String, Doc: "what to say"}},
		Result:  always(schema.Any),
		Example: `fn::try: [{fn::notImplemented: the price}, later]`,
		Call:    `try(notImplemented("the price"), "later")`,
		Gives:   `"later"`,
		Since:   "0.1.0", Rule: "L10.C5",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			message, _ := args[0].AsString()
			return value.Null, &Error{Arg: -1, Reason: "not implemented", Detail: message} // hidden when it is secret
		},
	},
	{
		Name:    "coalesce",
		Summary: "The first argument that is not null; null when all are.",
		Params: []Param{{Name: "values", Type: schema.Any,
			Doc: "the values, or one list of them; an unknown one ends the search", Marked: true}},
		Variadic: true,
		Result: func(args []schema.Type) schema.Type {
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
					return union(found...) // nothing behind it is asked
				}
			}
			if len(found) == 0 {
				return schema.Null
			}
			return optional(union(found...))
		},
		Example: `fn::coalesce: [null, "${pulumi.stack}"]`,
		Call:    `coalesce(null, pulumi.stack)`,
		Gives:   `"dev"`,
		Since:   "0.1.0", Rule: "L10.C1",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			// The nulls that were passed over have decided too: the result carries their marks.
			result, of := value.Null, spread(args)
			for _, v := range of {
				result = v.WithMarksOf(result)
				if !v.IsNull() {
					break
				}
			}
			return result, nil
		},
	},
}

// withoutNull is a type but for null, nil when nothing is left, and whether a value of the type may be null.
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

// union is a type for a value that has one of several types.
func union(types ...schema.Type) schema.Type {
	var members []schema.Type
	for _, t := range types {
		switch {
		case t == nil || t == schema.Any:
			return schema.Any
		case t == schema.Invalid:
			return schema.Invalid
		}
		seen := false
		for _, m := range members {
			seen = seen || m == t
		}
		if !seen {
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

// marksOnly is v with the secrecy and dependencies of everything inside of from.
func marksOnly(v, from value.Value) value.Value {
	if from.ContainsSecret() {
		v = v.Secret()
	}
	return v.DependingOn(from.AllDeps()...)
}

// spread is the arguments of a variadic function, where one list stands for its items: fn::max: [1, 2] gives the
// function a single list. Marks of that list pass to the items.
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
