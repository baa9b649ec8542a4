package embedded

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/yamlhost/yamlhost/value"
)

func stdNumbers() map[string]formula {
	one := func(fn func(float64) float64) formula {
		return func(args value.Value) (value.Value, error) { return finite(fn(numberArg(args, "input"))) }
	}
	fold := func(what string, fn func(a, b float64) float64) formula {
		return func(args value.Value) (value.Value, error) {
			numbers, err := numbersOf(listArg(args, "input"))
			if err != nil {
				return value.Null, err
			}
			if len(numbers) == 0 {
				return value.Null, errors.New("an empty list has no " + what)
			}
			for _, n := range numbers[1:] {
				numbers[0] = fn(numbers[0], n)
			}
			return finite(numbers[0])
		}
	}
	return map[string]formula{
		"abs": one(math.Abs), "ceil": one(math.Ceil), "floor": one(math.Floor),
		"signum": one(func(f float64) float64 {
			switch {
			case f > 0:
				return 1
			case f < 0:
				return -1
			}
			return 0
		}),
		"max": fold("maximum", math.Max), "min": fold("minimum", math.Min),
		"sum": fold("sum", func(a, b float64) float64 { return a + b }),
		"pow": func(args value.Value) (value.Value, error) {
			return finite(math.Pow(numberArg(args, "base"), numberArg(args, "exponent")))
		},
		"log": func(args value.Value) (value.Value, error) {
			return finite(math.Log(numberArg(args, "input")) / math.Log(numberArg(args, "base")))
		},
		"range":    numberRange,
		"parseint": parseInteger,
	}
}

func numberRange(args value.Value) (value.Value, error) {
	start, limit, step := numberArg(args, "start"), numberArg(args, "limit"), 1.0
	if limit < start {
		step = -1
	}
	if args.Has("step") {
		step = numberArg(args, "step")
	}
	if step == 0 || step > 0 && limit < start || step < 0 && limit > start {
		return value.Null, errors.New("the step does not lead from the start to the limit")
	}
	if math.Abs((limit-start)/step) > largestRandom {
		return value.Null, errors.New("the range has too many numbers")
	}
	var list []value.Value
	for f := start; step > 0 && f < limit || step < 0 && f > limit; f += step {
		list = append(list, value.Number(f))
	}
	return value.List(list...), nil
}

// parseInteger reads a number in a base from 2 to 62, where letters are digits, small ones first.
func parseInteger(args value.Value) (value.Value, error) {
	base := 10
	if args.Has("base") {
		var err error
		if base, err = whole(args, "base"); err != nil {
			return value.Null, err
		}
	}
	if base < 2 || base > big.MaxBase {
		return value.Null, fmt.Errorf("base must be from 2 to %d", big.MaxBase)
	}
	text := textArg(args, "input")
	n, ok := new(big.Int).SetString(text, base)
	if !ok {
		return value.Null, fmt.Errorf("%q is no whole number in base %d", text, base)
	}
	f, exact := new(big.Float).SetInt(n).Float64()
	if exact != big.Exact {
		return value.Null, fmt.Errorf("%q is too large to be exact", text)
	}
	return value.Number(f), nil
}
