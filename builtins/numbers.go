package builtins

import (
	"context"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

var numberOrNumbers = &schema.Union{Members: []schema.Type{schema.Number, &schema.Array{Item: schema.Number}}}

// numberFuncs compute with numbers.
var numberFuncs = []*Func{
	{
		Name:     "min",
		Summary:  "The smallest of some numbers.",
		Params:   []Param{{Name: "numbers", Type: numberOrNumbers, Doc: "the numbers, or one list of them; at least one"}},
		Variadic: true,
		Result:   always(schema.Number),
		Example:  `fn::min: [3, 1, 2]`,
		Since:    "0.1.0", Rule: "L10.C7",
		Eval: extreme(func(a, b float64) bool { return a < b }),
	},
	{
		Name:     "max",
		Summary:  "The greatest of some numbers.",
		Params:   []Param{{Name: "numbers", Type: numberOrNumbers, Doc: "the numbers, or one list of them; at least one"}},
		Variadic: true,
		Result:   always(schema.Number),
		Example:  `fn::max: [3, 1, 2]`,
		Since:    "0.1.0", Rule: "L10.C7",
		Eval: extreme(func(a, b float64) bool { return a > b }),
	},
}

// extreme finds the number that is before all others.
func extreme(before func(a, b float64) bool) func(context.Context, Env, []value.Value) (value.Value, error) {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		numbers := spread(args)
		best := value.Null
		for i, v := range numbers {
			n, ok := v.AsNumber()
			if !ok {
				return value.Null, blame(min(i, len(args)-1), "numbers: item %d must be a number, not %s", i, kindPhrase(v.Kind()))
			}
			if m, any := best.AsNumber(); !any || before(n, m) {
				best = v
			}
		}
		if best.IsNull() {
			return value.Null, blame(-1, "needs at least one number")
		}
		return best, nil
	}
}
