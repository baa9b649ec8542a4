package eval

import (
	"context"
	"strconv"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// splat evaluates source[*]: the expression Each for every item. Null has no items, and any other value that is not a
// list is the only item.
func (s *scope) splat(ctx context.Context, e *ast.Splat) (value.Value, *fault) {
	source, f := s.eval(ctx, e.Source)
	switch {
	case f != nil:
		return value.Null, f
	case !source.IsKnown():
		s.used.doubt(source)
		return source.UnknownAs(value.KindList), nil
	}
	var items []value.Value
	switch source.Kind() {
	case value.KindNull:
	case value.KindMap:
		items = []value.Value{source}
		if s.frame.body.Instances(e.Source) {
			items = items[:0]
			for i := range source.Len() {
				items = append(items, source.At(i).WithMarksOf(source))
			}
		}
	case value.KindList:
		for i := range source.Len() {
			item, _ := source.Index(i)
			items = append(items, item)
		}
	default:
		items = []value.Value{source}
	}
	var failed *fault
	for i, item := range items {
		v, f := s.with(e.Item, item).eval(ctx, e.Each)
		items[i], failed = v, failed.and(f)
	}
	if failed != nil {
		return value.Null, failed
	}
	return s.e.budget.made(value.List(items...).WithMarksOf(source), e.Range())
}

// loop evaluates [for …] and {for …}. An unknown collection or condition makes the result unknown, as does an unknown
// key of a map. The marks of the collection, of conditions and of keys go to the result; values keep their own.
func (s *scope) loop(ctx context.Context, e *ast.For) (value.Value, *fault) {
	kind := value.KindList
	if e.Key != nil {
		kind = value.KindMap
	}
	collection, f := s.eval(ctx, e.Collection)
	switch {
	case f != nil:
		return value.Null, f
	case !collection.IsKnown():
		s.used.doubt(collection)
		return collection.UnknownAs(kind), nil
	case !collection.Is(value.KindList) && !collection.Is(value.KindMap):
		return value.Null, blame(diag.NotIndexable, e.Collection.Range(), "", "a loop needs a list or a map, not %s",
			kindOf(collection))
	}
	var (
		failed   *fault
		results  []value.Value
		entries  []value.Entry
		groups   map[string]int // key to index in entries
		deciders = []value.Value{collection}
	)
	if e.Key != nil {
		groups = make(map[string]int)
	}
	for i := range collection.Len() {
		inner := s
		if e.KeyName != nil {
			key := value.Int(i)
			if collection.Is(value.KindMap) {
				key = value.String(collection.Keys()[i])
			}
			inner = inner.with(e.KeyName, key.WithMarksOf(collection))
		}
		inner = inner.with(e.ValueName, collection.At(i).WithMarksOf(collection))

		if e.Condition != nil {
			condition, f := inner.eval(ctx, e.Condition)
			if f != nil {
				failed = failed.and(f)
				continue
			}
			deciders = append(deciders, condition)
			keep, ok := condition.AsBool()
			if !ok && condition.IsKnown() {
				failed = failed.and(wrongOperand("?", e.Condition, condition))
			}
			if !keep {
				continue
			}
		}
		v, f := inner.eval(ctx, e.Value)
		if e.Key == nil || f != nil {
			results, failed = append(results, v), failed.and(f)
			continue
		}
		key, f := inner.eval(ctx, e.Key)
		if f != nil {
			failed = failed.and(f)
			continue
		}
		results, deciders = append(results, v), append(deciders, key)
		if !key.IsKnown() {
			continue
		}
		text, err := value.Text(key)
		name, ok := text.AsString()
		if err != nil || !ok || key.IsNull() {
			failed = failed.and(blame(diag.KeyNotString, e.Key.Range(), "", "a key must be a string, not %s", kindOf(key)))
			continue
		}
		pos, taken := groups[name]
		switch {
		case !taken:
			groups[name] = len(entries)
			if e.Grouped {
				v = value.List(v)
			}
			entries = append(entries, value.Entry{Key: name, Value: v})
		case e.Grouped:
			// Lists are immutable, but this one is not shared yet.
			items, _ := entries[pos].Value.AsList()
			entries[pos].Value = value.List(append(items, v)...)
		default:
			twice := "two values have the same key"
			if !key.IsSecret() {
				twice = "two values have the key " + strconv.Quote(name)
			}
			failed = failed.and(blame(diag.Duplicate, e.Key.Range(),
				"write ... after the value to gather values of one key in a list", "%s", twice))
		}
	}
	if failed != nil {
		return value.Null, failed
	}
	for _, d := range deciders {
		if !d.IsKnown() {
			return value.UnknownFrom(kind, append(deciders, results...)...), nil
		}
	}
	result := value.List(results...)
	if e.Key != nil {
		result = value.MapOf(entries...)
	}
	return s.e.budget.made(result.WithMarksOf(deciders...), e.Range())
}
