package builtins

import (
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// sequenceFuncs take lists apart, order them anew and put them together. As in collectionFuncs, functions that only
// move items keep unknown items in their places.
var sequenceFuncs = []*Func{
	{
		Name:    "element",
		Summary: "The item of a list at an index that wraps around at the end of the list.",
		Params: []Param{
			{Name: "items", Type: anyList, Doc: "the list, not empty", Marked: true},
			{Name: "index", Type: schema.Integer,
				Doc: "0-based index; after the last item comes the first again, and -1 is the last one", Marked: true},
		},
		Shape:   Positional,
		Result:  itemOfArgument(0, same),
		Example: `fn::element: [[a, b, c], 4]`,
		Call:    `element(["a", "b", "c"], 4)`,
		Gives:   `"b"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			n := args[0].Len()
			if n == 0 {
				return value.Null, blame(0, "items: must not be empty")
			}
			return args[0].At(((clampInt(args[1]) % n) + n) % n), nil
		}),
	},
	{
		Name:    "slice",
		Summary: "The items of a list from one index up to but not including another.",
		Params: []Param{
			{Name: "items", Type: anyList, Doc: "the list", Marked: true},
			{Name: "start", Type: schema.Integer, Doc: "0-based index of the first item", Marked: true},
			{Name: "end", Type: schema.Integer, Doc: "0-based index after the last item; the end of the list when left out",
				Optional: true, Marked: true},
		},
		Shape:   Positional,
		Result:  itemOfArgument(0, list),
		Example: `fn::slice: [[a, b, c, d], 1, 3]`,
		Call:    `slice(["a", "b", "c", "d"], 1, 3)`,
		Gives:   `["b", "c"]`,
		Since:   "0.1.0", Rule: "D6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			items, _ := args[0].AsList()
			start, end := clampInt(args[1]), len(items)
			if !args[2].IsNull() {
				end = clampInt(args[2])
			}
			switch {
			case start < 0 || start > len(items):
				return value.Null, blame(1, "start: must be from 0 to %d, the length of the list", len(items))
			case end < start || end > len(items):
				return value.Null, blame(2, "end: must be from %d, the start, to %d, the length of the list", start, len(items))
			}
			return value.List(items[start:end]...), nil
		}),
	},
	{
		Name:    "chunkList",
		Summary: "A list split into lists of a given length; the last one may be shorter.",
		Params: []Param{
			{Name: "items", Type: anyList, Doc: "the list", Marked: true},
			{Name: "size", Type: schema.Integer, Doc: "how many items each list has, at least 1", Marked: true},
		},
		Shape:   Positional,
		Result:  itemOfArgument(0, func(t schema.Type) schema.Type { return list(list(t)) }),
		Example: `fn::chunkList: [[a, b, c], 2]`,
		Call:    `chunkList(["a", "b", "c"], 2)`,
		Gives:   `[["a", "b"], ["c"]]`,
		Since:   "0.1.0", Rule: "D6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			items, _ := args[0].AsList()
			size := clampInt(args[1])
			if size < 1 {
				return value.Null, blame(1, "size: must be at least 1")
			}
			return functions.Chunks(items, size), nil
		}),
	},
	{
		Name:    "reverse",
		Aliases: []string{"reverseList", "strrev"},
		Summary: "A list, or the characters of a string, in the opposite order.",
		Params: []Param{{Name: "value", Type: &schema.Union{Members: []schema.Type{anyList, schema.String}},
			Doc: "a list, or a string, whose characters are those that readers see", Marked: true}},
		Result:  argument(0),
		Example: `fn::reverse: [1, 2, 3]`,
		Call:    `reverse([1, 2, 3])`,
		Gives:   `[3, 2, 1]`,
		Since:   "0.1.0", Rule: "D6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			if text, ok := args[0].AsString(); ok {
				characters := graphemes(text)
				slices.Reverse(characters)
				return joined(characters), nil
			}
			items, _ := args[0].AsList()
			return functions.Reverse(items), nil
		}),
	},
	{
		Name:    "setProduct",
		Summary: "Every combination of one item from each of several lists.",
		Params: []Param{{Name: "lists", Type: anyList, Doc: "the lists; the result has at most 1000000 items",
			Marked: true}},
		Variadic: true,
		Shape:    Positional,
		Result:   always(&schema.Array{Item: anyList}),
		Example:  `fn::setProduct: [[dev, prod], [eu, us]]`,
		Call:     `setProduct(["dev", "prod"], ["eu", "us"])`,
		Gives:    `[["dev", "eu"], ["dev", "us"], ["prod", "eu"], ["prod", "us"]]`,
		Since:    "0.1.0", Rule: "D6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			total := 1
			for _, arg := range args {
				if total *= arg.Len(); total > 1_000_000 {
					return value.Null, blame(-1, "the result would have more than 1000000 items")
				}
			}
			choices := []value.Value{value.List()}
			if len(args) == 0 {
				choices = nil
			}
			for _, arg := range args {
				items, _ := arg.AsList()
				longer := make([]value.Value, 0, len(choices)*len(items))
				for _, choice := range choices {
					chosen, _ := choice.AsList()
					for _, item := range items {
						longer = append(longer, value.List(append(slices.Clip(chosen), item)...))
					}
				}
				choices = longer
			}
			return value.List(choices...), nil
		}),
	},
	{
		Name:    "zipmap",
		Summary: "A map made from a list of keys and a list of their values.",
		Params: []Param{
			{Name: "keys", Type: textList, Doc: "the keys; if a key occurs twice, its last value is used"},
			{Name: "values", Type: anyList, Doc: "as many values", Marked: true},
		},
		Shape:   Positional,
		Result:  itemOfArgument(1, func(t schema.Type) schema.Type { return &schema.Map{Item: t} }),
		Example: `fn::zipmap: [[a, b], [1, 2]]`,
		Call:    `zipmap(["a", "b"], [1, 2])`,
		Gives:   `{"a": 1, "b": 2}`,
		Since:   "0.1.0", Rule: "D6",
		Eval: parts(func(args []value.Value) (value.Value, error) {
			items, _ := args[0].AsList()
			values, _ := args[1].AsList()
			if len(values) != len(items) {
				return value.Null, blame(1, "values: there are %d for %d keys", len(values), len(items))
			}
			keys := make([]string, len(items))
			for i, item := range items {
				keys[i] = str(item)
			}
			return functions.Zip(keys, values), nil
		}),
	},
	{
		Name:    "coalesceList",
		Summary: "The first list that has items; an empty one when none has.",
		Params: []Param{{Name: "lists", Type: &schema.Optional{Elem: anyList},
			Doc: "the lists; null counts as empty, and an unknown one ends the search", Marked: true}},
		Variadic: true,
		Shape:    Positional,
		Result: func(args []schema.Type) schema.Type {
			items := make([]schema.Type, len(args))
			for i, arg := range args {
				items[i] = itemOf(arg)
			}
			return list(union(items...))
		},
		Example: `fn::coalesceList: [[], [a]]`,
		Call:    `coalesceList([], ["a"])`,
		Gives:   `["a"]`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			result := value.List()
			for _, arg := range args {
				if !arg.IsKnown() || arg.Len() > 0 {
					return arg.WithMarksOf(result), nil
				}
				result = result.WithMarksOf(arg) // its emptiness has decided too
			}
			return result, nil
		},
	},
	{
		Name:    "compact",
		Summary: "A list without the items that are null or empty strings.",
		Params:  []Param{{Name: "items", Type: anyList, Doc: "the list"}},
		Result:  argument(0),
		Example: `fn::compact: [a, "", null, b]`,
		Call:    `compact(["a", "", null, "b"])`,
		Gives:   `["a", "b"]`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			items, _ := args[0].AsList()
			return functions.Compact(items), nil
		},
	},
	{
		Name:    "indexOf",
		Summary: "The index of the first item of a list that equals a value; -1 when there is none.",
		Params: []Param{
			{Name: "items", Type: anyList, Doc: "the list"},
			{Name: "wanted", Type: schema.Any, Doc: "the value to look for"},
		},
		Shape:   Positional,
		Result:  always(schema.Integer),
		Example: `fn::indexOf: [[a, b, c], c]`,
		Call:    `indexOf(["a", "b", "c"], "c")`,
		Gives:   `2`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			items, _ := args[0].AsList()
			return value.Int(functions.IndexOf(items, args[1])), nil
		},
	},
	{
		Name:     "setUnion",
		Summary:  "The items of several lists, each once, in the order in which they first occur.",
		Params:   []Param{{Name: "lists", Type: anyList, Doc: "the lists"}},
		Variadic: true,
		Shape:    Positional,
		Result:   func(args []schema.Type) schema.Type { return union(args...) },
		Example:  `fn::setUnion: [[a, b], [b, c]]`,
		Call:     `setUnion(["a", "b"], ["b", "c"])`,
		Gives:    `["a", "b", "c"]`,
		Since:    "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return functions.Pick(args, func(v value.Value, of []*functions.Set) bool { return true }), nil
		},
	},
	{
		Name:     "setIntersection",
		Summary:  "The items that are in all of several lists, each once, in the order of the first list.",
		Params:   []Param{{Name: "lists", Type: anyList, Doc: "the lists"}},
		Variadic: true,
		Shape:    Positional,
		Result:   argument(0),
		Example:  `fn::setIntersection: [[a, b, c], [c, b]]`,
		Call:     `setIntersection(["a", "b", "c"], ["c", "b"])`,
		Gives:    `["b", "c"]`,
		Since:    "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return functions.Intersection(args), nil
		},
	},
	{
		Name:    "setSubtract",
		Summary: "The items of a list that are not in another, each once.",
		Params: []Param{
			{Name: "items", Type: anyList, Doc: "the list"},
			{Name: "without", Type: anyList, Doc: "what to leave out"},
		},
		Shape:   Positional,
		Result:  argument(0),
		Example: `fn::setSubtract: [[a, b, c], [b]]`,
		Call:    `setSubtract(["a", "b", "c"], ["b"])`,
		Gives:   `["a", "c"]`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return functions.Pick(args, func(v value.Value, of []*functions.Set) bool { return !of[1].Has(v) }), nil
		},
	},
	{
		Name:    "setSymmetricDifference",
		Summary: "The items that are in only one of two lists, each once.",
		Params: []Param{
			{Name: "first", Type: anyList, Doc: "a list"},
			{Name: "second", Type: anyList, Doc: "another list"},
		},
		Shape:   Positional,
		Result:  func(args []schema.Type) schema.Type { return union(args...) },
		Example: `fn::setSymmetricDifference: [[a, b], [b, c]]`,
		Call:    `setSymmetricDifference(["a", "b"], ["b", "c"])`,
		Gives:   `["a", "c"]`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return functions.Pick(args, func(v value.Value, of []*functions.Set) bool {
				return of[0].Has(v) != of[1].Has(v)
			}), nil
		},
	},
	{
		Name:     "allTrue",
		Summary:  "Whether all of some booleans are true; true for none.",
		Params:   []Param{{Name: "conditions", Type: boolOrBools, Doc: "the booleans, or one list of them"}},
		Variadic: true,
		Result:   always(schema.Bool),
		Example:  `fn::allTrue: [true, false]`,
		Call:     `allTrue(true, false)`,
		Gives:    `false`,
		Since:    "0.1.0", Rule: "L10.C1",
		Eval: every(true),
	},
	{
		Name:     "anyTrue",
		Summary:  "Whether one of some booleans is true; false for none.",
		Params:   []Param{{Name: "conditions", Type: boolOrBools, Doc: "the booleans, or one list of them"}},
		Variadic: true,
		Result:   always(schema.Bool),
		Example:  `fn::anyTrue: [true, false]`,
		Call:     `anyTrue(true, false)`,
		Gives:    `true`,
		Since:    "0.1.0", Rule: "L10.C1",
		Eval: every(false),
	},
}

var boolOrBools = &schema.Union{Members: []schema.Type{schema.Bool, &schema.Array{Item: schema.Bool}}}

// every answers usual unless one of the booleans is the opposite.
func every(usual bool) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		for i, v := range spread(args) {
			b, ok := v.AsBool()
			if !ok {
				return value.Null, blame(min(i, len(args)-1), "conditions: item %d must be a boolean, not %s", i,
					kindPhrase(v.Kind()))
			}
			if b != usual {
				return value.Bool(!usual), nil
			}
		}
		return value.Bool(usual), nil
	}
}
