package embedded

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/value"
)

// standard implements the package std, which has only functions. Each returns one output, result, which is secret if an
// argument is.
type standard struct{ o Options }

type formula = func(args value.Value) (value.Value, error)

// stdKinds returns the package std.
func stdKinds(o Options) kinds {
	s := standard{o}
	k := kinds{functions: map[string]function{}, refused: map[string]string{
		"std:index:matchkeys": "its inputs lack the keys, so no call of it can succeed; use an expression such as " +
			"[for i, k in keys : values[i] if contains(search, k)]",
	}}
	answer := func(args, result value.Value, err error) (value.Value, error) {
		if err != nil {
			return value.Null, failed(err)
		}
		if args.ContainsSecret() {
			result = result.Secret()
		}
		return value.MapOf(value.Entry{Key: "result", Value: result}), nil
	}
	for _, table := range []map[string]formula{stdTexts(), stdDigests(), stdNumbers(), stdLists(), stdMaps(),
		s.conversions(), stdPatterns(), stdFormats(), stdNetworks(), s.world()} {
		for name, f := range table {
			k.functions["std:index:"+name] = func(_ context.Context, args value.Value) (value.Value, error) {
				result, err := f(args)
				return answer(args, result, err)
			}
		}
	}
	for name, form := range fileForms {
		k.functions["std:index:"+name] = func(ctx context.Context, args value.Value) (value.Value, error) {
			path, err := s.reachable(lookupString(args, "input"))
			if err != nil {
				return value.Null, failed(err)
			}
			data, err := confine.Door{Folder: s.o.Confined, Limit: s.o.LargestFile}.ReadFile(ctx, path)
			if err != nil {
				return value.Null, failed(fmt.Errorf("the file cannot be read: %w", err))
			}
			return answer(args, value.String(form(data)), nil)
		}
	}
	return k
}

// warnInexact logs that an integer in the input of a function loses digits, as fn::fromJSON does (L1.26).
func (s standard) warnInexact(function string, inexact bool) {
	if inexact && s.o.Log != nil {
		s.o.Log(LogLine{Stderr: true, Text: "std:index:" + function +
			": an integer loses digits: it has more of them than a number can hold"})
	}
}

func numberArg(args value.Value, name string) float64 {
	f, _ := args.Get(name).AsNumber()
	return f
}

// whole returns a whole number of at most 2^31, positive or negative; other numbers are an error.
func whole(args value.Value, name string) (int, error) {
	f := numberArg(args, name)
	if f != math.Trunc(f) || math.Abs(f) > 1<<31 {
		return 0, fmt.Errorf("%s must be a whole number, not %s", name, value.FormatNumber(f))
	}
	return int(f), nil
}

func listArg(args value.Value, name string) []value.Value {
	items, _ := args.Get(name).AsList()
	return items
}

// fromText returns a formula with one text argument, input.
func fromText(fn func(string) (string, error)) formula {
	return func(args value.Value) (value.Value, error) {
		s, err := fn(lookupString(args, "input"))
		return value.String(s), err
	}
}

func always1(fn func(string) string) formula {
	return fromText(func(s string) (string, error) { return fn(s), nil })
}

// withText returns a formula with two text arguments, input and other.
func withText(other string, fn func(s, other string) value.Value) formula {
	return func(args value.Value) (value.Value, error) {
		return fn(lookupString(args, "input"), lookupString(args, other)), nil
	}
}

func textsOf(items []value.Value) ([]string, error) {
	return membersOf(items, value.Value.AsString, "string")
}

// membersOf converts the members of a list. kind is the name of their kind, for errors.
func membersOf[T any](items []value.Value, as func(value.Value) (T, bool), kind string) ([]T, error) {
	list := make([]T, len(items))
	for i, item := range items {
		var ok bool
		if list[i], ok = as(item); !ok {
			return nil, fmt.Errorf("member %d of the list is not a %s", i, kind)
		}
	}
	return list, nil
}

func finite(f float64) (value.Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.Null, errors.New("there is no such number")
	}
	return value.Number(f), nil
}
