package builtins

import (
	"context"
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/yamlhost/yamlhost/internal/functions"
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
		Call:     `min(3, 1, 2)`,
		Gives:    `1`,
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
		Call:     `max(3, 1, 2)`,
		Gives:    `3`,
		Since:    "0.1.0", Rule: "L10.C7",
		Eval: extreme(func(a, b float64) bool { return a > b }),
	},
	{
		Name:    "abs",
		Summary: "A number without its sign.",
		Params:  []Param{{Name: "number", Type: schema.Number, Doc: "the number"}},
		Result:  always(schema.Number),
		Example: `fn::abs: -1.5`,
		Call:    `abs(-1.5)`,
		Gives:   `1.5`,
		Since:   "0.1.0", Rule: "D6",
		Eval: throughCty(stdlib.AbsoluteFunc),
	},
	{
		Name:    "ceil",
		Summary: "The least whole number that is not less than a number.",
		Params:  []Param{{Name: "number", Type: schema.Number, Doc: "the number"}},
		Result:  always(schema.Integer),
		Example: `fn::ceil: 2.1`,
		Call:    `ceil(2.1)`,
		Gives:   `3`,
		Since:   "0.1.0", Rule: "D6",
		Eval: throughCty(stdlib.CeilFunc),
	},
	{
		Name:    "floor",
		Summary: "The greatest whole number that is not greater than a number.",
		Params:  []Param{{Name: "number", Type: schema.Number, Doc: "the number"}},
		Result:  always(schema.Integer),
		Example: `fn::floor: -2.1`,
		Call:    `floor(-2.1)`,
		Gives:   `-3`,
		Since:   "0.1.0", Rule: "D6",
		Eval: throughCty(stdlib.FloorFunc),
	},
	{
		Name:    "int",
		Summary: "A number without its fraction.",
		Params:  []Param{{Name: "number", Type: schema.Number, Doc: "the number"}},
		Result:  always(schema.Integer),
		Example: `fn::int: -2.9`,
		Call:    `int(-2.9)`,
		Gives:   `-2`,
		Since:   "0.1.0", Rule: "D6",
		Eval: throughCty(stdlib.IntFunc),
	},
	{
		Name:    "round",
		Summary: "A number rounded to some decimals, halves away from zero.",
		Params: []Param{
			{Name: "number", Type: schema.Number, Doc: "the number"},
			{Name: "decimals", Type: schema.Integer, Doc: "how many decimals to keep, from 0 to 15; none when left out",
				Optional: true},
		},
		Shape:   Positional,
		Result:  always(schema.Number),
		Example: `fn::round: [2.345, 2]`,
		Call:    `round(2.345, 2)`,
		Gives:   `2.35`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			n, _ := args[0].AsNumber()
			decimals, _ := args[1].AsNumber()
			if decimals < 0 || decimals > 15 {
				return value.Null, blame(1, "decimals: must be from 0 to 15")
			}
			// Round the shortest text of the number, as users see it: the number 2.345 itself is a little less.
			rounded, ok := roundText(strconv.FormatFloat(n, 'f', -1, 64), int(decimals))
			if !ok {
				return args[0], nil
			}
			return value.Number(rounded), nil
		},
	},
	{
		Name:    "signum",
		Summary: "The sign of a number: -1, 0 or 1.",
		Params:  []Param{{Name: "number", Type: schema.Number, Doc: "the number"}},
		Result:  always(schema.Integer),
		Example: `fn::signum: -3`,
		Call:    `signum(-3)`,
		Gives:   `-1`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			n, _ := args[0].AsNumber()
			return value.Number(functions.Sign(n)), nil
		},
	},
	{
		Name:    "log",
		Summary: "The logarithm of a number.",
		Params: []Param{
			{Name: "number", Type: schema.Number, Doc: "the number, greater than zero"},
			{Name: "base", Type: schema.Number, Doc: "the base, such as 2 or 10"},
		},
		Shape:   Positional,
		Result:  always(schema.Number),
		Example: `fn::log: [8, 2]`,
		Call:    `log(8, 2)`,
		Gives:   `3`,
		Since:   "0.1.0", Rule: "D6",
		Eval: throughCty(stdlib.LogFunc),
	},
	{
		Name:    "pow",
		Summary: "A number to the power of another.",
		Params: []Param{
			{Name: "number", Type: schema.Number, Doc: "the number"},
			{Name: "power", Type: schema.Number, Doc: "the power"},
		},
		Shape:   Positional,
		Result:  always(schema.Number),
		Example: `fn::pow: [2, 10]`,
		Call:    `pow(2, 10)`,
		Gives:   `1024`,
		Since:   "0.1.0", Rule: "D6",
		Eval: throughCty(stdlib.PowFunc),
	},
	{
		Name:    "parseInt",
		Summary: "The whole number written in a string in some base.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the digits, with a sign or without"},
			{Name: "base", Type: schema.Integer, Doc: "the base, from 2 to 62"},
		},
		Shape:   Positional,
		Result:  always(schema.Integer),
		Example: `fn::parseInt: [ff, 16]`,
		Call:    `parseInt("ff", 16)`,
		Gives:   `255`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			n, err := functions.ParseInt(str(args[0]), clampInt(args[1]))
			switch {
			case errors.Is(err, functions.ErrBase):
				return value.Null, blame(1, "base: must be from 2 to 62")
			case errors.Is(err, functions.ErrDigits):
				return value.Null, blameText(0, str(args[0]), "text: is not a whole number in that base")
			case err != nil:
				return value.Null, blame(-1, "the result has more digits than a number can hold")
			}
			return value.Number(n), nil
		},
	},
	{
		Name:     "sum",
		Summary:  "The sum of some numbers; 0 for none.",
		Params:   []Param{{Name: "numbers", Type: numberOrNumbers, Doc: "the numbers, or one list of them"}},
		Variadic: true,
		Result:   always(schema.Number),
		Example:  `fn::sum: [1, 2, 3]`,
		Call:     `sum(1, 2, 3)`,
		Gives:    `6`,
		Since:    "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			total := 0.0
			for i, v := range spread(args) {
				n, ok := v.AsNumber()
				if !ok {
					return value.Null, blame(min(i, len(args)-1), "numbers: item %d must be a number, not %s", i, kindPhrase(v.Kind()))
				}
				total += n
			}
			return value.Number(total), nil
		},
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

// roundText rounds a decimal number written without exponent; false when it has no more decimals than are kept.
func roundText(text string, decimals int) (float64, bool) {
	point := strings.IndexByte(text, '.')
	if point < 0 || len(text)-point-1 <= decimals {
		return 0, false
	}
	up := text[point+1+decimals] >= '5'
	n, ok := new(big.Int).SetString(text[:point]+text[point+1:point+1+decimals], 10)
	if !ok {
		return 0, false // NaN and infinities have no point
	}
	if up && text[0] == '-' {
		n.Sub(n, big.NewInt(1))
	} else if up {
		n.Add(n, big.NewInt(1))
	}
	f, err := strconv.ParseFloat(n.String()+"e-"+strconv.Itoa(decimals), 64)
	return f, err == nil
}
