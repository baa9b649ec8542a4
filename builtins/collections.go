package builtins

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// collectionFuncs work on lists and maps. Those that only move items about keep what is unknown in its place; see
// parts.
var collectionFuncs = []*Func{
	{
		Name:    "select",
		Summary: "The item of a list at an index.",
		Params: []Param{
			{Name: "index", Type: schema.Integer, Doc: "0-based index of the item", Marked: true},
			{Name: "items", Type: anyList, Doc: "the list", Marked: true},
		},
		Shape:   Positional,
		Result:  itemOfArgument(1, same),
		Example: `fn::select: [1, [a, b, c]]`,
		Call:    `select(1, ["a", "b", "c"])`,
		Gives:   `"b"`,
		Since:   "0.1.0", Rule: "L6.14", Portable: true,
		Eval: parts(func(args []value.Value) (value.Value, error) {
			index, _ := args[0].AsNumber()
			if index < 0 {
				return value.Null, blame(0, "index: must not be negative")
			}
			if n := args[1].Len(); index >= float64(n) {
				return value.Null, blame(0, "index: is past the end of the list")
			}
			return args[1].At(int(index)), nil
		}),
	},
	{
		Name:    "length",
		Summary: "The number of items in a list, of entries in a map or of characters in a string.",
		Params: []Param{{Name: "value", Type: &schema.Union{Members: []schema.Type{anyList, anyMap, schema.String}},
			Doc: "a list, a map, or a string, whose characters are counted as readers see them", Marked: true}},
		Result:  always(schema.Integer),
		Example: `fn::length: [a, b, c]`,
		Call:    `length(["a", "b", "c"])`,
		Gives:   `3`,
		Since:   "0.1.0", Rule: "L6.16", Portable: true,
		Eval: parts(func(args []value.Value) (value.Value, error) {
			if text, ok := args[0].AsString(); ok {
				return value.Int(len(graphemes(text))), nil
			}
			return value.Int(args[0].Len()), nil
		}),
	},
	{
		Name:    "singleOrNone",
		Summary: "The only item of a list, or null for an empty list.",
		Params:  []Param{{Name: "items", Type: anyList, Doc: "a list of at most one item", Marked: true}},
		Result:  itemOfArgument(0, optional),
		Example: `fn::singleOrNone: [a]`,
		Call:    `singleOrNone(["a"])`,
		Gives:   `"a"`,
		Since:   "0.1.0", Rule: "L6.17", Portable: true,
		Eval: parts(func(args []value.Value) (value.Value, error) {
			if n := args[0].Len(); n > 1 {
				return value.Null, blame(0, "items: must have at most one item, not %d", n)
			}
			return args[0].At(0), nil
		}),
	},
	{
		Name:    "entries",
		Summary: "The entries of a map as a list of {key, value}, ordered by key.",
		Params:  []Param{{Name: "map", Type: anyMap, Doc: "the map", Marked: true}},
		Result: itemOfArgument(0, func(t schema.Type) schema.Type {
			return list(schema.ObjectOf(
				&schema.Property{Name: "key", Type: schema.String, Required: true},
				&schema.Property{Name: "value", Type: t, Required: true},
			))
		}),
		Example: `fn::entries: {a: 1, b: 2}`,
		Call:    `entries({a = 1, b = 2})`,
		Gives:   `[{"key": "a", "value": 1}, {"key": "b", "value": 2}]`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			items := make([]value.Value, args[0].Len())
			for i, key := range args[0].Keys() {
				items[i] = value.MapOf(value.Entry{Key: "key", Value: value.String(key)},
					value.Entry{Key: "value", Value: args[0].At(i)})
			}
			return value.List(items...), nil
		}),
	},
	{
		Name:    "keys",
		Summary: "The keys of a map in ascending order.",
		Params:  []Param{{Name: "map", Type: anyMap, Doc: "the map", Marked: true}},
		Result:  always(textList),
		Example: `fn::keys: {a: 1, b: 2}`,
		Call:    `keys({a = 1, b = 2})`,
		Gives:   `["a", "b"]`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			return value.Strings(args[0].Keys()), nil
		}),
	},
	{
		Name:    "values",
		Summary: "The values of a map, ordered by key.",
		Params:  []Param{{Name: "map", Type: anyMap, Doc: "the map", Marked: true}},
		Result:  itemOfArgument(0, list),
		Example: `fn::values: {a: 1, b: 2}`,
		Call:    `values({a = 1, b = 2})`,
		Gives:   `[1, 2]`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			return functions.Values(args[0]), nil
		}),
	},
	{
		Name:    "lookup",
		Summary: "The value of a key in a map, or a default when the map lacks the key.",
		Params: []Param{
			{Name: "map", Type: anyMap, Doc: "the map", Marked: true},
			{Name: "key", Type: schema.String, Doc: "the key", Marked: true},
			{Name: "default", Type: schema.Any, Doc: "the result when the map lacks the key; without a default that is an error",
				Optional: true, Marked: true},
		},
		Shape: Positional,
		Result: func(args []schema.Type) schema.Type {
			if len(args) < 3 || args[2] == nil {
				return itemOf(argument(0)(args))
			}
			return union(itemOf(argument(0)(args)), args[2])
		},
		Example: `fn::lookup: [{dev: small, prod: large}, "${pulumi.stack}", medium]`,
		Call:    `lookup({dev = "small", prod = "large"}, pulumi.stack, "medium")`,
		Gives:   `"small"`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
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
	},
	{
		Name:     "merge",
		Summary:  "One map with the entries of several; for a key in more than one of them, the last value is used.",
		Params:   []Param{{Name: "maps", Type: listOrMap, Doc: "the maps, or one list of them", Marked: true}},
		Variadic: true,
		Result: func(args []schema.Type) schema.Type {
			items := make([]schema.Type, 0, len(args))
			for _, arg := range args {
				if a, ok := arg.(*schema.Array); ok {
					arg = a.Item
				}
				m, ok := arg.(*schema.Map)
				if !ok {
					return anyMap
				}
				items = append(items, m.Item)
			}
			return &schema.Map{Item: union(items...)}
		},
		Example: `fn::merge: [{team: web, tier: low}, {tier: high}]`,
		Call:    `merge({team = "web", tier = "low"}, {tier = "high"})`,
		Gives:   `{"team": "web", "tier": "high"}`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			maps := spread(args)
			var entries []value.Entry
			for i, m := range maps {
				if !m.IsKnown() {
					return value.UnknownFrom(value.KindMap, maps...), nil
				}
				if !m.Is(value.KindMap) && !m.IsNull() {
					return value.Null, blame(min(i, len(args)-1), "maps: item %d must be a map, not %s", i, kindPhrase(m.Kind()))
				}
				for j, key := range m.Keys() {
					entries = append(entries, value.Entry{Key: key, Value: m.At(j)})
				}
			}
			return value.MapOf(entries...).WithMarksOf(maps...), nil
		}),
	},
	{
		Name:     "concat",
		Summary:  "One list with the items of several.",
		Params:   []Param{{Name: "lists", Type: anyList, Doc: "the lists, or one list of them", Marked: true}},
		Variadic: true,
		Result: func(args []schema.Type) schema.Type {
			if len(args) == 1 {
				return list(itemOf(itemOf(args[0])))
			}
			items := make([]schema.Type, len(args))
			for i, arg := range args {
				items[i] = itemOf(arg)
			}
			return list(union(items...))
		},
		Example: `fn::concat: [[a, b], [c]]`,
		Call:    `concat(["a", "b"], ["c"])`,
		Gives:   `["a", "b", "c"]`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			lists := spread(args)
			var items []value.Value
			for i, l := range lists {
				if !l.IsKnown() {
					return value.UnknownFrom(value.KindList, lists...), nil
				}
				if !l.Is(value.KindList) && !l.IsNull() {
					return value.Null, blame(min(i, len(args)-1), "lists: item %d must be a list, not %s", i, kindPhrase(l.Kind()))
				}
				of, _ := l.AsList()
				items = append(items, of...)
			}
			return value.List(items...).WithMarksOf(lists...), nil
		}),
	},
	{
		Name:    "flatten",
		Summary: "A list with every list in it replaced by its items, at any depth.",
		Params:  []Param{{Name: "items", Type: anyList, Doc: "the list", Marked: true}},
		Result:  always(anyList),
		Example: `fn::flatten: [[a, [b]], c]`,
		Call:    `flatten([["a", ["b"]], "c"])`,
		Gives:   `["a", "b", "c"]`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			items, ok := functions.Flatten(args[0])
			if !ok {
				return value.UnknownFrom(value.KindList, args...), nil
			}
			return value.List(items...), nil
		}),
	},
	{
		Name:    "distinct",
		Summary: "A list without the items that are equal to an earlier one.",
		Params:  []Param{{Name: "items", Type: anyList, Doc: "the list"}},
		Result:  argument(0),
		Example: `fn::distinct: [a, b, a]`,
		Call:    `distinct(["a", "b", "a"])`,
		Gives:   `["a", "b"]`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return functions.Distinct(args[0]), nil
		},
	},
	{
		Name:    "sort",
		Summary: "A list of strings or of numbers in ascending order.",
		Params: []Param{{Name: "items", Type: &schema.Array{Item: &schema.Union{Members: []schema.Type{schema.String,
			schema.Number}}}, Doc: "only strings, which are compared byte by byte, or only numbers"}},
		Result:  argument(0),
		Example: `fn::sort: [b, c, a]`,
		Call:    `sort(["b", "c", "a"])`,
		Gives:   `["a", "b", "c"]`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			items, _ := args[0].AsList()
			for i, item := range items {
				if item.Kind() != items[0].Kind() {
					return value.Null, blame(0, "items: item %d is %s, unlike the items before it", i, kindPhrase(item.Kind()))
				}
			}
			sorted := slices.Clone(items)
			slices.SortStableFunc(sorted, func(a, b value.Value) int {
				x, isNumber := a.AsNumber()
				if !isNumber {
					return strings.Compare(str(a), str(b))
				}
				switch y, _ := b.AsNumber(); {
				case x < y:
					return -1
				case x > y:
					return 1
				}
				return 0
			})
			return value.List(sorted...), nil
		},
	},
	{
		Name:    "range",
		Summary: "The numbers from 0, or from a start, up to but not including a limit.",
		Params: []Param{
			{Name: "start", Type: schema.Number,
				Doc: "the first number; if it is the only argument, it is the limit, and the first number is 0"},
			{Name: "limit", Type: schema.Number, Doc: "where to stop", Optional: true},
			{Name: "step", Type: schema.Number,
				Doc: "the distance between two numbers; 1 by default, or -1 if the limit is less than the start", Optional: true},
		},
		Shape:   Positional,
		Result:  always(&schema.Array{Item: schema.Number}),
		Example: `fn::range: 3`,
		Call:    `range(3)`,
		Gives:   `[0, 1, 2]`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			start, _ := args[0].AsNumber()
			limit, hasLimit := args[1].AsNumber()
			step, hasStep := args[2].AsNumber()
			if !hasLimit {
				start, limit = 0, start
				if limit < 0 {
					return value.Null, blame(0, "start: must not be negative if it is the only argument")
				}
			}
			var by *float64
			if hasStep {
				by = &step
			}
			numbers, err := functions.Range(start, limit, by)
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
	},
	{
		Name:    "contains",
		Summary: "Whether a list contains an item, a map a key, or a string a substring.",
		Params: []Param{
			{Name: "collection", Type: &schema.Union{Members: []schema.Type{anyList, anyMap, schema.String}},
				Doc: "a list, a map or a string"},
			{Name: "wanted", Type: schema.Any, Doc: "the item, the key or the substring"},
		},
		Shape:   Positional,
		Result:  always(schema.Bool),
		Example: `fn::contains: [[a, b], a]`,
		Call:    `contains(["a", "b"], "a")`,
		Gives:   `true`,
		Since:   "0.1.0", Rule: "L10.C6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
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
	},
}

// parts is the body of a function that only moves parts of its arguments about. An unknown argument makes the result
// unknown, unknown parts stay where they are. A secret anywhere in an argument makes the whole result secret (L9.31);
// dependencies of the arguments are added to the result; dependencies of parts stay with the parts (L9.44). All of
// its parameters are Marked.
func parts(body func(args []value.Value) (value.Value, error)) func(context.Context, Env, []value.Value) (value.Value,
	error) {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		for _, arg := range args {
			if !arg.IsKnown() {
				return value.UnknownFrom(value.KindAny, args...), nil
			}
		}
		result, err := body(args)
		return taint(result, args...), err
	}
}

// taint is v with the dependencies of args, and secret when anything in them is.
func taint(v value.Value, args ...value.Value) value.Value {
	for _, arg := range args {
		v = v.DependingOn(arg.Deps()...)
		if arg.ContainsSecret() {
			v = v.Secret()
		}
	}
	return v
}
