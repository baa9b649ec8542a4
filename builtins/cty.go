package builtins

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/yamlhost/yamlhost/internal/value"
)

// throughCty returns a body that passes its arguments to a function of the cty library. This file contains everything
// that depends on cty. It only converts plain values, because Apply handles unknown values, secrets and dependencies.
//
// cty normalizes strings to Unicode's composed form. Functions for which the bytes of a string matter, and those that
// move parts of their arguments, which may be unknown, are therefore implemented in this package; a test compares them
// to cty. Omitted arguments are not passed on.
func throughCty(f function.Function) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		crossing := make([]cty.Value, 0, len(args))
		for i, arg := range args {
			if arg.IsNull() {
				continue
			}
			v, err := toCty(arg)
			if err != nil {
				return value.Null, blame(i, "%s", err)
			}
			crossing = append(crossing, v)
		}
		result, err := f.Call(crossing)
		if err != nil {
			return value.Null, ctyError(err)
		}
		return fromCty(result)
	}
}

// ctyError moves the message of a cty function, which may quote arguments, into Detail, so that it is not always shown.
func ctyError(err error) error {
	failure := &Error{Arg: -1, Reason: "cannot be computed"}
	if fault, ok := errors.AsType[function.ArgError](err); ok {
		failure.Arg = fault.Index
	}
	if broken := (function.PanicError{}); !errors.As(err, &broken) {
		failure.Detail = err.Error()
	}
	return failure
}

func toCty(v value.Value) (cty.Value, error) {
	switch v.Kind() {
	case value.KindNull:
		return cty.NullVal(cty.DynamicPseudoType), nil
	case value.KindBool:
		b, _ := v.AsBool()
		return cty.BoolVal(b), nil
	case value.KindNumber:
		n, _ := v.AsNumber()
		if math.IsNaN(n) {
			return cty.NilVal, fmt.Errorf("must be a number, not NaN")
		}
		return cty.NumberFloatVal(n), nil
	case value.KindString:
		text := cty.StringVal(str(v))
		if text.AsString() != str(v) {
			return cty.NilVal, fmt.Errorf("must be valid UTF-8 in Unicode's composed form (NFC)")
		}
		return text, nil
	}
	return cty.NilVal, fmt.Errorf("must not be %s", kindPhrase(v.Kind()))
}

func fromCty(v cty.Value) (value.Value, error) {
	switch {
	case !v.IsKnown() || v.IsNull():
		return value.Null, nil
	case v.Type() == cty.Bool:
		return value.Bool(v.True()), nil
	case v.Type() == cty.String:
		return value.String(v.AsString()), nil
	case v.Type() == cty.Number:
		exact := v.AsBigFloat()
		n, accuracy := exact.Float64()
		if exact.IsInt() && accuracy != big.Exact || math.IsInf(n, 0) && !exact.IsInf() {
			return value.Null, blame(-1, "the result has more digits than a number can hold")
		}
		return value.Number(n), nil
	}
	return value.Null, fmt.Errorf("the library returned a value of an unknown kind")
}
