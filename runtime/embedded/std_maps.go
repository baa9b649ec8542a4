package embedded

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

func stdMaps() map[string]formula {
	return map[string]formula{
		"keys":   func(args value.Value) (value.Value, error) { return value.Strings(args.Get("input").Keys()), nil },
		"values": func(args value.Value) (value.Value, error) { return functions.Values(args.Get("input")), nil },
		"lookup": func(args value.Value) (value.Value, error) {
			if v, found := args.Get("map").Lookup(lookupString(args, "key")); found {
				return v, nil
			}
			if v, given := args.Lookup("default"); given {
				return v, nil
			}
			return value.Null, fmt.Errorf("the map has no key %q, and there is no default", lookupString(args, "key"))
		},
		"merge": func(args value.Value) (value.Value, error) {
			all := value.EmptyMap()
			for _, m := range listArg(args, "input") {
				all = overlay(all, m)
			}
			return all, nil
		},
		"zipmap": func(args value.Value) (value.Value, error) {
			keys, err := textsOf(listArg(args, "keys"))
			values := listArg(args, "values")
			if err == nil && len(keys) != len(values) {
				err = fmt.Errorf("keys and values must be equally many, but are %d and %d", len(keys), len(values))
			}
			if err != nil {
				return value.Null, err
			}
			return functions.Zip(keys, values), nil
		},
		"map": func(args value.Value) (value.Value, error) {
			pairs := listArg(args, "args")
			if len(pairs)%2 != 0 {
				return value.Null, errors.New("args must alternate keys and values")
			}
			m := value.EmptyMap()
			for pair := range slices.Chunk(pairs, 2) {
				key, ok := pair[0].AsString()
				if !ok {
					return value.Null, errors.New("the keys of a map must be strings")
				}
				m = m.With(key, pair[1])
			}
			return m, nil
		},
		"transpose": func(args value.Value) (value.Value, error) {
			m, turned := args.Get("input"), map[string][]value.Value{}
			for _, k := range m.Keys() {
				items, _ := m.Get(k).AsList()
				members, err := textsOf(items)
				if err != nil {
					return value.Null, err
				}
				for _, s := range members {
					turned[s] = append(turned[s], value.String(k))
				}
			}
			out := value.EmptyMap()
			for k, l := range turned {
				out = out.With(k, value.List(l...))
			}
			return out, nil
		},
		"length": func(args value.Value) (value.Value, error) {
			v := args.Get("input")
			if s, ok := v.AsString(); ok {
				return value.Int(utf8.RuneCountInString(s)), nil
			}
			if !v.Is(value.KindList) && !v.Is(value.KindMap) {
				return value.Null, errors.New("only a list, a map or a string has a length")
			}
			return value.Int(v.Len()), nil
		},
	}
}
