package builtins

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// collectionEvals are the functions on lists and maps. Those that only move items preserve unknown items; see parts.
var collectionEvals = map[string]evalFunc{
	"select": parts(func(args []value.Value) (value.Value, error) {
		index, _ := args[0].AsNumber()
		if index < 0 {
			return value.Null, blame(0, "index: must not be negative")
		}
		if n := args[1].Len(); index >= float64(n) {
			return value.Null, blame(0, "index: is past the end of the list")
		}
		return args[1].At(int(index)), nil
	}),
	"length": parts(func(args []value.Value) (value.Value, error) {
		if text, ok := args[0].AsString(); ok {
			return value.Int(countGraphemes(text)), nil
		}
		return value.Int(args[0].Len()), nil
	}),
	"singleOrNone": parts(func(args []value.Value) (value.Value, error) {
		if n := args[0].Len(); n > 1 {
			return value.Null, blame(0, "items: must have at most one item, not %d", n)
		}
		return args[0].At(0), nil
	}),
	"entries": parts(func(args []value.Value) (value.Value, error) {
		items := make([]value.Value, args[0].Len())
		for i, key := range args[0].Keys() {
			items[i] = value.MapOf(value.Entry{Key: "key", Value: value.String(key)},
				value.Entry{Key: "value", Value: args[0].At(i)})
		}
		return value.List(items...), nil
	}),
	"keys":   parts(func(args []value.Value) (value.Value, error) { return value.Strings(args[0].Keys()), nil }),
	"values": parts(func(args []value.Value) (value.Value, error) { return functions.Values(args[0]), nil }),
	"lookup": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		if !args[0].IsKnown() || !args[1].IsKnown() {
			return value.UnknownFrom(value.KindAny, args[:2]...), nil
		}
		result, ok := args[0].Lookup(str(args[1]))
		switch {
		case ok:
		case len(args) > 2 && !args[2].IsNull():
			result = args[2]
		default:
			return value.Null, blameText(1, str(args[1]), "key: the map has no such key, and there is no default")
		}
		return taint(result, args[0], args[1]), nil
	},
	"merge": parts(func(args []value.Value) (value.Value, error) {
		var entries []value.Entry
		return joinedParts(args, value.KindMap, "maps", func(m value.Value) {
			for i, key := range m.Keys() {
				entries = append(entries, value.Entry{Key: key, Value: m.At(i)})
			}
		}, func() value.Value { return value.MapOf(entries...) })
	}),
	"concat": parts(func(args []value.Value) (value.Value, error) {
		var items []value.Value
		return joinedParts(args, value.KindList, "lists", func(l value.Value) {
			list, _ := l.AsList()
			items = append(items, list...)
		}, func() value.Value { return value.List(items...) })
	}),
	"flatten": parts(func(args []value.Value) (value.Value, error) {
		items, ok := functions.Flatten(args[0])
		if !ok {
			return value.UnknownFrom(value.KindList, args...), nil
		}
		return value.List(items...), nil
	}),
	"distinct": gives(func(args []value.Value) value.Value { return functions.Distinct(args[0]) }),
	"sort": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		items, _ := args[0].AsList()
		for i, item := range items {
			if item.Kind() != items[0].Kind() {
				return value.Null, blame(0, "items: item %d is %s, unlike the items before it", i, kindPhrase(item.Kind()))
			}
		}
		sorted := slices.Clone(items)
		slices.SortStableFunc(sorted, func(a, b value.Value) int {
			x, _ := a.AsNumber()
			y, _ := b.AsNumber()
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(str(a), str(b)))
		})
		return value.List(sorted...), nil
	},
	"range": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		start, _ := args[0].AsNumber()
		limit, hasLimit := args[1].AsNumber()
		step, hasStep := args[2].AsNumber()
		if !hasLimit {
			start, limit = 0, start
			if limit < 0 {
				return value.Null, blame(0, "start: must not be negative if it is the only argument")
			}
		}
		var stride *float64
		if hasStep {
			stride = &step
		}
		numbers, err := functions.Range(start, limit, stride)
		switch {
		case errors.Is(err, functions.ErrStep):
			return value.Null, blame(2, "step: must not be 0")
		case errors.Is(err, functions.ErrLong):
			return value.Null, blame(0, "the result would have more than %d items", functions.MostItems)
		case err != nil:
			return value.Null, blame(2, "step: never reaches the limit")
		}
		return numbers, nil
	},
	"contains": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		if items, ok := args[0].AsList(); ok {
			return value.Bool(functions.Contains(items, args[1])), nil
		}
		wanted, ok := args[1].AsString()
		if !ok {
			return value.Null, blame(1, "wanted: must be a string, not %s", kindPhrase(args[1].Kind()))
		}
		if text, ok := args[0].AsString(); ok {
			return value.Bool(strings.Contains(text, wanted)), nil
		}
		return value.Bool(args[0].Has(wanted)), nil
	},
}

