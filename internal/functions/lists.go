package functions

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
)

// IndexOf returns the index of the first item with the same content as v, or -1 if there is none.
func IndexOf(items []value.Value, v value.Value) int {
	return slices.IndexFunc(items, func(item value.Value) bool { return value.SameContent(item, v) })
}

// Contains reports whether an item has the same content as v.
func Contains(items []value.Value, v value.Value) bool { return IndexOf(items, v) >= 0 }

// Reverse returns the items in reverse order.
func Reverse(items []value.Value) value.Value {
	items = slices.Clone(items)
	slices.Reverse(items)
	return value.List(items...)
}

// Compact returns the items that are neither null nor an empty string.
func Compact(items []value.Value) value.Value {
	return value.List(slices.DeleteFunc(slices.Clone(items), func(v value.Value) bool {
		text, isText := v.AsString()
		return v.IsNull() || isText && text == ""
	})...)
}

// Chunks splits items into lists of size items; the last one may be shorter. size must be at least 1.
func Chunks(items []value.Value, size int) value.Value {
	var chunks []value.Value
	for chunk := range slices.Chunk(items, size) {
		chunks = append(chunks, value.List(chunk...))
	}
	return value.List(chunks...)
}

// Flatten returns the items of a list, with each nested list replaced by its own items, at any depth. The items keep
// the marks of their lists. ok is false if an unknown item may turn out to be a list.
func Flatten(list value.Value) (items []value.Value, ok bool) {
	ok = true
	var walk func(v value.Value)
	walk = func(v value.Value) {
		for i := range v.Len() {
			item, _ := v.Index(i)
			switch {
			case item.Is(value.KindList):
				walk(item)
			case !item.IsKnown() && (item.Kind() == value.KindList || item.Kind() == value.KindAny):
				ok = false
			default:
				items = append(items, item)
			}
		}
	}
	walk(list)
	return items, ok
}

// Zip returns a map of keys to the values at the same indices. If keys are equal, the last one wins. Both slices must
// have the same length.
func Zip(keys []string, values []value.Value) value.Value {
	entries := make([]value.Entry, len(keys))
	for i, key := range keys {
		entries[i] = value.Entry{Key: key, Value: values[i]}
	}
	return value.MapOf(entries...)
}

// Values returns the values of a map, in the order of their keys.
func Values(m value.Value) value.Value {
	items := make([]value.Value, m.Len())
	for i := range items {
		items[i] = m.At(i)
	}
	return value.List(items...)
}

// LengthError is returned if a list among the arguments of Rows differs in length from an earlier one.
type LengthError struct{ Arg, Length, Earlier int } // Arg is 0-based

// Error returns a message with both lengths.
func (e *LengthError) Error() string {
	return fmt.Sprintf("the length of this list is %d, of an earlier one %d", e.Length, e.Earlier)
}

// Rows expands the lists among the arguments: row i contains item i of each list, and every argument that is not a list
// unchanged. Without a list there is one row. An error is a *LengthError.
func Rows(args []value.Value) ([][]value.Value, error) {
	count := -1
	for i, arg := range args {
		switch {
		case !arg.Is(value.KindList):
		case count >= 0 && arg.Len() != count:
			return nil, &LengthError{Arg: i, Length: arg.Len(), Earlier: count}
		default:
			count = arg.Len()
		}
	}
	if count < 0 {
		count = 1
	}
	rows := make([][]value.Value, count)
	for i := range rows {
		rows[i] = slices.Clone(args)
		for j, arg := range args {
			if arg.Is(value.KindList) {
				rows[i][j] = arg.At(i)
			}
		}
	}
	return rows, nil
}

// Set is a set of values compared by content. The zero Set is empty.
type Set struct {
	keys map[string]bool // the JSON forms of values that have one
	rest []value.Value   // the others, which are few
}

// Has reports whether a value with the same content as v is in the set.
func (s *Set) Has(v value.Value) bool {
	if key, err := value.AppendJSON(nil, v); err == nil {
		return s.keys[string(key)]
	}
	return Contains(s.rest, v)
}

// add adds v to the set and reports whether the set has changed.
func (s *Set) add(v value.Value) bool {
	if s.Has(v) {
		return false
	}
	if key, err := value.AppendJSON(nil, v); err == nil {
		if s.keys == nil {
			s.keys = make(map[string]bool)
		}
		s.keys[string(key)] = true
	} else {
		s.rest = append(s.rest, v)
	}
	return true
}

// Pick returns the items of the lists for which keep returns true. Items with equal content occur once. operands holds
// the set of the items of each list.
func Pick(lists []value.Value, keep func(v value.Value, operands []*Set) bool) value.Value {
	sets := make([]*Set, len(lists))
	for i, list := range lists {
		sets[i] = &Set{}
		for j := range list.Len() {
			sets[i].add(list.At(j))
		}
	}
	var kept []value.Value
	seen := &Set{}
	for _, list := range lists {
		for j := range list.Len() {
			if item := list.At(j); keep(item, sets) && seen.add(item) {
				kept = append(kept, item)
			}
		}
	}
	return value.List(kept...)
}

// Distinct returns the items of a list without those that equal an earlier one.
func Distinct(list value.Value) value.Value {
	return Pick([]value.Value{list}, func(value.Value, []*Set) bool { return true })
}

// Intersection returns the items that occur in all lists, each once, in the order of the first list.
func Intersection(lists []value.Value) value.Value {
	return Pick(lists, func(v value.Value, sets []*Set) bool {
		return !slices.ContainsFunc(sets, func(s *Set) bool { return !s.Has(v) })
	})
}
