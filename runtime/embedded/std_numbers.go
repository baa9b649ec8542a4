package embedded

import (
	"errors"
	"fmt"
	"math"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

func stdNumbers() map[string]formula {
	one := func(fn func(float64) float64) formula {
		return func(args value.Value) (value.Value, error) { return finite(fn(numberArg(args, "input"))) }
	}
	fold := func(what string, fn func(a, b float64) float64) formula {
		return func(args value.Value) (value.Value, error) {
			numbers, err := membersOf(listArg(args, "input"), value.Value.AsNumber, "number")
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
		"signum": one(functions.Sign),
		"max":    fold("maximum", math.Max), "min": fold("minimum", math.Min),
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
	var step *float64
	if args.Has("step") {
		stepSize := numberArg(args, "step")
		step = &stepSize
	}
	numbers, err := functions.Range(numberArg(args, "start"), numberArg(args, "limit"), step)
	switch {
	case errors.Is(err, functions.ErrLong):
		err = errors.New("the range has too many numbers")
	case err != nil:
		err = errors.New("the step never reaches the limit")
	}
	return numbers, err
}

func parseInteger(args value.Value) (value.Value, error) {
	base := 10
	if args.Has("base") {
		var err error
		if base, err = whole(args, "base"); err != nil {
			return value.Null, err
		}
	}
	text := lookupString(args, "input")
	n, err := functions.ParseInt(text, base)
	switch {
	case errors.Is(err, functions.ErrBase):
		return value.Null, errors.New("base must be from 2 to 62")
	case errors.Is(err, functions.ErrDigits):
		return value.Null, fmt.Errorf("%q is not a whole number in base %d", text, base)
	case err != nil:
		return value.Null, fmt.Errorf("%q is too large to be exact", text)
	}
	return value.Number(n), nil
}