// collectionResults are the result types that depend on the arguments.
var collectionResults = map[string]resultType{
	"select":       itemOfArgument(1, same),
	"singleOrNone": itemOfArgument(0, optional),
	"entries": itemOfArgument(0, func(t schema.Type) schema.Type {
		return list(schema.ObjectOf(
			&schema.Property{Name: "key", Type: schema.String, Required: true},
			&schema.Property{Name: "value", Type: t, Required: true},
		))
	}),
	"values": itemOfArgument(0, list),
	"lookup": func(args []schema.Type) schema.Type {
		if len(args) < 3 || args[2] == nil {
			return itemOf(argument(0)(args))
		}
		return union(itemOf(argument(0)(args)), args[2])
	},
	"merge": func(args []schema.Type) schema.Type {
		items := make([]schema.Type, 0, len(args))
		for _, arg := range args {
			if a, ok := arg.(*schema.Array); ok {
				arg = a.Item
			}
			m, ok := arg.(*schema.Map)
			if !ok {
				return &schema.Map{Item: schema.Any}
			}
			items = append(items, m.Item)
		}
		return &schema.Map{Item: union(items...)}
	},
	"concat": func(args []schema.Type) schema.Type {
		if len(args) == 1 {
			return list(itemOf(itemOf(args[0])))
		}
		return listOfAny(args)
	},
	"distinct": argument(0),
	"sort":     argument(0),
}

// joinedParts calls add for each map or list among args and returns the result of made. kind is the kind that all of
// args must have; name is the parameter's name, for errors.
func joinedParts(args []value.Value, kind value.Kind, name string, add func(value.Value),
	build func() value.Value) (value.Value, error) {
	all := spread(args)
	for i, v := range all {
		if !v.IsKnown() {
			return value.UnknownFrom(kind, all...), nil
		}
		if !v.Is(kind) && !v.IsNull() {
			return value.Null, wrongItem(args, i, v, name, kindPhrase(kind))
		}
		add(v)
	}
	return build().WithMarksOf(all...), nil
}

// wrongItem returns the error about v, the i-th value that spread has returned for args, which has the wrong kind.
func wrongItem(args []value.Value, i int, v value.Value, name, want string) error {
	return blame(min(i, len(args)-1), "%s: item %d must be %s, not %s", name, i, want, kindPhrase(v.Kind()))
}

// parts returns the body of a function that only moves parts of its arguments. An unknown argument makes the result
// unknown; unknown parts are preserved. A secret anywhere in an argument makes the whole result secret (L9.31). The
// dependencies of arguments are added to the result, and those of parts stay with the parts (L9.44). All parameters of
// the function must be Marked.
func parts(body func(args []value.Value) (value.Value, error)) evalFunc {
	return plainly(func(args []value.Value) (value.Value, error) {
		if slices.ContainsFunc(args, func(arg value.Value) bool { return !arg.IsKnown() }) {
			return value.UnknownFrom(value.KindAny, args...), nil
		}
		result, err := body(args)
		return taint(result, args...), err
	})
}

// taint returns v with the dependencies of args, and secret if anything in them is secret.
func taint(v value.Value, args ...value.Value) value.Value {
	for _, arg := range args {
		v = v.DependingOn(arg.Deps()...)
		if arg.ContainsSecret() {
			v = v.Secret()
		}
	}
	return v
}
