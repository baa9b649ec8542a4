package embedded

import (
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

func stdLists() map[string]formula {
	wrap := func(fn func([]value.Value) (value.Value, error)) formula {
		return func(args value.Value) (value.Value, error) { return fn(listArg(args, "input")) }
	}
	truth := func(v value.Value) bool {
		b, _ := v.AsBool()
		s, _ := v.AsString()
		return b || s == "true"
	}
	return map[string]formula{
		"alltrue": wrap(func(l []value.Value) (value.Value, error) {
			return value.Bool(!slices.ContainsFunc(l, func(v value.Value) bool { return !truth(v) })), nil
		}),
		"anytrue":  wrap(func(l []value.Value) (value.Value, error) { return value.Bool(slices.ContainsFunc(l, truth)), nil }),
		"distinct": wrap(func(l []value.Value) (value.Value, error) { return functions.Distinct(value.List(l...)), nil }),
		"toset":    wrap(func(l []value.Value) (value.Value, error) { return functions.Distinct(value.List(l...)), nil }),
		"tolist":   wrap(func(l []value.Value) (value.Value, error) { return value.List(l...), nil }),
		"flatten": func(args value.Value) (value.Value, error) {
			items, _ := functions.Flatten(args.Get("input")) // providers get no unknown arguments
			return value.List(items...), nil
		},
		"reverse": wrap(func(l []value.Value) (value.Value, error) { return functions.Reverse(l), nil }),
		"sort": wrap(func(l []value.Value) (value.Value, error) {
			list, err := textsOf(l)
			slices.Sort(list)
			return value.Strings(list), err
		}),
		"compact": wrap(func(l []value.Value) (value.Value, error) { return functions.Compact(l), nil }),
		"concat": wrap(func(l []value.Value) (value.Value, error) {
			var all []value.Value
			for _, part := range l {
				items, _ := part.AsList()
				all = append(all, items...)
			}
			return value.List(all...), nil
		}),
		"coalescelist": wrap(func(l []value.Value) (value.Value, error) {
			for _, part := range l {
				if part.Len() > 0 {
					return part, nil
				}
			}
			return value.Null, errors.New("all lists are empty")
		}),
		"setintersection": wrap(func(l []value.Value) (value.Value, error) { return functions.Intersection(l), nil }),
		"contains": func(args value.Value) (value.Value, error) {
			return value.Bool(functions.Contains(listArg(args, "input"), args.Get("element"))), nil
		},
		"element": func(args value.Value) (value.Value, error) {
			l := listArg(args, "input")
			i, err := whole(args, "index")
			if err == nil && (len(l) == 0 || i < 0) {
				err = errors.New("there is no such element")
			}
			if err != nil {
				return value.Null, err
			}
			return l[i%len(l)], nil
		},
		"index": func(args value.Value) (value.Value, error) {
			i := functions.IndexOf(listArg(args, "input"), args.Get("element"))
			if i < 0 {
				return value.Null, errors.New("the list has no such element")
			}
			return value.Int(i), nil
		},
		"coalesce": wrap(firstOf),
		"chunklist": func(args value.Value) (value.Value, error) {
			size, err := whole(args, "size")
			if err != nil || size < 1 {
				return value.Null, errors.New("size must be a whole number from 1")
			}
			return functions.Chunks(listArg(args, "input"), size), nil
		},
		"slice": func(args value.Value) (value.Value, error) {
			l := listArg(args, "list")
			from, err := whole(args, "from")
			to := len(l)
			if args.Has("to") && err == nil {
				to, err = whole(args, "to")
			}
			if err == nil && (from < 0 || to < from || to > len(l)) {
				err = fmt.Errorf("there are none from %d to %d in a list of length %d", from, to, len(l))
			}
			if err != nil {
				return value.Null, err
			}
			return value.List(l[from:to]...), nil
		},
	}
}

// firstOf returns the first value that is neither null nor an empty text. If one of them is a text, all are converted
// to text; otherwise they must be of one kind.
func firstOf(list []value.Value) (value.Value, error) {
	list = slices.DeleteFunc(slices.Clone(list), value.Value.IsNull)
	texts := slices.ContainsFunc(list, func(v value.Value) bool { return v.Is(value.KindString) })
	for _, v := range list {
		if !texts && v.Kind() != list[0].Kind() {
			return value.Null, fmt.Errorf("the values must be of one kind, not a %s and a %s", list[0].Kind(), v.Kind())
		}
	}
	for _, v := range list {
		if !texts {
			return v, nil
		}
		text, err := scalarText(v)
		if err != nil {
			return value.Null, errors.New("with a string among them, the values must be strings, numbers and booleans")
		}
		if text != "" {
			return value.String(text), nil
		}
	}
	return value.Null, errors.New("all values are empty")
}
