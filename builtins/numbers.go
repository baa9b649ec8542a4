package builtins

import (
	"context"
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

// numberEvals are the functions on numbers.
var numberEvals = map[string]evalFunc{
	"min":   extreme(func(a, b float64) bool { return a < b }),
	"max":   extreme(func(a, b float64) bool { return a > b }),
	"abs":   throughCty(stdlib.AbsoluteFunc),
	"ceil":  throughCty(stdlib.CeilFunc),
	"floor": throughCty(stdlib.FloorFunc),
	"int":   throughCty(stdlib.IntFunc),
	"round": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		n, _ := args[0].AsNumber()
		decimals, _ := args[1].AsNumber()
		if decimals < 0 || decimals > 15 {
			return value.Null, blame(1, "decimals: must be from 0 to 15")
		}
		// Round the shortest decimal representation, which is what users see: the double 2.345 is a little less than
		// 2.345.
		rounded, ok := roundText(strconv.FormatFloat(n, 'f', -1, 64), int(decimals))
		if !ok {
			return args[0], nil
		}
		return value.Number(rounded), nil
	},
	"signum": gives(func(args []value.Value) value.Value {
		n, _ := args[0].AsNumber()
		return value.Number(functions.Sign(n))
	}),
	"log": throughCty(stdlib.LogFunc),
	"pow": throughCty(stdlib.PowFunc),
	"parseInt": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
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
	"sum": ofNumbers(func(numbers []float64) (float64, error) {
		total := 0.0
		for _, n := range numbers {
			total += n
		}
		return total, nil
	}),
}

// ofNumbers returns the body of a variadic function on numbers.
func ofNumbers(compute func(numbers []float64) (float64, error)) evalFunc {
	return plainly(func(args []value.Value) (value.Value, error) {
		var numbers []float64
		for i, v := range spread(args) {
			n, ok := v.AsNumber()
			if !ok {
				return value.Null, wrongItem(args, i, v, "numbers", "a number")
			}
			numbers = append(numbers, n)
		}
		result, err := compute(numbers)
		return value.Number(result), err
	})
}

// extreme returns the body of a function that returns the least number in the order of less.
func extreme(less func(a, b float64) bool) evalFunc {
	return ofNumbers(func(numbers []float64) (float64, error) {
		if len(numbers) == 0 {
			return 0, blame(-1, "needs at least one number")
		}
		best := numbers[0]
		for _, n := range numbers[1:] {
			if less(n, best) {
				best = n
			}
		}
		return best, nil
	})
}

// roundText rounds a decimal number without an exponent. It returns false if there is nothing to round.
func roundText(text string, decimals int) (float64, bool) {
	point := strings.IndexByte(text, '.')
	if point < 0 || len(text)-point-1 <= decimals {
		return 0, false
	}
	up := text[point+1+decimals] >= '5'
	n, ok := new(big.Int).SetString(text[:point]+text[point+1:point+1+decimals], 10)
	if !ok {
		return 0, false // cannot happen: NaN and infinities have no decimal point
	}
	if up && text[0] == '-' {
		n.Sub(n, big.NewInt(1))
	} else if up {
		n.Add(n, big.NewInt(1))
	}
	f, err := strconv.ParseFloat(n.String()+"e-"+strconv.Itoa(decimals), 64)
	return f, err == nil
}
