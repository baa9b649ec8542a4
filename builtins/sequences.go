package builtins

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// sequenceEvals are the functions that split, reorder and combine lists. As in collectionEvals, functions that only
// move items preserve unknown items.
var sequenceEvals = map[string]evalFunc{
	"element": parts(func(args []value.Value) (value.Value, error) {
		n := args[0].Len()
		if n == 0 {
			return value.Null, blame(0, "items: must not be empty")
		}
		return args[0].At(((clampInt(args[1]) % n) + n) % n), nil
	}),
	"slice": parts(func(args []value.Value) (value.Value, error) {
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
	"chunkList": parts(func(args []value.Value) (value.Value, error) {
		items, _ := args[0].AsList()
		size := clampInt(args[1])
		if size < 1 {
			return value.Null, blame(1, "size: must be at least 1")
		}
		return functions.Chunks(items, size), nil
	}),
	"reverse": parts(func(args []value.Value) (value.Value, error) {
		if text, ok := args[0].AsString(); ok {
			characters := graphemes(text)
			slices.Reverse(characters)
			return value.String(strings.Join(characters, "")), nil
		}
		items, _ := args[0].AsList()
		return functions.Reverse(items), nil
	}),
	"setProduct": parts(func(args []value.Value) (value.Value, error) {
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
	"zipmap": parts(func(args []value.Value) (value.Value, error) {
		items, _ := args[0].AsList()
		values, _ := args[1].AsList()
		if len(values) != len(items) {
			return value.Null, blame(1, "values: there are %d for %s", len(values), diag.Count(len(items), "key"))
		}
		keys := make([]string, len(items))
		for i, item := range items {
			keys[i] = str(item)
		}
		return functions.Zip(keys, values), nil
	}),
	"coalesceList": gives(func(args []value.Value) value.Value {
		result := value.List()
		for _, arg := range args {
			if !arg.IsKnown() || arg.Len() > 0 {
				return arg.WithMarksOf(result)
			}
			result = result.WithMarksOf(arg) // the empty list has influenced the result
		}
		return result
	}),
	"compact": gives(func(args []value.Value) value.Value {
		items, _ := args[0].AsList()
		return functions.Compact(items)
	}),
	"indexOf": gives(func(args []value.Value) value.Value {
		items, _ := args[0].AsList()
		return value.Int(functions.IndexOf(items, args[1]))
	}),
	"setUnion":        picked(func(value.Value, []*functions.Set) bool { return true }),
	"setIntersection": gives(functions.Intersection),
	"setSubtract":     picked(func(v value.Value, sets []*functions.Set) bool { return !sets[1].Has(v) }),
	"setSymmetricDifference": picked(func(v value.Value, sets []*functions.Set) bool {
		return sets[0].Has(v) != sets[1].Has(v)
	}),
	"allTrue": every(true),
	"anyTrue": every(false),
}

// sequenceResults are the result types that depend on the arguments.
var sequenceResults = map[string]resultType{
	"element":                itemOfArgument(0, same),
	"slice":                  itemOfArgument(0, list),
	"chunkList":              itemOfArgument(0, func(t schema.Type) schema.Type { return list(list(t)) }),
	"reverse":                argument(0),
	"zipmap":                 itemOfArgument(1, func(t schema.Type) schema.Type { return &schema.Map{Item: t} }),
	"coalesceList":           listOfAny,
	"compact":                argument(0),
	"setUnion":               eitherType,
	"setIntersection":        argument(0),
	"setSubtract":            argument(0),
	"setSymmetricDifference": eitherType,
}

// picked returns the body of a set operation on lists that keeps the items for which keep returns true.
func picked(keep func(v value.Value, sets []*functions.Set) bool) evalFunc {
	return gives(func(args []value.Value) value.Value { return functions.Pick(args, keep) })
}

// every returns the body of a function on booleans whose result is usual unless one of them is the opposite.
func every(usual bool) evalFunc {
	return plainly(func(args []value.Value) (value.Value, error) {
		for i, v := range spread(args) {
			b, ok := v.AsBool()
			if !ok {
				return value.Null, wrongItem(args, i, v, "conditions", "a boolean")
			}
			if b != usual {
				return value.Bool(!usual), nil
			}
		}
		return value.Bool(usual), nil
	})
}
